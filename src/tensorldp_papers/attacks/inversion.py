"""Gradient inversion: find inputs whose gradient is the one that was sent (dp-lecture, Eq. 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional

from tensorldp.errors import InputError

Parameters = dict[str, Tensor]


class Client:
    """The update of a network on a client's records: one gradient of cross-entropy, or k local steps.

    Args:
        model: layers in sequence, the last one linear.
        steps: k; after k steps of gradient descent the client sends (theta_0 - theta_k) / rate.
        rate: learning rate of the local steps; of no effect for one step.
    """

    def __init__(self, model: nn.Sequential, *, steps: int = 1, rate: float = 0.1) -> None:
        self.steps, self.rate = steps, rate
        head = model[-1]
        assert isinstance(head, nn.Linear)
        self.body, self.features, self.classes = nn.Sequential(*list(model)[:-1]), head.in_features, head.out_features
        self.place = str(len(model) - 1)
        self.parameters: Parameters = {key: value.detach() for key, value in model.named_parameters()}

    @property
    def size(self) -> int:
        """Returns the number of parameters."""
        return sum(value.numel() for value in self.parameters.values())

    def split(self, vector: Tensor) -> Parameters:
        """Returns a flat vector of all parameters as named tensors."""
        parts = vector.split([value.numel() for value in self.parameters.values()])
        return {
            key: part.reshape(value.shape) for (key, value), part in zip(self.parameters.items(), parts, strict=True)
        }

    def one_hot(self, labels: Tensor) -> Tensor:
        """Returns class indices as rows of probabilities, in the parameters' type."""
        return functional.one_hot(labels, self.classes).to(next(iter(self.parameters.values())).dtype)

    def scores(self, parameters: Parameters, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Computes class scores of a batch; `mask` switches features before the last layer on or off (dropout)."""
        body = {key: value for key, value in parameters.items() if not key.startswith(f"{self.place}.")}
        features = functional_call(self.body, body, (x,))
        if mask is not None:
            features = features * mask
        return functional.linear(features, parameters[f"{self.place}.weight"], parameters[f"{self.place}.bias"])

    def loss(self, parameters: Parameters, x: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
        """Computes the mean cross-entropy with rows of class probabilities as targets."""
        return functional.cross_entropy(self.scores(parameters, x, mask), targets)

    def update(
        self, x: Tensor, targets: Tensor, mask: Tensor | None = None, parameters: Parameters | None = None
    ) -> Tensor:
        """Computes the flat vector that a client sends, (parameters,); differentiable in x and targets.

        The targets are class probabilities, (batch, classes), and the mask has the kept features times 1 / p.
        """
        sent = self._sent(self._gradient, x, targets, mask, parameters)
        return sent if x.requires_grad or targets.requires_grad else sent.detach()

    def _gradient(self, now: Parameters, x: Tensor, targets: Tensor, mask: Tensor | None) -> Parameters:
        """Computes what `torch.func.grad` does of the loss, bit by bit, in two thirds of its time."""
        now = {key: value if value.requires_grad else value.detach().requires_grad_() for key, value in now.items()}
        found = torch.autograd.grad(self.loss(now, x, targets, mask), list(now.values()), create_graph=True)
        return dict(zip(now, found, strict=True))

    def _sent(
        self,
        gradient: Callable[..., Parameters],
        x: Tensor,
        targets: Tensor,
        mask: Tensor | None,
        parameters: Parameters | None,
    ) -> Tensor:
        start = now = self.parameters if parameters is None else parameters
        step: Parameters = {}
        for _ in range(self.steps):
            step = gradient(now, x, targets, mask)
            now = {key: value - self.rate * step[key] for key, value in now.items()}
        if self.steps > 1:
            step = {key: (start[key] - now[key]) / self.rate for key in start}
        return torch.cat([value.reshape(-1) for value in step.values()])

    def updates(self, x: Tensor, targets: Tensor, masks: Tensor | None, parameters: Parameters) -> Tensor:
        """Computes the vectors of many clients with one record each, (clients, parameters)."""

        def one(record: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
            return self._sent(grad(self.loss), record.unsqueeze(0), target.unsqueeze(0), mask, parameters)

        return vmap(one)(x, targets) if masks is None else vmap(one)(x, targets, masks)


@dataclass(frozen=True)
class Inversion:
    """How to search.

    Attributes:
        distance: `l2` is ||g' - g||^2 / ||g||^2; `cosine` is 1 - <g', g> / (||g'|| ||g||).
        optimizer: `lbfgs` with a strong Wolfe line search, or `adam` on the sign of the gradient [geiping2020].
        labels: `optimised` searches for them as well (DLG, [zhu2019]), `inferred` reads the one label off the
            gradient (iDLG, [zhao2020]).
        steps: most iterations of the optimiser.
        tv: weight of the anisotropic total variation of the images.
    """

    distance: Literal["l2", "cosine"]
    optimizer: Literal["lbfgs", "adam"]
    labels: Literal["optimised", "inferred"]
    steps: int = 300
    tv: float = 0.0


DLG = Inversion("l2", "lbfgs", "optimised")
IDLG = Inversion("l2", "lbfgs", "inferred")
COSINE = Inversion("cosine", "lbfgs", "inferred")
COSINE_TV = Inversion("cosine", "adam", "inferred", steps=1000, tv=1e-4)


def infer_label(client: Client, gradient: Tensor) -> Tensor:
    """Returns iDLG's label of one record, (1,): the class whose row of the last weight gradient has the lowest sum.

    Exact without a defence where the features before the last layer are positive.
    """
    return client.split(gradient)[f"{client.place}.weight"].sum(dim=1).argmin().reshape(1)


def total_variation(x: Tensor) -> Tensor:
    """Computes mean |dx| + mean |dy| of images (batch, channels, height, width)."""
    return x.diff(dim=-1).abs().mean() + x.diff(dim=-2).abs().mean()


def unit(gradient: Tensor) -> Tensor:
    """Computes a gradient's direction, rounded to float32, so that it is the same, bit for bit, for any multiple of g.

    Scaling changes the last bits of float64, and an optimiser would make them grow.
    """
    found: Tensor = (gradient / gradient.norm().clamp_min(1e-300)).float().to(gradient.dtype)
    return found


def invert(
    client: Client,
    gradient: Tensor,
    shape: tuple[int, ...],
    how: Inversion,
    generator: torch.Generator,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Finds records in [0, 1] that explain a sent gradient, and their labels.

    Args:
        client: the network and what a client does with it; float64 parameters.
        gradient: (parameters,) as sent; elements that are exactly 0 count as not sent.
        shape: (batch, ...) of the records; of one record where its label is inferred.
        how: the distance, the optimiser and what is done about labels.
        generator: for the random start.
        mask: the dropout mask that the attacker reads off the gradient.
    """
    if not bool(torch.isfinite(gradient).all()):
        raise InputError(f"the gradient must be {client.size} finite numbers, got shape {tuple(gradient.shape)}")
    gradient = gradient.double()
    target = unit(gradient) if how.distance == "cosine" else gradient
    square = target.pow(2).sum().clamp_min(1e-300)
    seen = gradient != 0  # elements that were pruned are not known to be zero
    x = torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()
    wanted = [x]
    if how.labels == "optimised":
        guess = torch.randn(shape[0], client.classes, generator=generator, dtype=torch.float64).requires_grad_()
        wanted.append(guess)
    else:
        inferred = infer_label(client, gradient)
        fixed = client.one_hot(inferred)

    def objective() -> Tensor:
        targets = torch.softmax(guess, dim=1) if how.labels == "optimised" else fixed
        sent = client.update(x, targets, mask) * seen
        if how.distance == "l2":
            value = (sent - target).pow(2).sum() / square
        else:
            value = 1.0 - sent @ target / (sent.norm() * square.sqrt()).clamp_min(1e-300)
        return value + how.tv * total_variation(x) if how.tv else value

    (_lbfgs if how.optimizer == "lbfgs" else _signed_adam)(objective, wanted, how.steps)
    labels = guess.detach().argmax(dim=1) if how.labels == "optimised" else inferred
    return x.detach().nan_to_num(0.5).clamp(0.0, 1.0), labels


def _lbfgs(objective: Callable[[], Tensor], wanted: list[Tensor], steps: int) -> None:
    optimizer = torch.optim.LBFGS(
        wanted,
        max_iter=steps,
        max_eval=2 * steps,
        history_size=100,
        tolerance_grad=1e-10,
        tolerance_change=1e-14,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        optimizer.zero_grad()
        value = objective()
        value.backward()
        return value

    optimizer.step(closure)


def _signed_adam(objective: Callable[[], Tensor], wanted: list[Tensor], steps: int) -> None:
    """Takes Adam's steps at 0.1 on the gradient's sign, a tenth after 3/8, 5/8 and 7/8; pixels stay in [0, 1]."""
    optimizer = torch.optim.Adam(wanted, lr=0.1)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [steps * part // 8 for part in (3, 5, 7)])
    for _ in range(steps):
        optimizer.zero_grad()
        objective().backward()
        for tensor in wanted:
            assert tensor.grad is not None
            tensor.grad.sign_()
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            wanted[0].clamp_(0.0, 1.0)
