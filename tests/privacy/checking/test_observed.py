"""Copies are handed out, what comes back is copied, and what a release is made of is looked at exactly or refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tensorldp.audit.likelihood import audit
from tensorldp.audit.observed import observed
from tensorldp.audit.one_run import one_run_audit
from tensorldp.check.check import check
from tensorldp.check.distinguishers import Grid, grid_of
from tensorldp.check.side_channels import dependence
from tensorldp.check.target import Target
from tensorldp.check.verdict import Verdict
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms import Box
from tensorldp.mechanisms.laplace import Laplace

Release = Callable[[Tensor, torch.Generator], Tensor]
TWO = Box(-1.0, 1.0, (2,))
SCALE = 4.0  # of Laplace noise for an epsilon of 1 on TWO


def quick(release: Release | Laplace, epsilon: float | None = 1.0, **options: Any) -> Verdict:
    small: dict[str, Any] = {"samples": 400, "rounds": 1, "starts": 1, "minutes": 10.0, "confidence": 1 - 1e-6}
    return check(release, domain=TWO, claim_epsilon=epsilon, **{**small, **options})


def laplace(x: Tensor, g: torch.Generator) -> Tensor:
    signs = 2.0 * torch.randint(0, 2, x.shape, generator=g).to(x.dtype) - 1.0
    return SCALE * signs * torch.empty_like(x).exponential_(generator=g)


def geometric(x: Tensor, g: torch.Generator, rate: float) -> Tensor:
    """Two-sided geometric noise of `rate` for a step of 1, in float64."""
    first, second = (torch.empty(x.shape).double().exponential_(generator=g).div(rate).floor() for _ in range(2))
    return first - second


def in_place(x: Tensor, g: torch.Generator) -> Tensor:
    x += laplace(x, g)
    return x


class ReusedBuffer:
    """An honest Laplace mechanism that returns the same memory in each call."""

    def __init__(self) -> None:
        self.buffers: dict[Any, Tensor] = {}

    def __call__(self, x: Tensor, g: torch.Generator) -> Tensor:
        buffer = self.buffers.setdefault((x.shape, x.dtype), torch.empty_like(x))
        return torch.add(x, laplace(x, g), out=buffer)


@pytest.mark.parametrize("release", [in_place, ReusedBuffer()])
def test_an_honest_function_may_write_into_its_argument_and_reuse_its_buffer(release: Release) -> None:
    found = quick(release)
    assert not found.refuted
    assert {finding.kind for finding in found.findings} <= {"floating point"}


def test_a_reused_buffer_is_no_dependence() -> None:
    record = torch.zeros(2, dtype=torch.float64)
    assert dependence(Target.of(ReusedBuffer(), TWO), record, 400, 0)[1] > 1e-6


class WritesEverywhere(Laplace):
    """Honest, but its methods write into whatever they are given."""

    name = "writes-everywhere"

    def privatize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        x.copy_(super().privatize(x, generator))
        return x

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        found = super().log_likelihood_ratio(y.clone(), x.clone(), x_prime.clone())
        for given in (y, x, x_prime):
            given.fill_(7.0)
        return found


def test_a_mechanism_may_write_into_what_it_is_given_in_a_check_and_in_an_audit() -> None:
    mechanism = WritesEverywhere(epsilon=1.0, domain=TWO)
    found = quick(mechanism, None)
    assert not found.refuted
    assert {finding.kind for finding in found.findings} <= {"floating point"}
    assert audit(mechanism, samples=4000, confidence=1 - 1e-6).epsilon_lower <= 1.0


def test_a_training_may_write_into_the_coins_that_it_is_given() -> None:
    def cheating(coins: Tensor, source: torch.Generator) -> Tensor:
        scores = torch.rand(coins.shape, generator=source)
        coins.copy_(scores > 0.5)  # so that every guess would be right
        return scores

    assert not one_run_audit(cheating, LaplaceCurve(0.1, 1), canaries=100, delta=1e-5).refuted


def upper(x: Tensor) -> Tensor:
    return (x > 0).long()


def even(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.randint(0, 2**60, x.shape, generator=g) & ~1


EXACT_LEAKS: dict[str, Release] = {
    "the lowest bit of int64 above 2^53": lambda x, g: even(x, g) | upper(x),
    "the lowest bit of few int64 above 2^53": lambda x, g: (torch.randint(0, 9, x.shape, generator=g) << 54) | upper(x),
    "the lowest bit of uint64 above 2^63": lambda x, g: (even(x, g) | -(2**63) | upper(x)).to(torch.uint64),
    "bit 40 of int64": lambda x, g: (even(x, g) & ~(1 << 40)) | (upper(x) << 40),
    "the residue modulo 3 of int64": lambda x, g: even(x, g) // 3 * 3 + upper(x),
    "parity of whole floats": lambda x, g: 2.0 * geometric(x, g, 1e-9) + upper(x),
    "parity of whole float32": lambda x, g: (2.0 * geometric(x, g, 1e-4) + upper(x)).float(),
    "parity of halves": lambda x, g: geometric(x, g, 1e-7) + 0.5 * upper(x),
    "parity of cents": lambda x, g: (2.0 * geometric(x, g, 1e-2) + upper(x)) / 100.0,
    "the imaginary part": lambda x, g: torch.complex(laplace(x, g), x),
    "the imaginary part in halves": lambda x, g: torch.complex(laplace(x, g).half(), x.half()),
    "a boolean": lambda x, g: x > 0,
    "an int8": lambda x, g: upper(x).to(torch.int8),
    "a uint16": lambda x, g: (40_000 + upper(x)).to(torch.uint16),
    "a float16": lambda x, g: x.half(),
    "a float8": lambda x, g: x.to(torch.float8_e4m3fn),
    "a NumPy array": lambda x, g: x.numpy(),  # type: ignore[dict-item, return-value]
}


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("name", EXACT_LEAKS)
def test_a_record_is_seen_in(name: str) -> None:
    found = quick(EXACT_LEAKS[name])
    assert found.refuted
    assert found.findings[0].kind == "guarantee"


HONEST: dict[str, Release] = {
    "two-sided geometric noise as int64": lambda x, g: (x.round() + geometric(x, g, 0.25)).long(),
    "two-sided geometric noise above 2^53": lambda x, g: ((x.round() + geometric(x, g, 0.25)).long() << 55) + 1,
    "two-sided geometric noise in cents": lambda x, g: (x.round() + geometric(x, g, 0.25)) / 100.0,
    "randomised response as booleans": lambda x, g: (torch.rand(x.shape, generator=g) < 0.62) ^ (x < 0),
    "complex noise": lambda x, g: torch.complex(x + laplace(x, g), laplace(x, g)),
    "noise rounded to float16": lambda x, g: (x + laplace(x, g)).half(),
    "noise rounded to float8": lambda x, g: (x + laplace(x, g)).to(torch.float8_e5m2),
}


@pytest.mark.parametrize("name", HONEST)
def test_nothing_is_wrong_with(name: str) -> None:
    found = quick(HONEST[name], rounds=2)
    assert not found.refuted, found


def test_whole_numbers_have_no_section_on_floats() -> None:
    found = quick(HONEST["two-sided geometric noise as int64"])
    floats = [attempt.outcome for attempt in found.attempts if "numbers occur" in attempt.name]
    assert floats == ["not tried: releases are whole numbers by their type, and no floats"] * 2
    assert sum(attempt.error for attempt in found.attempts) <= 1e-6 + 1e-12


def test_a_grid_is_told_from_the_last_bits_of_floats() -> None:
    source = np.random.default_rng(0)
    whole = source.integers(-(2**40), 2**40, size=400).astype(np.float64)
    assert grid_of(whole * 0.25, torch.float64) == Grid(0.0, 0.25)
    cents = grid_of(source.integers(0, 1000, size=400) / 100.0, torch.float64)
    assert cents is not None
    assert cents.step == pytest.approx(0.01)
    noise = source.laplace(size=400)
    assert grid_of(noise, torch.float64) is None
    assert grid_of(1e12 + noise, torch.float64) is None
    assert grid_of(noise.astype(np.float32).astype(np.float64), torch.float32) is None
    assert grid_of(noise.astype(np.float32).astype(np.float64), torch.float64) is None
    assert grid_of(np.append(whole, 1e30), torch.float64) is None


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (None, "one tensor of releases, got NoneType"),
        ((torch.zeros(2, 1), torch.zeros(2, 1)), r"got tuple: join its parts with torch\.cat"),
        ({"noisy": torch.zeros(2, 1)}, "got dict: join"),
        ([[0.0], [1.0]], "got list: join"),
        ("released", "got str"),
        (0.5, "got float"),
        (torch.tensor(1.0), r"for 2, got shape \(\)"),
        (torch.zeros(3, 1), r"for 2, got shape \(3, 1\)"),
        (torch.zeros(2, 0), "without elements"),
        (torch.zeros(2, 3).to_sparse(), "dense tensor, got a sparse_coo one"),
        (torch.zeros(2, 3, device="meta"), "device meta, which has no values"),
        (torch.nested.nested_tensor([torch.zeros(1), torch.zeros(2)], layout=torch.jagged), "of its own layout"),
        (np.zeros((2, 1), dtype=np.longdouble), "at most 64 bits, got an array of"),
        (np.array([["a"], ["b"]]), "at most 64 bits, got an array of"),
        (np.array([[None], [0]]), "at most 64 bits, got an array of object"),
        (np.ma.masked_array([[1.0], [2.0]]), "got MaskedArray"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(out: object, message: str) -> None:
    with pytest.raises(InputError, match=f"^f .*{message}"):
        observed("f", out, 2)


def test_views_strides_and_byte_orders_change_nothing() -> None:
    values = torch.arange(6, dtype=torch.float64).reshape(2, 3)
    lazily_negated = torch.complex(torch.zeros_like(values), -values).conj().imag
    assert lazily_negated.is_neg()
    flipped = values.numpy()[:, ::-1].copy()[:, ::-1]
    for out in (lazily_negated, values.t().contiguous().t(), flipped, values.numpy().astype(">f8"), values.float()):
        assert torch.equal(observed("f", out, 2)[1], values)
    grown = values.clone().requires_grad_()
    seen = observed("f", grown, 2)[1]
    assert not seen.requires_grad
    assert torch.equal(seen, values)


def test_both_parts_of_a_complex_number_are_columns() -> None:
    out = torch.complex(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
    form, seen = observed("f", out, 1)
    assert (form.width, form.floats) == (4, torch.float32)
    assert seen.tolist() == [[1.0, 2.0, 3.0, 4.0]]


def test_a_release_that_changes_its_width_or_type_is_refused() -> None:
    calls = iter((torch.zeros(1, 2), torch.zeros(1, 3), torch.zeros(1, 2, dtype=torch.int32)))
    target = Target.of(lambda x, g: next(calls), TWO)
    record = torch.zeros(1, 2, dtype=torch.float64)
    target.release(record, torch.Generator())
    for message in (r"one is float32 of shape \(3,\), one before was float32 of shape \(2,\)", r"one is int32"):
        with pytest.raises(InputError, match=message):
            target.release(record, torch.Generator())
