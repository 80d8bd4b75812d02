"""A classifier from public labelled records, chosen by how well it does on a source that it was not fitted on.

A control, with no guarantee: it reads no private record, and its choice no record of the kind that it is scored on.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tensorldp_papers.nets.seeding import seed_model
from tensorldp_papers.public.means import class_moments, mean_scores
from tensorldp_papers.public.self_training import linear_discriminant

HIDDEN, EPOCHS, BATCH = 256, 15, 128

Scorer = Callable[[Tensor], Tensor]
"""Features (records, columns) -> scores (records, classes)."""


def network(features: Tensor, labels: Tensor, classes: int, source: torch.Generator) -> Scorer:
    """One hidden layer on standardised features, with dropout, smoothed labels and a rate that rises and falls."""
    centre, scale = features.mean(dim=0), features.std(dim=0).clamp_min(1e-3)
    rows, columns = (features - centre) / scale, features.shape[1]
    net = nn.Sequential(
        nn.Dropout(0.3), nn.Linear(columns, HIDDEN), nn.ReLU(), nn.Dropout(0.5), nn.Linear(HIDDEN, classes)
    )
    seed_model(net, source).train()
    steps = -(-len(rows) // BATCH)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=EPOCHS * steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(rows), generator=source).split(BATCH):
            optimizer.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(net(rows[batch]), labels[batch], label_smoothing=0.1).backward()
            optimizer.step()
            rate.step()
    net.eval()

    def scores(x: Tensor) -> Tensor:
        with torch.inference_mode():
            found: Tensor = net((x - centre) / scale)
        return found

    return scores


def candidates(
    features: Tensor, labels: Tensor, classes: int, project: Scorer, source: torch.Generator
) -> dict[str, Scorer]:
    """By name: the nearest class mean and a linear discriminant of projected features, a network on all, and a sum.

    The sum is that of the discriminant's and the network's scores, each over its deviation on these features.
    """
    rows = project(features)
    _, means, error = class_moments(rows, labels, classes)
    nearest, linear = mean_scores(means, error), linear_discriminant(rows, labels, classes).on_average()
    deep = network(features, labels, classes, source)
    scales = linear(rows).std(), deep(features).std()
    return {
        "nearest": lambda x: nearest(project(x)),
        "discriminant": lambda x: linear(project(x)),
        "network": deep,
        "sum": lambda x: linear(project(x)) / scales[0] + deep(x) / scales[1],
    }


def accuracy(scores: Scorer, features: Tensor, labels: Tensor) -> float:
    """The share of records whose class has the largest score."""
    return float((scores(features).argmax(dim=1) == labels).double().mean())


def best_across_sources(
    features: Tensor, labels: Tensor, sources: Tensor, classes: int, project: Scorer, stream: torch.Generator
) -> tuple[Scorer, dict[str, float]]:
    """The candidate with the largest mean accuracy on a source while fitted on the others, fitted on all sources.

    Args:
        features: (records, columns), public.
        labels: (records,) class indices.
        sources: (records,) where each record comes from, 0 .. sources - 1, at least two.
        classes: how many.
        project: the public projection that two of the candidates use.
        stream: of the networks.

    Returns:
        The fitted candidate, and the mean accuracy of each candidate by name.
    """
    found: dict[str, list[float]] = {}
    for held in sources.unique():
        own = sources != held
        for name, scores in candidates(features[own], labels[own], classes, project, stream).items():
            found.setdefault(name, []).append(accuracy(scores, features[~own], labels[~own]))
    means = {name: sum(values) / len(values) for name, values in found.items()}
    chosen = max(means, key=means.__getitem__)
    return candidates(features, labels, classes, project, stream)[chosen], means
