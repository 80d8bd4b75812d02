"""What public records give without a private label: clusters, self-training, and labels from another source.

- Clusters of unlabelled records, named by the labels that they are scored on: a control, no learner. It bounds what
  these clusters give to whoever names them, and no other use of the public records.
- Unlabelled records, labelled by a classifier from releases, teach a second one: post-processing, no cost. Assumes that
  the public records are like the private ones; their labels are never read.
- A classifier from public records that other public knowledge labels, such as ImageNet's classes or words of praise: a
  control, and what a prior is made of.
- A classifier from labelled records, chosen by how well it does on a source that it was not fitted on: a control, with
  no guarantee. It reads no private record, and its choice no record of the kind that it is scored on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.public.means import LinearScores, class_moments, mean_scores


def clusters(rows: Tensor, count: int, source: torch.Generator) -> LinearScores:
    """Fits the nearest of the centres that k-means finds in public rows, the best of ten starts."""
    from sklearn.cluster import KMeans

    if len(rows) < count:
        raise InputError(f"{count} clusters need at least as many public rows, got {tuple(rows.shape)}")
    seed = int(torch.randint(2**31, (1,), generator=source))
    fit = KMeans(count, n_init=10, random_state=seed).fit(rows.numpy())
    centres = torch.from_numpy(fit.cluster_centers_).float()
    return LinearScores(centres, -centres.square().sum(dim=1) / 2.0)


def best_names(scores: LinearScores, rows: Tensor, labels: Tensor) -> LinearScores:
    """Takes as many clusters as classes, in the one-to-one order that gives the most of these rows their label."""
    from scipy.optimize import linear_sum_assignment

    count = len(scores.bias)
    table = np.zeros((count, count))
    np.add.at(table, (labels.numpy(), scores.predict(rows).numpy()), 1.0)
    _, chosen = linear_sum_assignment(table, maximize=True)
    order = torch.from_numpy(chosen)
    return LinearScores(scores.weight[order], scores.bias[order])


def linear_discriminant(features: Tensor, labels: Tensor, classes: int, *, ridge: float = 0.3) -> LinearScores:
    """Fits linear discriminant analysis with one covariance, ridged by `ridge` of its mean variance, equal priors."""
    rows, chosen = features.double(), nn.functional.one_hot(labels, classes).double()
    counts = chosen.sum(dim=0)
    means = (chosen.T @ rows) / counts.clamp_min(1.0)[:, None]
    means[counts == 0] = rows.mean(dim=0)
    rest = rows - means[labels]
    within = rest.T @ rest / len(rows)
    lower = torch.linalg.cholesky(within + ridge * within.diagonal().mean() * torch.eye(rows.shape[1]).double())
    weight = torch.cholesky_solve(means.T, lower)
    bias = -(means.T * weight).sum(dim=0) / 2.0
    bias[counts == 0] = -torch.inf
    return LinearScores(weight.T.float(), bias.float())


Scorer = Callable[[Tensor], Tensor]
"""Features (records, columns) -> scores (records, classes)."""

LABELLINGS = 3  # of the public records


def _deviation(scores: Tensor) -> float:
    finite = scores[torch.isfinite(scores)]
    return max(float(finite.std()), 1e-12)


def _after(project: Scorer, scores: Scorer) -> Scorer:
    return lambda x: scores(project(x))


def together(first: Scorer, second: Scorer, records: Tensor) -> Scorer:
    """Returns the sum of two classifiers' scores, each over its own deviation on public records."""
    scales = _deviation(first(records)), _deviation(second(records))
    return lambda x: first(x) / scales[0] + second(x) / scales[1]


def self_train(private: Scorer, records: Tensor, project: Scorer, classes: int) -> Scorer:
    """Labels public records with the classifier from releases, fits a discriminant to those labels, repeats with both.

    The labels' errors average out in the discriminant, which also uses more directions than the releases have.
    `private` and `project`, whose coordinates the discriminant takes, are functions of public `records`; the result is
    the sum of both classifiers.
    """
    features, combined = project(records), private
    for _ in range(LABELLINGS):
        public = linear_discriminant(features, combined(records).argmax(dim=1), classes)
        combined = together(private, _after(project, public), records)
    return combined


def taught(labels: Tensor, records: Tensor, project: Scorer, classes: int) -> Scorer:
    """Fits a discriminant to public records whose labels are often wrong, then again to the labels that it gives."""
    features = project(records)
    public = linear_discriminant(features, labels, classes)
    for _ in range(LABELLINGS):
        public = linear_discriminant(features, public.predict(features), classes)
    return _after(project, public.on_average())


HIDDEN, EPOCHS, BATCH = 256, 15, 128  # of `network`: neurons, passes over the records, records of a step


def network(features: Tensor, labels: Tensor, classes: int, source: torch.Generator) -> Scorer:
    """Trains one hidden layer on standardised features: dropout, smoothed labels, a rate that rises and falls."""
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
    """Fits by name: nearest class mean and linear discriminant of projected features, a network on all, and a sum.

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
    """Computes the share of records whose class has the largest score."""
    return float((scores(features).argmax(dim=1) == labels).double().mean())


def best_across_sources(
    features: Tensor, labels: Tensor, sources: Tensor, classes: int, project: Scorer, stream: torch.Generator
) -> tuple[Scorer, dict[str, float]]:
    """Picks the candidate with the largest mean accuracy on a source while fitted on the others, fitted on all sources.

    `sources` says where each public record comes from. The mean accuracy of each candidate comes along, by name.
    """
    found: dict[str, list[float]] = {}
    for held in sources.unique():
        own = sources != held
        for name, scores in candidates(features[own], labels[own], classes, project, stream).items():
            found.setdefault(name, []).append(accuracy(scores, features[~own], labels[~own]))
    means = {name: sum(values) / len(values) for name, values in found.items()}
    chosen = max(means, key=means.__getitem__)
    return candidates(features, labels, classes, project, stream)[chosen], means
