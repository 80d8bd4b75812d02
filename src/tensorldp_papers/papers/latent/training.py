"""Training in minibatches made from stored records when they are needed, and the nearest class mean."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError, check_whole, unknown
from tensorldp_papers.nets.computing import arithmetic, channels_last, flushing_denormals, lay_out
from tensorldp_papers.progress import track

# the learning rates are the defaults of Keras, LATENT's framework
_OPTIMIZERS: dict[str, tuple[Callable[..., torch.optim.Optimizer], float]] = {
    "sgd": (torch.optim.SGD, 0.01),
    "adadelta": (torch.optim.Adadelta, 1.0),
    "adam": (torch.optim.Adam, 1e-3),
}


def make_optimizer(name: str, model: nn.Module, learning_rate: float | None = None) -> torch.optim.Optimizer:
    """Makes an optimiser of the model's parameters; without a learning rate, its default one."""
    if name not in _OPTIMIZERS:
        raise unknown("optimizer", name, _OPTIMIZERS)
    kind, default = _OPTIMIZERS[name]
    way = {"foreach": True} if name == "adadelta" else {"fused": True}  # the one that has no fused form
    return kind([p for p in model.parameters() if p.requires_grad], lr=learning_rate or default, **way)


def checkpoint_epochs(epochs: int, count: int) -> list[int]:
    """Returns at most `count` epochs from 1 to `epochs`, evenly spread, the last one always among them."""
    check_whole("epochs", epochs, low=1)
    count = min(check_whole("count", count, low=1), epochs)
    return sorted({-(-epochs * (i + 1) // count) for i in range(count)})


def fit_stream(
    model: nn.Module,
    stored: Tensor,
    y: Tensor,
    *,
    optimizer: torch.optim.Optimizer,
    epochs: int,
    batch_size: int,
    generator: torch.Generator,
    device: torch.device,
    precision: str = "float32",
    prepare: Callable[[Tensor], Tensor] | None = None,
    after_epoch: Callable[[int, float], None] | None = None,
    what: str = "training",
) -> nn.Module:
    """Minimises cross-entropy in place; only one batch of the stored records is on the device at a time.

    Args:
        model: the network, changed in place.
        stored: (records, ...) of any type, on the CPU.
        y: (records,) class indices.
        optimizer: the optimizer of the model's parameters.
        epochs: passes over the records.
        batch_size: records in a batch.
        generator: a CPU generator for the order of records.
        device: where the model is.
        precision: what the network computes in, float32 or bfloat16; weights and losses are float32.
        prepare: makes model inputs of a batch that has been moved to the device.
        after_epoch: called with the epoch (from 1) and the share of right answers seen while training in it.
        what: what a progress line calls it.
    """
    if len(stored) != len(y) or len(stored) < 2:
        raise InputError(f"training needs as many labels as records and at least two, got {len(stored)} and {len(y)}")
    for epoch in range(1, epochs + 1):
        lay_out(model).train()
        order = torch.randperm(len(stored), generator=generator)
        correct = torch.zeros((), dtype=torch.int64, device=device)
        with flushing_denormals():
            for chosen in track(order.split(batch_size), f"{what}, epoch {epoch} of {epochs}"):
                batch, truth = stored[chosen].to(device), y[chosen].to(device)
                optimizer.zero_grad(set_to_none=True)
                with arithmetic(precision, device):
                    scores = model(batch if prepare is None else channels_last(prepare(batch)))
                nn.functional.cross_entropy(scores.float(), truth).backward()
                optimizer.step()
                correct += (scores.detach().argmax(dim=1) == truth).sum()
        if after_epoch is not None:
            after_epoch(epoch, int(correct) / len(stored))
    return model


def class_means(x: Tensor, y: Tensor, classes: int) -> Tensor:
    """Computes the mean record of each class, (classes, features); a class without records has the overall mean."""
    if x.dim() != 2 or len(x) != len(y) or len(x) == 0:
        raise InputError(
            f"class means need records (records, features) and one label each, got {tuple(x.shape)} and {len(y)} labels"
        )
    counts = y.bincount(minlength=classes)
    means = torch.zeros(classes, x.shape[1], dtype=torch.float64).index_add_(0, y, x.double())
    means /= counts.clamp_min(1).unsqueeze(1)
    means[counts == 0] = x.double().mean(dim=0)
    return means.float()


def nearest_mean(means: Tensor, x: Tensor) -> Tensor:
    """Returns the class whose mean is nearest in l2, for each record: (records,)."""
    return torch.cdist(x, means).argmin(dim=1)
