"""Training a classifier in minibatches, and its predictions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.nets.compiled.loop import CompiledLoop, planned
from tensorldp_papers.nets.computing import arithmetic, channels_last, flushing_denormals, lay_out
from tensorldp_papers.nets.dense import DenseGradients, dense_layers
from tensorldp_papers.nets.replay import Replay, can_replay
from tensorldp_papers.progress import track


def fit(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    generator: torch.Generator,
    precision: str = "float32",
    what: str = "training",
) -> nn.Module:
    """Minimises cross-entropy with Adam, in place; x and y lie on the model's device.

    The numbers are those of `tensorldp_papers.nets.reference_loops` to rounding. The order of records comes from a CPU
    generator, so that devices see the same batches. The network computes in `precision`: float32 or bfloat16, or
    `compiled`, float32 in the loop in C++; weights, losses and Adam's sums are float32.
    """
    if len(x) != len(y) or len(x) < 2:
        raise InputError(f"training needs as many labels as records and at least two, got {len(x)} and {len(y)}")
    if precision == "compiled":
        orders = (torch.randperm(len(x), generator=generator) for _ in track(range(epochs), f"{what}: epoch"))
        loop = CompiledLoop(model, x, y, learning_rate=learning_rate)
        loop.adam(model.train(), (planned(order, batch_size, least=2) for order in orders))
        return model
    trainable = [p for p in model.parameters() if p.requires_grad]
    replays = x.device.type == "cuda" and can_replay(model)
    optimizer = torch.optim.Adam(trainable, lr=learning_rate, fused=True, capturable=replays)
    lay_out(model).train()
    dense = dense_layers(model) if precision == "float32" else None
    gradients = None if dense is None else DenseGradients(dense)

    def step(inputs: Tensor, labels: Tensor) -> None:
        if gradients is not None:
            gradients(inputs, labels)
            optimizer.step()
            return
        optimizer.zero_grad(set_to_none=True)
        with arithmetic(precision, x.device):
            found = model(channels_last(inputs))
        nn.functional.cross_entropy(found.float(), labels).backward()
        optimizer.step()

    take = Replay(step, x.device, model) if replays else step
    with flushing_denormals():
        for epoch in range(epochs):
            order = torch.randperm(len(x), generator=generator).to(x.device)
            batches = [b for b in order.split(batch_size) if len(b) > 1]  # batch-norm needs two
            for batch in track(batches, f"{what}, epoch {epoch + 1} of {epochs}"):
                take(x[batch], y[batch])
    return model


@torch.no_grad()
def predict(
    model: nn.Module,
    x: Tensor,
    batch_size: int = 250,
    *,
    precision: str = "float32",
    device: torch.device | None = None,
    prepare: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """Computes predicted class indices, (records,), in evaluation mode; a model with NaN scores predicts class 0.

    The model's `device` is that of x where it is not given; a batch is moved there, and `prepare` makes inputs of it.
    """
    lay_out(model).eval()
    device, found = device or x.device, []
    with arithmetic(precision, device):
        for part in x.split(batch_size):
            batch = part.to(device)
            scores = model(channels_last(batch if prepare is None else prepare(batch)))
            found.append(scores.float().nan_to_num(nan=-torch.inf).argmax(dim=1))
    return torch.cat(found)


def accuracy(truth: Tensor, predicted: Tensor) -> float:
    """Computes the share of records that are classified correctly (TLDP, Eq. 13), in [0, 1]."""
    from sklearn.metrics import accuracy_score

    return float(accuracy_score(truth.cpu().numpy(), predicted.cpu().numpy()))


def scores(truth: Tensor, predicted: Tensor) -> dict[str, float]:
    """Computes accuracy and weighted F1 (TLDP, Eq. 13-16), both in [0, 1]."""
    from sklearn.metrics import f1_score

    f1 = f1_score(truth.cpu().numpy(), predicted.cpu().numpy(), average="weighted", zero_division=0.0)
    return {"accuracy": accuracy(truth, predicted), "weighted_f1": float(f1)}
