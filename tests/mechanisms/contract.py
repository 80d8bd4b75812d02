"""What every mechanism of one record must do, as checks that also serve mechanisms from outside the package."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tensorldp import mechanisms
from tensorldp.errors import InputError
from tensorldp.randomness import generator

INTEGER_BOXES = {"randomized-response": (0, 1), "k-rr": (0, 9), "k-rr-secure": (0, 9), "tldp-discrete": (0, 9)}


def build(name: str, shape: tuple[int, ...], *, epsilon: float = 1.0, clip: bool = False) -> mechanisms.Mechanism:
    low, high = INTEGER_BOXES.get(name, (-1, 1))
    return mechanisms.make(name, epsilon=epsilon, domain=mechanisms.Box(low, high, shape), clip=clip)


def records(m: mechanisms.Mechanism, count: int, *, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    box = m.given_domain.as_box()
    x = box.low + box.width * torch.rand((count, *m.shape), generator=generator("records", seed), dtype=torch.float64)
    return (x.round() if m.integer else x).to(dtype)


def check_release(m: mechanisms.Mechanism, device: str = "cpu") -> None:
    """Shape, dtype, untouched input, finiteness, seeds and empty batches."""

    def released(x: torch.Tensor, seed: int = 0) -> torch.Tensor:
        return m.privatize(x, generator("release", seed, device=device))

    for dtype in (torch.float32, torch.float64):
        x = records(m, 6 if m.size > 9 else 60, dtype=dtype).to(device)
        before, y = x.clone(), released(x)
        assert (y.shape, y.dtype, y.device) == (x.shape, dtype, x.device)
        assert y.is_contiguous()
        assert torch.equal(x, before)
        assert y.data_ptr() != x.data_ptr()
        assert bool(torch.isfinite(y).all())
        assert torch.equal(y, released(x))
        if m.name != "none":
            source = generator("release", 0, device=device)
            assert not torch.equal(m.privatize(x, source), m.privatize(x, source))
            assert not torch.equal(y, released(x, seed=1))
    assert not released(x.requires_grad_()).requires_grad
    assert released(x[:0]).shape == (0, *m.shape)


def layouts(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """The same records (batch, *shape) as views of other memory, none of them contiguous where there is a choice."""
    last = x.dim() - 1
    found = {
        "transposed": x.transpose(0, last).contiguous().transpose(0, last),
        "permuted": x.movedim(0, -1).contiguous().movedim(-1, 0),
        "sliced rows": torch.stack([x, x + 0], dim=1)[:, 0],
        "sliced elements": torch.stack([x, x + 0], dim=-1)[..., 0],
        "of a wider table": torch.cat([x, x], dim=-1)[..., : x.shape[-1]],
        "lazily negated": torch._neg_view(-x),
        "imaginary part of a conjugate": torch.complex(x, -x).conj().imag,
    }
    if x.dim() == 4:
        found["channels last"] = x.to(memory_format=torch.channels_last)
    return found


def check_layouts(m: mechanisms.Mechanism) -> None:
    """Strides make no difference, and a tensor that is not strided memory is refused in a sentence."""
    for x in (records(m, 6), records(m, 6, dtype=torch.float64)):
        expected = m.privatize(x, generator("layouts"))
        for name, other in layouts(x).items():
            assert torch.equal(other, x), name
            before = other.clone()
            y = m.privatize(other, generator("layouts"))
            assert torch.equal(y, expected), name
            assert y.is_contiguous(), name
            assert torch.equal(other, before), name
        one = x[:1].expand(6, *m.shape)
        assert torch.equal(m.privatize(one, generator("layouts")), m.privatize(one.clone(), generator("layouts")))
    x = records(m, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls some of these prototypes
        refused = {
            "sparse_coo": x.to_sparse(),
            "sparse_csr": x.flatten(1).to_sparse_csr(),
            "meta": x.to("meta"),
            "nested": torch.nested.nested_tensor(list(x)),
            "a nested": torch.nested.nested_tensor(list(x), layout=torch.jagged),
        }
    for name, other in refused.items():
        with pytest.raises(InputError, match=f"dense tensor.*{name}"):
            m.privatize(other, generator("layouts"))


def check_squared_error(m: mechanisms.Mechanism, *, elements: int = 200_000) -> None:
    """The mean over independent releases at the worst input, within five standard errors."""
    exact = m.squared_error()
    if exact is None:
        return
    assert exact >= 0.0
    count = min(3000, max(200, elements // m.size))
    x = m.worst_input().to(torch.float64).expand(count, *m.shape)
    errors = (m.privatize(x, generator("squared error", m.name)) - x).reshape(count, -1).square().sum(dim=1)
    assert abs(float(errors.mean()) - exact) <= 5.0 * float(errors.std()) / math.sqrt(count) + 1e-6 * exact


def check_privacy(m: mechanisms.Mechanism) -> None:
    """The profile decreases, agrees with the guarantee, and the pure guarantee is the largest."""
    pure = m.guarantee(0.0)
    assert (pure.unit, pure.delta) == (m.unit, 0.0)
    epsilons = []
    for delta in (1e-2, 1e-5, 1e-9):
        g = m.guarantee(delta)
        assert g.delta == delta
        assert isinstance(g.exact, bool)
        assert 0.0 <= g.epsilon <= pure.epsilon
        assert math.isinf(g.epsilon) or m.privacy_profile(g.epsilon) <= delta * (1 + 1e-6)
        epsilons.append(g.epsilon)
    assert epsilons == sorted(epsilons)
    finite = [e for e in epsilons if math.isfinite(e)] or [1.0]
    previous = 1.0
    for epsilon in sorted({0.0, 0.1, 1.0, *finite, 2 * max(finite) + 1}):
        delta = m.privacy_profile(epsilon)
        assert 0.0 <= delta <= previous * (1 + 1e-9) + 1e-300
        previous = delta
    assert math.isinf(pure.epsilon) or m.privacy_profile(pure.epsilon) <= 1e-12


def check_worst_records(m: mechanisms.Mechanism) -> None:
    """The worst pair and input lie in the domain and have its shape."""
    for record in (*m.worst_pair(), m.worst_input()):
        assert record.dtype == torch.float64
        assert tuple(record.shape) == m.shape
        assert m.given_domain.excess(record.unsqueeze(0)) <= 1e-9
        assert not m.integer or torch.equal(record, record.round())


def check_likelihood(m: mechanisms.Mechanism) -> None:
    """The ratio is antisymmetric, of shape (batch,), and between the guarantees beside any atom at the worst pair."""
    first, second = m.worst_pair()
    y = m.privatize(first.expand(50, *m.shape).contiguous(), generator("likelihood"))
    try:
        ratio = m.log_likelihood_ratio(y, first, second)
    except InputError:
        return
    assert ratio.shape == (50,)
    assert torch.allclose(ratio, -m.log_likelihood_ratio(y, second, first), rtol=1e-9, atol=1e-9)
    pure = m.guarantee(0.0)
    assert bool((ratio[ratio.isfinite()].abs() <= pure.epsilon_without_atom * (1 + 1e-9) + 1e-9).all())
    assert math.isinf(pure.epsilon) or bool(ratio.isfinite().all())
    # under its own record the ratio is non-negative on average
    assert math.isinf(pure.epsilon) or float(ratio.mean()) >= -5.0 * float(ratio.std().nan_to_num(0.0)) / math.sqrt(50)


CHECKS = (check_release, check_squared_error, check_privacy, check_worst_records, check_likelihood)


def check_input_errors(m: mechanisms.Mechanism, clipping: mechanisms.Mechanism) -> None:
    """Bad inputs are refused in one sentence; `clipping` is the same mechanism with clip=True."""
    x, box, source = records(m, 3), m.given_domain.as_box(), generator("errors")

    def with_first(value: float) -> torch.Tensor:
        changed = x.clone()
        changed.view(-1)[0] = value
        return changed

    def refused(value: Any, *words: str, source: Any = source) -> None:
        with pytest.raises(InputError) as caught:
            m.privatize(value, source)
        assert "\n" not in str(caught.value)
        for word in words:
            assert word in str(caught.value)

    refused(with_first(math.nan), m.name)
    refused(with_first(math.inf), m.name)
    refused(torch.zeros((3, *m.shape, 2)), m.name, "shape")
    refused(torch.zeros((3, *m.shape[:-1], m.shape[-1] + 1)), m.name)
    refused(x.long(), m.name, "floating-point")
    refused(x.half(), m.name, "float32, float64 or bfloat16, got torch.float16")
    refused(None, m.name)
    refused(x, "torch.Generator", source=17)
    outside, inside = with_first(box.high + 3 * box.width), with_first(box.high)
    refused(outside, m.name, "outside", "clip=True")
    assert torch.equal(clipping.privatize(outside, generator("clip")), clipping.privatize(inside, generator("clip")))
    if m.integer:
        refused(torch.full_like(x, box.low + 0.5), "whole numbers")


def check_construction_errors(name: str, shape: tuple[int, ...]) -> None:
    box = mechanisms.Box(*INTEGER_BOXES.get(name, (-1, 1)), shape)
    wrong: dict[str, tuple[object, ...]] = {
        "epsilon": (0.0, -1.0, "one", math.nan, None),
        "delta": (0.0, 1.0, -1e-5, "small", math.nan),
        "domain": ((0, 1),),
        "no_such_option": (1,),
    }
    for argument, values in wrong.items():
        for value in values:
            with pytest.raises(InputError, match=argument.removeprefix("no_such_")):
                mechanisms.make(name, **{"epsilon": 1.0, "domain": box, argument: value})  # type: ignore[arg-type]


def check_audit(m: mechanisms.Mechanism, audit: Callable[..., Any]) -> None:
    """An empirical lower bound at one error in a million never exceeds the guarantee."""
    try:
        found = audit(m, samples=2000, confidence=1 - 1e-6, seed=3, delta=1e-5)
    except InputError:
        return
    assert found.epsilon_lower <= m.guarantee(found.delta).epsilon + 1e-9
