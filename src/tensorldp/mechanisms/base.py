"""The interface that every mechanism has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import torch
from torch import Tensor

from tensorldp.errors import InputError, budget, flag, real
from tensorldp.mechanisms.domain import TOLERANCE, Ball, Box, Domain, blocks
from tensorldp.privacy.curves.base import PrivacyCurve
from tensorldp.privacy.guarantee import Guarantee
from tensorldp.randomness import check_generator

CLIP_BYTES = 8 << 20  # bytes of input projected and released at once
DTYPES = (torch.float32, torch.float64, torch.bfloat16)


class Mechanism(ABC):
    """A randomizer of one record, a tensor in `domain`.

    A subclass states `name`, implements `_randomize`, `squared_error`, `curve`, `worst_pair`, `worst_input` and,
    where outputs have a density or a mass, `log_likelihood_ratio`; everything about privacy follows from `curve`.

    Args:
        epsilon: the nominal epsilon, > 0, in the unit that the source uses.
        domain: where records live; converted to the shape of domain that the mechanism is made for.
        delta: the nominal delta in (0, 1); ignored by mechanisms that have none.
        clip: project records that lie outside the domain instead of refusing them.

    Raises:
        InputError: if an argument is out of range.
    """

    name: ClassVar[str]
    domain_kind: ClassVar[Literal["box", "ball", "any"]] = "any"
    integer: ClassVar[bool] = False
    block_bytes: ClassVar[int] = 8 << 20  # bytes of input randomised at once; a few times that is in use
    same_shape: ClassVar[bool] = True  # False where `privatize` refuses and the class has a method of its own
    unit: ClassVar[str] = "record"
    source: ClassVar[str] = ""
    status: ClassVar[Literal["as printed", "reconstructed", "textbook"]] = "textbook"
    note: str = ""
    additive: bool = False  # whether release(x) - x is drawn without looking at x, so that x may be added afterwards

    def __init__(self, *, epsilon: float, domain: Domain, delta: float = 1e-5, clip: bool = False) -> None:
        self.epsilon = budget(f"epsilon of {self.name}", epsilon, infinite=self.name == "none")
        self.delta = real(f"delta of {self.name}", delta, low=0.0, high=1.0, open_low=True, open_high=True)
        if not isinstance(domain, (Box, Ball)):
            raise InputError(f"domain of {self.name} must be a Box or a Ball, got {type(domain).__name__}")
        self.given_domain = domain
        self.domain: Domain = domain
        if self.domain_kind == "box":
            self.domain = domain.as_box()
        elif self.domain_kind == "ball":
            self.domain = domain.as_ball()
        self.clip = flag(f"clip of {self.name}", clip)
        notes = (
            "reconstructed from what others say of it" if self.status == "reconstructed" else "",
            self.note,
            "records outside the domain are clipped to it first" if self.clip else "",
        )
        self.note = "; ".join(filter(None, notes))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one record."""
        return self.domain.shape

    @property
    def size(self) -> int:
        """I, the number of elements of one record."""
        return self.domain.size

    def _examined(self, x: Tensor) -> tuple[Tensor, Domain | None]:
        """The batch, cut off from any graph that leads to it, and the domain that it has to be projected to, if any."""
        if not isinstance(x, Tensor) or x.dtype not in DTYPES:  # float16 ends at 65,504, which noise exceeds
            got = str(x.dtype) if isinstance(x, Tensor) else type(x).__name__
            raise InputError(f"{self.name} takes a floating-point tensor of float32, float64 or bfloat16, got {got}")
        x = x.detach()
        if x.dim() != len(self.shape) + 1 or tuple(x.shape[1:]) != self.shape:
            raise InputError(
                f"{self.name} takes a batch of shape (batch, {', '.join(map(str, self.shape))}), got {tuple(x.shape)}"
            )
        excess = self.domain.excess(x)  # the converted domain: the guarantee holds on all of it
        if not excess < float("inf"):
            raise InputError(f"the input of {self.name} has elements that are not finite; clean the data first")
        if excess <= 0:
            return x, None
        if self.clip or excess <= TOLERANCE:
            return x, self.given_domain if self.clip else self.domain
        raise InputError(
            f"the input of {self.name} lies outside its domain {self.domain} by {excess:.3g} "
            "of its size; scale the data or pass clip=True to clip it"
        )

    def privatize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """One independent release of each record of `x`, of shape (batch, *shape).

        Returns a new tensor of the same shape, dtype and device; `x` is untouched. Memory beyond input and
        output is bounded: records are randomised in blocks.

        Raises:
            InputError: if x is not floating point, not finite, of another shape or outside the domain (unless
                `clip`), if it has elements between the whole numbers an integer mechanism takes, or if the
                generator is on another device.
        """
        x, domain = self._examined(x)
        check_generator(generator, x)
        if self.integer and not bool((x == x.round()).all()):
            raise InputError(f"{self.name} takes whole numbers, got an element between two of them")
        if domain is None:
            return self._release(x, generator)
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        for block in blocks(x, CLIP_BYTES):
            out[block] = self._release(domain.project(x[block]), generator)
        return out

    def _release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """Randomise a checked batch block by block."""
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        for block in blocks(x, self.block_bytes):
            out[block] = self._randomize(x[block], generator)
        return out

    @abstractmethod
    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """One release of each record of a checked block, of shape (block, *shape)."""

    @abstractmethod
    def squared_error(self) -> float | None:
        """E ||M(x) - x||^2 over one record, exact, at `worst_input`; None only where no closed form exists."""

    @abstractmethod
    def curve(self) -> PrivacyCurve:
        """The privacy curve of one use, for replacing the unit (`self.unit`) by any other in the domain."""

    @abstractmethod
    def worst_pair(self) -> tuple[Tensor, Tensor]:
        """Two records, float64 of shape `shape`, that attain or approach the profile."""

    def worst_input(self) -> Tensor:
        """A record, float64 of shape `shape`, at which `squared_error` is attained."""
        return self.worst_pair()[0]

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        """log p(y|x) - log p(y|x') for each record of y, shape (batch,); +-inf where one side has no mass.

        x and x' are single records of shape `shape` or batches like y.

        Raises:
            InputError: if the mechanism has no tractable density.
        """
        raise InputError(
            f"{self.name} has no tractable output density, so its likelihood ratio cannot be computed "
            "and it cannot be audited by likelihood"
        )

    def privacy_profile(self, epsilon: float) -> float:
        """delta(epsilon) for replacing one whole unit: exact or an upper bound (`guarantee(...).exact` says)."""
        return self.curve().delta(epsilon)

    def guarantee(self, delta: float) -> Guarantee:
        """The smallest epsilon at `delta`; delta = 0 asks for the pure guarantee.

        That is infinite wherever an output gives its record away, however rarely; `epsilon_without_atom` leaves those
        outputs out.

        Raises:
            InputError: if delta is outside [0, 1).
        """
        return Guarantee.of(self.curve(), delta, self.unit, self.note)

    def _flat(self, x: Tensor) -> Tensor:
        """A record or a batch as (batch, I) in float64."""
        return x.to(torch.float64).reshape(-1, self.size)
