"""The interface that every mechanism has, its options and its traits."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self, dataclass_transform, get_args

import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.guarantee import UNITS, Guarantee
from tensorldp.deltas import NOMINAL_DELTA
from tensorldp.domain import DTYPES, EDGE_TOLERANCE, Ball, Box, Domain, blocks
from tensorldp.errors import (
    LEAST_DELTA,
    InputError,
    check_budget,
    check_flag,
    check_real,
    joined,
    kind_of,
    number,
    shown,
    unknown,
)
from tensorldp.mechanism_table import TABLE
from tensorldp.mechanisms.tvg_budget import Schedule, simple_budget, step_budget
from tensorldp.randomness import check_generator

DomainKind = Literal["box", "ball", "any"]
EpsilonUnit = Literal["record", "element", "run"]
ActsOn = Literal["element", "vector", "matrix", "tensor"]
Neighbours = Literal["replace", "add or remove"]
ServerWeights = Literal["equal", "inverse variance"]
Status = Literal["as printed", "reconstructed", "textbook"]

WORDS: dict[str, tuple[str, ...]] = {
    "domain_kind": get_args(DomainKind),
    "epsilon_unit": get_args(EpsilonUnit),
    "acts_on": get_args(ActsOn),
    "neighbours": get_args(Neighbours),
    "server_weights": get_args(ServerWeights),
    "status": get_args(Status),
    "unit": UNITS,
}
TEXTS = ("name", "label", "family", "formula", "source")
FLAGS = ("private", "additive", "integer", "same_shape", "scheduled", "on_grid", "leaves_input")


def check_traits(cls: type[Any]) -> None:
    """Checks the traits in a class's body against their vocabulary; what it inherits was checked before."""
    for trait in (*WORDS, *TEXTS, *FLAGS):
        if "ClassVar" not in str(cls.__annotations__.get(trait, "ClassVar")):
            raise InputError(f"{trait} of {cls.__name__} is a trait of the class: write it without an annotation")
        value = cls.__dict__.get(trait)
        if value is None or isinstance(value, property):
            continue
        if trait in WORDS and value not in WORDS[trait]:
            raise InputError(f"{trait} of {cls.__name__} must be one of {', '.join(WORDS[trait])}, got {shown(value)}")
        if trait in TEXTS and not (isinstance(value, str) and value.isprintable()):
            raise InputError(f"{trait} of {cls.__name__} must be a line of text, got {shown(value)}")
        if trait in FLAGS:
            check_flag(f"{trait} of {cls.__name__}", value)


RELEASING = {"_randomize", "_release", "law"}  # what of a class's body decides what happens to its input
CLIP_BYTES = 8 << 20  # bytes of input projected and released at once


def _is_record(value: object, mechanism: Mechanism) -> bool:
    return isinstance(value, Tensor) and tuple(value.shape) == mechanism.shape


def _is_error(value: object) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool) and float(value) >= 0.0)


# what a class says of itself: whether a value is that, and its name
STATED: dict[str, tuple[Callable[[Any, Mechanism], bool], str]] = {
    "curve": (lambda value, _: isinstance(value, PrivacyCurve), "a PrivacyCurve"),
    "squared_error": (lambda value, _: _is_error(value), "a number of at least 0, or None"),
    "worst_input": (_is_record, "a tensor of the shape of a record"),
    "worst_pair": (
        lambda value, m: (
            isinstance(value, (tuple, list)) and len(value) == 2 and all(_is_record(part, m) for part in value)
        ),
        "two tensors of the shape of a record",
    ),
}


def check_stated(cls: type[Any]) -> None:
    """Lets the methods in a class's body through which it speaks of itself refuse what others could not read."""
    for name, (fits, wanted) in STATED.items():
        if callable(cls.__dict__.get(name)):
            setattr(cls, name, _checked(name, cls.__dict__[name], fits, wanted))


def _checked(
    name: str, method: Callable[[Any], Any], fits: Callable[[Any, Mechanism], bool], wanted: str
) -> Callable[[Any], Any]:
    @wraps(method)
    def checked(self: Mechanism) -> Any:
        value = method(self)
        if not fits(value, self):
            got = kind_of(value) if hasattr(value, "shape") else shown(value)
            raise InputError(f"{name} of {self.name} must return {wanted}, got {got}")
        return value

    return checked


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
@dataclass(kw_only=True, eq=False, repr=False)
class Mechanism(ABC):
    """A randomizer of one record, a tensor in `domain`.

    A subclass states its traits and implements `_randomize`, `squared_error` and `curve`; `worst_pair` and
    `worst_input` where the defaults are not the worst, and `log_likelihood_ratio` where outputs have a density or a
    mass. Everything about privacy follows from `curve`. Every subclass is a keyword-only dataclass: an option of its
    own is an annotated field, checked in `_prepare`.

    Args:
        epsilon: the nominal epsilon, in [1e-12, 1e12], in the unit that the source uses (`epsilon_unit`).
        domain: where records live; converted to the shape of domain that the mechanism is made for.
        delta: the nominal delta in [1e-200, 1); ignored by mechanisms without one.
        clip: project records that lie outside the domain instead of refusing them.

    Attributes:
        name: the registry key.
        label: what a legend calls it; by default the name.
        family: mechanisms of one family share a colour; by default it is alone in a family of its name.
        variant_labels: what a legend calls it with options other than the default ones, by "option=value".
        epsilon_unit: what the nominal epsilon covers: a whole record, one of its elements, or a run of many uses.
        acts_on: what it randomises: each element alike, a vector, a matrix (mode 1 by the rest) or a tensor by its
            modes. A model's parameters reach the last two tensor by tensor, with their first mode, and the others as
            one vector.
        unit: what `curve` lets change between neighbours.
        neighbours: whether that is replaced, or added or removed.
        additive: whether release(x) - x is drawn without looking at x, so that x may be added afterwards.
        private: False only for the reference that releases the record itself.
        scheduled: whether its noise depends on the round of training, see `round_options`.
        server_weights: how a server averages the uploads of clients whose budgets differ.
        integer: whether records are whole numbers.
        only_for: the methods of studies that can use its release; empty for all.
        not_elsewhere: why others cannot, in words.
        on_grid: whether releases are on a grid that the record has no part in, so that floats give nothing away.
        same_shape: False where `privatize` refuses and the class has a method of its own.
        leaves_input: True where a release neither writes into what it is given nor is that, which saves copies; a class
            with its own `_randomize` or law of noise states it anew.
        block_bytes: bytes of input randomised at once, a few times that is in use; None for the whole batch.
        formula: its release, in TeX.
        source: where it is defined.
        status: how sure the definition is.
        note: what a guarantee should say.

    Raises:
        InputError: if an argument is out of range; while a class is defined, if a trait is not in its vocabulary.
    """

    name: ClassVar[str]
    label: ClassVar[str] = ""
    family: ClassVar[str] = ""
    variant_labels: ClassVar[Mapping[str, str]] = MappingProxyType({})
    epsilon_unit: ClassVar[EpsilonUnit] = "record"
    acts_on: ClassVar[ActsOn] = "vector"
    unit: ClassVar[str] = "record"
    neighbours: ClassVar[Neighbours] = "replace"
    private: ClassVar[bool] = True
    scheduled: ClassVar[bool] = False
    server_weights: ClassVar[ServerWeights] = "equal"
    domain_kind: ClassVar[DomainKind] = "any"
    integer: ClassVar[bool] = False
    only_for: ClassVar[tuple[str, ...]] = ()
    not_elsewhere: ClassVar[str] = ""
    on_grid: ClassVar[bool] = False
    same_shape: ClassVar[bool] = True
    leaves_input: ClassVar[bool] = False
    block_bytes: ClassVar[int | None] = 8 << 20
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    status: ClassVar[Status] = "textbook"
    additive = False  # not ClassVar: with some options an instance differs from its class
    note = ""

    epsilon: float
    domain: Domain
    given_domain: Domain = field(init=False)  # as it was given, where `domain` is what it was converted to
    delta: float = NOMINAL_DELTA
    clip: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_traits(cls)
        check_stated(cls)
        if RELEASING & cls.__dict__.keys():
            cls.leaves_input = cls.__dict__.get("leaves_input", False)
        if "name" in cls.__dict__:
            listed = TABLE.get(cls.name)
            if listed and cls.__module__ == f"tensorldp.mechanisms.{listed.module}":
                cls.label, cls.family, cls.variant_labels = listed.label, listed.family, listed.variant_labels
            else:
                cls.label = cls.__dict__.get("label") or cls.name
                cls.family = cls.family or cls.name
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Refuses a class that lacks a method or its name, which Python would tell in a sentence of its own."""
        cls._check_parts()
        return super().__new__(cls)

    @classmethod
    def _check_parts(cls) -> None:
        """Refuses a class that is not a whole mechanism, such as one that others derive from."""
        lacking = ["the attribute name"] if not hasattr(cls, "name") else []
        if methods := sorted(cls.__abstractmethods__):
            lacking.insert(0, f"the method{'s' * (len(methods) > 1)} {joined(methods, 'and')}")
        if lacking:
            raise InputError(f"{cls.__name__} lacks {' and '.join(lacking)}, which every mechanism has")

    def __post_init__(self) -> None:
        self.epsilon = check_budget(f"epsilon of {self.name}", self.epsilon, infinite=not self.private)
        self.delta = check_real(f"delta of {self.name}", self.delta, low=0.0, high=1.0, open_low=True, open_high=True)
        check_real(f"delta of {self.name}", self.delta, low=LEAST_DELTA)
        if not isinstance(self.domain, (Box, Ball)):
            raise InputError(f"domain of {self.name} must be a Box or a Ball, got {type(self.domain).__name__}")
        self.given_domain = self.domain
        if self.domain_kind == "box":
            self.domain = self.domain.as_box()
        elif self.domain_kind == "ball":
            self.domain = self.domain.as_ball()
        self.clip = check_flag(f"clip of {self.name}", self.clip)
        self._prepare()
        notes = (
            "reconstructed from what others say about it" if self.status == "reconstructed" else "",
            self.note,
            "records outside the domain are clipped to it first" if self.clip else "",
        )
        self.note = "; ".join(filter(None, notes))

    def _prepare(self) -> None:  # noqa: B027  # most mechanisms have nothing to prepare
        """Checks the options and computes what depends on them, once epsilon, delta and domain are checked."""

    @classmethod
    def options(cls) -> frozenset[str]:
        """Returns the keyword options that it takes beyond epsilon, domain and delta."""
        return frozenset(f.name for f in fields(cls) if f.init) - {"epsilon", "domain", "delta"}

    @classmethod
    def check_options(cls, names: Iterable[str]) -> None:
        """Refuses what is not an option, naming the nearest one, and a class that is no whole mechanism."""
        cls._check_parts()
        for name in names:
            if name not in cls.options():
                raise unknown(f"option of {cls.name}", name, cls.options())

    def __repr__(self) -> str:
        """Returns name, epsilon, domain, and whatever differs from its default."""
        words = [f"epsilon={number(self.epsilon)}", f"domain={self.given_domain}"]
        for f in fields(self):
            if f.init and f.name not in ("epsilon", "domain"):
                value = getattr(self, f.name)
                if isinstance(value, Tensor):
                    words.append(f"{f.name}=<tensor of shape {tuple(value.shape)}>")
                elif value != f.default:
                    words.append(f"{f.name}={shown(value)}")
        return f"{self.name}({', '.join(words)})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Returns the shape of one record."""
        return self.domain.shape

    @property
    def size(self) -> int:
        """Returns I, the number of elements of one record."""
        return self.domain.size

    @property
    def box(self) -> Box:
        """Returns the domain, or the smallest box of equal sides around it."""
        return self.domain.as_box()

    def _examined(self, x: Tensor) -> tuple[Tensor, Domain | None]:
        """Returns the batch, cut off from any graph that leads to it, and the domain to project it to, if any."""
        if not isinstance(x, Tensor) or x.dtype not in DTYPES:
            got = str(x.dtype) if isinstance(x, Tensor) else kind_of(x)
            raise InputError(f"{self.name} takes a floating-point tensor of float32, float64 or bfloat16, got {got}")
        if x.layout != torch.strided or x.is_nested or x.is_meta:
            got = "nested" if x.is_nested else "meta" if x.is_meta else str(x.layout).removeprefix("torch.")
            raise InputError(f"{self.name} takes a dense tensor that holds its numbers, got a {got} tensor")
        x = x.detach().resolve_neg()
        if x.dim() != len(self.shape) + 1 or tuple(x.shape[1:]) != self.shape:
            raise InputError(
                f"{self.name} takes a batch of shape (batch, {', '.join(map(str, self.shape))}), got {tuple(x.shape)}"
            )
        excess = self.domain.excess(x)  # the converted domain: the guarantee holds on all of it
        if not excess < float("inf") and not bool(x.isfinite().all()):
            raise InputError(f"the input of {self.name} has elements that are not finite; clean the data first")
        if excess <= 0:
            return x, None
        if self.clip or excess <= max(EDGE_TOLERANCE, torch.finfo(x.dtype).eps):  # it may be so by its rounding
            return x, self.given_domain if self.clip else self.domain
        raise InputError(
            f"the input of {self.name} lies outside its domain {self.domain} by {excess:.3g} "
            "of its size; scale the data or pass clip=True to clip it"
        )

    def privatize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """Returns one independent release of each record of `x`, of shape (batch, *shape).

        To protect data, take a generator of `tensorldp.randomness.unpredictable_generator`: seeds can be tried out.
        Returns a new tensor of the same shape, dtype and device; `x` is untouched. Memory beyond input and
        output is bounded: records are randomised in blocks.

        Raises:
            InputError: if x is not floating point, sparse, nested or without numbers, not finite, of another shape or
                outside the domain (unless `clip`), if it has elements between the whole numbers an integer mechanism
                takes or its precision cannot hold all of them, if the generator is on another device, or if the
                release leaves the range of the precision.
        """
        x, domain = self._examined(x)
        check_generator(generator, x)
        if self.integer and not bool((x == x.round()).all()):
            raise InputError(f"{self.name} takes whole numbers, got an element between two of them")
        if self.integer and max(abs(self.box.low), abs(self.box.high)) > (exact := 2.0 / torch.finfo(x.dtype).eps):
            raise InputError(
                f"{self.name} on {self.domain} takes records in a precision that holds all of its whole numbers, "
                f"{x.dtype} holds them up to {exact:.0f}"
            )
        try:
            out = self._released(x, domain, generator)
        except (OverflowError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "overflow" not in str(error):
                raise
            raise self._out_of_range(x.dtype) from error
        return self._in_range(out)

    def privatize_each(self, x: Tensor, generators: Sequence[torch.Generator]) -> Tensor:
        """Returns what `privatize` does of each batch x[i] with generators[i], (generators, batch, *shape)."""
        return torch.stack([self.privatize(batch, own) for batch, own in zip(x, generators, strict=True)])

    def _in_range(self, out: Tensor) -> Tensor:
        if out.numel() and not all(math.isfinite(float(end)) for end in torch.aminmax(out)):
            raise self._out_of_range(out.dtype)  # the message depends only on the release, noise included
        return out

    def _out_of_range(self, dtype: torch.dtype) -> InputError:
        return InputError(
            f"a release of {self.name} on {self.domain} left the range of {dtype}: take a domain nearer to 0, "
            "a larger epsilon, or records in float64"
        )

    def _released(self, x: Tensor, domain: Domain | None, generator: torch.Generator) -> Tensor:
        """Releases checked records, projected first if there is a domain to project to."""
        if domain is None and self.leaves_input:
            return self._release(x, generator)
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        size = self.block_bytes if domain is None else CLIP_BYTES
        for block in blocks(x, size or max(1, x.numel() * x.element_size())):
            part = x[block].clone() if domain is None else domain.project(x[block])
            out[block] = self._fitting(self._release(part, generator), part.shape)
        return out

    def _fitting(self, released: object, shape: torch.Size) -> Tensor:
        """Checks the shape and type of a release, which assignment would repeat over records or make real."""
        if not isinstance(released, Tensor) or released.shape != shape or released.is_complex():
            got = f"{tuple(released.shape)} of {released.dtype}" if isinstance(released, Tensor) else kind_of(released)
            raise InputError(
                f"{self.name} must release a tensor of real numbers of its input's shape {tuple(shape)}, got {got}"
            )
        return released

    def _release(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """Randomises a checked batch block by block."""
        if self.block_bytes is None:
            return self._fitting(self._randomize(x.contiguous(), generator), x.shape)
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        for block in blocks(x, self.block_bytes):
            part = x[block].contiguous()
            out[block] = self._fitting(self._randomize(part, generator), part.shape)
        return out

    @abstractmethod
    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """Returns one release of each record of a checked block, of shape (block, *shape)."""

    @abstractmethod
    def squared_error(self) -> float | None:
        """Computes E ||M(x) - x||^2 over one record, exact, at `worst_input`; None only where no closed form exists."""

    @abstractmethod
    def curve(self) -> PrivacyCurve:
        """Builds the privacy curve of one use, for replacing the unit (`self.unit`) by any other in the domain."""

    @property
    def metric(self) -> str:
        """Returns the distance of `curve_at`, "l1", "l2" or "hamming"; empty where a curve is known for none."""
        return ""

    def curve_at(self, distance: float) -> PrivacyCurve:
        """Builds the privacy curve of one use for two records at a distance above 0 of `metric`, the worst such two.

        Raises:
            InputError: if there is no such distance, or the curve is not known.
        """
        raise InputError(f"{self.name} has no privacy curve for each distance of two records, only that of all records")

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        """Returns two records, float64 of shape `shape`, that attain or approach the profile: by default far corners.

        Where the unit is an element they are the same but for the first one.
        """
        first, second = self.domain.farthest()
        if self.unit == "element":
            first = self.domain.constant(self.domain.centre if isinstance(self.domain, Ball) else self.box.low)
            second = first.clone()
            first.view(-1)[0], second.view(-1)[0] = self.box.low, self.box.high
        return first, second

    def nearest_records(self, x: Tensor) -> Tensor:
        """Returns for each record of a batch (batch, *shape) the nearest that the mechanism takes, in that shape."""
        return self.domain.project(x)

    def worst_input(self) -> Tensor:
        """Returns a record, float64 of shape `shape`, at which `squared_error` is attained."""
        return self.worst_pair()[0]

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        """Computes log p(y|x) - log p(y|x') for each record of y, shape (batch,); +-inf where one side has no mass.

        x and x' are single records of shape `shape` or batches like y.

        Raises:
            InputError: if the mechanism does not define it.
        """
        raise InputError(
            f"{self.name} defines no log_likelihood_ratio, so it cannot be audited by likelihood; "
            "tensorldp.privacy.check needs none"
        )

    def privacy_profile(self, epsilon: float) -> float:
        """Computes delta(epsilon) for replacing one whole unit, an upper bound unless `guarantee(...).exact`."""
        return self.curve().delta(epsilon)

    def guarantee(self, delta: float) -> Guarantee:
        """Computes the smallest epsilon at `delta`, or an upper bound if not `exact`; delta = 0 is the pure guarantee.

        That is infinite wherever an output gives its record away, however rarely; `epsilon_without_atom` leaves those
        outputs out.

        Raises:
            InputError: if delta is outside [0, 1).
        """
        return Guarantee.of(self.curve(), delta, self.unit, self.note)

    @property
    def isotropic_sigma(self) -> float | None:
        """Returns the standard deviation per element where the noise is i.i.d. Gaussian, else None."""
        return None

    @classmethod
    def step_sigma(cls, run: Schedule, domain: Box, **options: Any) -> float | None:
        """Computes the noise that TVG's accounting of gradient descent gives a tensor of a lot's gradients (Type I).

        By default, that of the mechanism at a step's budget under simple composition over the steps.

        Args:
            run: the nominal budget of a run, and its lots.
            domain: the domain of the tensor, clipped element by element.
            options: the mechanism's own.

        Returns:
            The standard deviation per element of i.i.d. Gaussian noise, or None if the noise is of another kind.
        """
        epsilon, delta = step_budget(cls.name, run, simple_budget)
        return cls(epsilon=epsilon, delta=delta, domain=domain, **options).isotropic_sigma

    @classmethod
    def round_options(cls, *, index: int, rounds: int, epsilon: float, layers: Sequence[int]) -> dict[str, Any]:
        """Returns the arguments for the mechanism of one round of training, if it is `scheduled`.

        Args:
            index: the number of the round, from 0.
            rounds: the number of rounds of the whole run.
            epsilon: the nominal budget of one round.
            layers: number of parameters of each layer, in the order of the vector.

        Returns:
            Keyword arguments besides the domain, which replace the usual ones.
        """
        return {}

    def _flat(self, x: Tensor) -> Tensor:
        """Returns a record or a batch as (batch, I) in float64."""
        return x.to(torch.float64).reshape(-1, self.size)


def check_instance(caller: str, given: object) -> None:
    """Refuses what is not a mechanism, such as a class instead of an instance; `caller` is named in the message."""
    if not isinstance(given, Mechanism):
        got = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
        raise InputError(f"{caller} takes a mechanism, got {got}")
