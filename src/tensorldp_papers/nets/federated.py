"""What users of federated learning release: the parameters of a network as one vector, through a mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.product import ProductCurve
from tensorldp.domain import Box
from tensorldp.mechanisms import Mechanism, mechanism_class


class ParameterRelease:
    """Clipped parameters through a mechanism, once a round.

    Element-wise and vector mechanisms take the whole vector as one record. Matrix and tensor mechanisms take one
    tensor each, with the budget split equally (epsilon / K and delta / K over K tensors, basic composition).
    A scheduled mechanism takes the whole vector with its layers and the round; epsilon is its budget of one round, as
    for the others.

    Args:
        make: makes the mechanism on a domain at its nominal epsilon, with further options.
        name: the mechanism's registry key.
        epsilon: the nominal budget, for splitting.
        delta: the delta that goes with it.
        shapes: the shapes of the parameter tensors, in the order of the vector.
        layers: number of parameters of each layer (a module's weight and bias together), in the same order.
        clip: C; parameters are clipped to [-C, C].
        users: number of users whose parameters are averaged.
        where: "user" perturbs before averaging (local), "server" after (as TLDP prints it).
        rounds: number of releases of a run.
    """

    def __init__(
        self,
        make: Callable[..., Mechanism],
        name: str,
        *,
        epsilon: float,
        delta: float,
        shapes: list[tuple[int, ...]],
        layers: list[int],
        clip: float,
        users: int,
        where: str,
        rounds: int,
    ) -> None:
        self.make, self.epsilon, self.delta = make, epsilon, delta
        self.kind = mechanism_class(name)
        self.tensorwise = self.kind.acts_on in ("matrix", "tensor")
        self.shapes, self.clip, self.users, self.where, self.rounds = shapes, clip, users, where, rounds
        self.layers = layers
        self.sizes = [math.prod(shape) for shape in shapes]
        self.size = sum(self.sizes)
        self._fixed: list[Mechanism] | None = None if self.kind.scheduled else self._mechanisms(0)
        self.notes = self._notes()

    def _box(self, shape: tuple[int, ...]) -> Box:
        return Box(-self.clip, self.clip, shape)

    def _mechanisms(self, round_index: int) -> list[Mechanism]:
        if self.tensorwise:
            share = {"epsilon": self.epsilon / len(self.shapes), "delta": self.delta / len(self.shapes)}
            return [self.make(self._box(shape), **share) for shape in self.shapes]
        options = self.kind.round_options(
            index=round_index, rounds=self.rounds, epsilon=self.epsilon, layers=self.layers
        )
        return [self.make(self._box((self.size,)), **options)]

    def privatize(self, vector: Tensor, round_index: int, generator: torch.Generator) -> Tensor:
        """Releases one flat parameter vector, (I,), already clipped."""
        mechanisms = self._fixed or self._mechanisms(round_index)
        if not self.tensorwise:
            return mechanisms[0].privatize(vector.unsqueeze(0), generator).squeeze(0)
        parts = vector.split(self.sizes)
        return torch.cat(
            [
                m.privatize(part.reshape(1, *shape), generator).reshape(-1)
                for m, part, shape in zip(mechanisms, parts, self.shapes, strict=True)
            ]
        )

    def _accounted(self, round_index: int) -> list[PrivacyCurve]:
        """Returns the curves of one round's mechanisms, for one user's parameters replaced by any others."""
        mechanisms = self._fixed or self._mechanisms(round_index)
        return [self._of_one_user(mechanism) or mechanism.curve() for mechanism in mechanisms]

    def _of_one_user(self, mechanism: Mechanism) -> PrivacyCurve | None:
        """Returns behind a server the curve of the same noise on what one user may change: 1/n of the average's range.

        None where the receiver sees each user's own release, and where the noise depends on the average or the
        mechanism clips it: then a user's share of the change is not known, and all of the range is a bound.
        """
        return mechanism.curve().nearer(1.0 / self.users) if self.where == "server" and mechanism.additive else None

    def run_curve(self) -> PrivacyCurve:
        """Computes the privacy curve of all rounds."""
        if self._fixed is None:
            return ProductCurve(tuple((curve, 1) for t in range(self.rounds) for curve in self._accounted(t)))
        curves = self._accounted(0)
        if len(curves) == 1:
            return curves[0].compose(self.rounds)
        return ProductCurve(tuple((curve, self.rounds) for curve in curves))

    def _notes(self) -> list[str]:
        first = (self._fixed or self._mechanisms(0))[0]
        notes = [first.note, f"{self.rounds} releases of one user's {self.size} parameters, composed"]
        if self.tensorwise:
            notes.append(f"one release per tensor, budget split equally over {len(self.shapes)} tensors")
        if self.where == "server":
            notes.append(
                "not local: the server adds the noise after averaging, so users give it their parameters "
                "unprotected, and the numbers cover only what it sends back"
            )
            if self._of_one_user(first) is None:
                notes.append("an upper bound, as if one user could move the whole average")
        return notes


def trainable(model: nn.Module) -> list[nn.Parameter]:
    """Returns the parameters that are trained and released, in a fixed order."""
    return [p for p in model.parameters() if p.requires_grad]


def get_vector(model: nn.Module) -> Tensor:
    """Returns all trainable parameters as one flat vector (I,)."""
    return torch.cat([p.detach().reshape(-1) for p in trainable(model)])


def set_vector(model: nn.Module, vector: Tensor) -> None:
    """Writes a flat vector (I,) back into the trainable parameters."""
    parameters = trainable(model)
    with torch.no_grad():
        for parameter, part in zip(parameters, vector.split([p.numel() for p in parameters]), strict=True):
            parameter.copy_(part.reshape(parameter.shape))
