"""The lecture's statements about the Laplace mechanism and about gradients (docs/mathematics/papers.md#dp-lecture)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch
from scipy import stats
from scipy.optimize import linprog
from torch import Tensor

from tensorldp.mechanisms import Box, make
from tensorldp.randomness import generator
from tensorldp_papers.attacks.two_layer import SCALINGS, gradient_parts, measured_change, output_weights, unit_records
from tensorldp_papers.claims.base import Finding, claim, not_checkable
from tensorldp_papers.papers.tvg.growth_table import slope

WIDTHS, DIMENSIONS = (100, 200, 400, 800), (20, 40, 80, 160)
ROUNDING, DRAWS = 1e-9, 200_000
TOLERANCE = 0.15  # of a fitted exponent: the largest of 20 random changes at four sizes leaves that much
WEIGHTS = "1/m (mean), +-1/sqrt m (root) and +-1 (sign)"


@claim("L01", expected="pure epsilon = epsilon for a query whose neighbours differ by Delta_f")
def laplace_mechanism() -> Finding:
    worst = max(
        abs(make("laplace", epsilon=e, domain=Box(0, 100, (3,))).curve().pure_epsilon / e - 1) for e in (0.1, 1.0, 10.0)
    )
    return Finding.of(
        worst < 1e-9,
        "relative deviation {relative deviation:.1e} at epsilon 0.1, 1 and 10",
        {"relative deviation": worst},
    )


def _sum_changes(free: int, budget: float, top: float = 100.0) -> float:
    """The most that a sum changes if `free` of its entries in [0, top] move by `budget` in total."""
    least = linprog([-1.0] * free + [1.0] * free, A_ub=[[1.0] * 2 * free], b_ub=[budget], bounds=(0, top)).fun
    assert least is not None  # nothing may move
    return -float(least)


@claim("L02", expected="one number for both, in one reading of the norm", condition_is="reading")
def printed_sensitivity() -> Finding:
    top = 100.0
    printed, one_entry = _sum_changes(5, 1.0), _sum_changes(1, top)
    sets = [np.array(entries) for entries in itertools.product((0.0, top), repeat=3)]
    counted = max(abs(x.sum() - other.sum()) for x in sets for other in sets if (x != other).sum() <= 1)
    true = make("laplace", epsilon=one_entry / printed, domain=Box(0, top, (1,))).curve().pure_epsilon
    far, near = (stats.laplace.sf(top - 0.5, loc=total, scale=printed) for total in (top, 0.0))
    return Finding.of(
        abs(counted - one_entry) < ROUNDING,
        "for the sum of entries in [0, 100] the printed Delta_f is {printed Delta_f:.6g} and one entry changes it by "
        "{change by one entry:.6g}: noise for the former at epsilon 1 is {true epsilon:.0f}-DP, and the sum of (0) "
        "exceeds 99.5 with probability {probability from 0:.1e}, that of (100) with {probability from 100:.3f}",
        {
            "printed Delta_f": printed,
            "change by one entry": one_entry,
            "true epsilon": true,
            "probability from 0": near,
            "probability from 100": far,
        },
        condition="with the norm read as the number of entries that differ, as the words below the formula have it",
    )


@claim("L03", expected="variance 2 b^2, and a smaller pure epsilon for a larger b")
def variance() -> Finding:
    made = [make("laplace", epsilon=e, domain=Box(0, 1, (DRAWS,))) for e in (4.0 * DRAWS, 2.0 * DRAWS, 1.0 * DRAWS)]
    scales = [DRAWS / m.epsilon for m in made]
    ratios = [
        float(m.privatize(torch.zeros(1, DRAWS, dtype=torch.float64), generator("L03")).var()) / (2 * b**2)
        for m, b in zip(made, scales, strict=True)
    ]
    error = 4.9 * math.sqrt(5 / DRAWS)  # 4.9 standard errors of a Laplace sample's variance: 1e-6
    pure = [make("laplace", epsilon=1 / b, domain=Box(0, 1, (1,))).curve().pure_epsilon for b in scales]
    names = [f"pure epsilon of a unit change at b = {b:g}" for b in scales]
    return Finding.of(
        max(abs(ratio - 1) for ratio in ratios) < error and pure == sorted(pure, reverse=True),
        f"variance of {DRAWS:,} draws over 2 b^2: {{variance over 2 b^2:.4f}}, within "
        "{variance over 2 b^2 off 1 once in a million:.4f} of 1 but once in a million; pure epsilon of a unit change "
        f"{', '.join(f'{{{name}:g}}' for name in names)} for b = {', '.join(f'{b:g}' for b in scales)}",
        {"variance over 2 b^2": ratios[0], "variance over 2 b^2 off 1 once in a million": error}
        | dict(zip(names, pure, strict=True)),
    )


def _off(printed: Tensor, exact: Tensor) -> float:
    """How far the printed tensor is from every multiple of the exact one, relative to its norm."""
    factor = float((printed * exact).sum() / (exact * exact).sum())
    return float((printed - factor * exact).norm() / printed.norm())


@claim(
    "L04",
    expected="the printed gradients equal autograd's up to one factor (the 2 of the squared loss)",
    condition_is="slip",
)
def gradients() -> Finding:
    stream = generator("L04")
    w = torch.randn(7, 5, generator=stream, dtype=torch.float64).requires_grad_()
    a = output_weights(7, "root", stream).requires_grad_()
    x, y = unit_records(3, 5, stream)
    hidden = x @ w.T
    (hidden.clamp_min(0) @ a - y).square().sum().backward()
    assert a.grad is not None
    assert w.grad is not None
    z, r = hidden.detach(), (hidden.clamp_min(0) @ a - y).detach()
    of_a, of_w = r @ z.clamp_min(0), torch.einsum("i,ij,id->jd", r, (z > 0).double(), x)  # Eq. 4.4 and 4.6
    corrected = a.detach().unsqueeze(1) * of_w
    exact = max(float((2 * of_a - a.grad).abs().max()), float((2 * corrected - w.grad).abs().max()))
    off = {"Eq. 4.4 off autograd's gradient": _off(of_a, a.grad), "Eq. 4.6 off autograd's gradient": _off(of_w, w.grad)}
    return Finding.of(
        exact < ROUNDING,
        "Eq. 4.4 is {Eq. 4.4 off autograd's gradient:.1e} and Eq. 4.6 {Eq. 4.6 off autograd's gradient:.2f} of its "
        "norm from a multiple of autograd's gradient, because it lacks a_j; with a_j and the factor 2 both are "
        "{both off autograd's gradient with a_j and 2:.1e} away",
        off | {"both off autograd's gradient with a_j and 2": exact},
        condition="with the factor a_j of Eq. 4.3, which Eq. 4.6 lacks" if max(off.values()) >= ROUNDING else "",
    )


@claim("L05", expected="equality for output weights 1/m")
def residual() -> Finding:
    stream = generator("L05")
    w = torch.randn(200, 30, generator=stream, dtype=torch.float64)
    x, _labels = unit_records(2, 30, stream)
    z = (w @ x.T).clamp_min(0)
    printed = float((z[:, 0] - z[:, 1]).mean())
    outputs = output_weights(200, "mean", stream) @ z
    same, other = (float((outputs[0] - 1.0) - (outputs[1] - label)) for label in (1.0, -1.0))
    apart = abs(same - printed)
    return Finding.of(
        apart < 1e-12,
        "{r - r' off the print with one label:.1e} apart while the label stays; for a record with the other label "
        "r - r' is {r - r' with the other label:.2f} and not {printed r - r':.2f}",
        {"r - r' off the print with one label": apart, "r - r' with the other label": other, "printed r - r'": printed},
        condition="while the label stays",
    )


def _slopes(scaling: str) -> tuple[float, float]:
    """Exponents in m (at d = 40) and in d (at m = 200) of the largest l1 change of the whole gradient."""

    def change(m: int, d: int) -> float:
        return sum(measured_change(m, d, scaling, 20, generator("L08", scaling, m, d)))

    return slope(list(WIDTHS), [change(m, 40) for m in WIDTHS]), slope(
        list(DIMENSIONS), [change(200, d) for d in DIMENSIONS]
    )


@claim(
    "L06",
    expected="left over right side at most 1 for all pairs of records, with r of one of the two records",
    condition_is="reading",
)
def output_gradient() -> Finding:
    """With the label kept, as in Eq. 4.7, and with it changed; without the factor 2, which the print lacks too."""
    stream = generator("L06")
    w = torch.randn(50, 30, generator=stream, dtype=torch.float64)
    a = output_weights(50, "mean", stream)
    x, _labels = unit_records(200, 30, stream)
    worst, larger = {}, 0.0
    for words, label in (("with one label", 1.0), ("with the other label", -1.0)):
        ratios = []
        for left, right in zip(x[:100], x[100:], strict=True):
            pair = ((left, 1.0), (right, label))
            first, second = (gradient_parts(w, a, record, y)[0] / 2 for record, y in pair)
            size = (w @ left).clamp_min(0) + (w @ right).clamp_min(0)
            residuals = [abs(float(a @ (w @ record).clamp_min(0)) - y) for record, y in pair]
            seen = size > ROUNDING
            change = float((first - second)[seen].abs().div(size[seen]).max())
            ratios.append(change / residuals[0])
            larger = max(larger, change / max(residuals))
        worst[words] = max(ratios)
    return Finding.of(
        min(larger, *worst.values()) <= 1 + ROUNDING,
        "left over right side up to "
        + " and ".join(f"{{largest left over right side {words}:.2f}} {words}" for words in worst)
        + " with the residual of the first record, and up to "
        "{largest left over right side with the larger residual:.2f} with the larger of the two",
        {f"largest left over right side {words}": ratio for words, ratio in worst.items()}
        | {"largest left over right side with the larger residual": larger},
        condition="with the larger of the two records' residuals" if max(worst.values()) > 1 + ROUNDING else "",
    )


@claim("L07", expected="at most 2 C sqrt d for a constant C, with output weights 1/m")
def neuron_gradient() -> Finding:
    """C is the largest |r a_j s'| over the records, without the factor 2; for weights +-1 it is not constant."""

    def largest(m: int, d: int, scaling: str) -> tuple[float, float]:
        stream = generator("L07", m, d, scaling)
        w, a = torch.randn(m, d, generator=stream, dtype=torch.float64), output_weights(m, scaling, stream)
        x, _labels = unit_records(40, d, stream)
        parts = [gradient_parts(w, a, record, 1.0)[1] / 2 for record in x]
        constant = max(float(part.norm(dim=1).max()) for part in parts)  # ||x||_2 = 1
        change = max(float((p - q).abs().sum(dim=1).max()) for p, q in zip(parts[:20], parts[20:], strict=True))
        return change / (2 * constant * math.sqrt(d)), constant

    ratios = [largest(100, d, "mean")[0] for d in DIMENSIONS]
    growth = {scaling: largest(1600, 40, scaling)[1] / largest(100, 40, scaling)[1] for scaling in SCALINGS}
    return Finding.of(
        max(ratios) <= 1 and growth["mean"] <= 1,
        "change over 2 C sqrt d, at most 1 by construction of C: {least change over 2 C sqrt d:.2f} to "
        "{largest change over 2 C sqrt d:.2f} for d = 20 to 160; from 100 to 1,600 neurons C grows by the factor "
        + ", ".join(f"{{growth of C with output weights {scaling}:.2g}} ({scaling})" for scaling in growth)
        + f" for output weights {WEIGHTS}",
        {"least change over 2 C sqrt d": min(ratios), "largest change over 2 C sqrt d": max(ratios)}
        | {f"growth of C with output weights {scaling}": factor for scaling, factor in growth.items()},
    )


@claim("L08", expected="exponents of at most 1 in m and 1/2 in d, with output weights 1/m as in Eq. 4.7")
def sensitivity() -> Finding:
    powers = {scaling: _slopes(scaling) for scaling in SCALINGS}
    kept = [scaling for scaling, (m, d) in powers.items() if m < 1 + TOLERANCE and d < 0.5 + TOLERANCE]
    return Finding.of(
        "mean" in kept,
        "the largest change grows like "
        + ", ".join(
            f"m^{{power of m, {name} weights:.2f}} d^{{power of d, {name} weights:.2f}} ({name})" for name in powers
        )
        + f" for output weights {WEIGHTS}; the bound holds for {', '.join(kept)} and is far from tight there",
        {f"power of m, {name} weights": m for name, (m, _) in powers.items()}
        | {f"power of d, {name} weights": d for name, (_, d) in powers.items()},
    )


@claim("L09", expected="one of the noise's norms with exponents 1/2 in m, 1 in d and -2 in epsilon")
def noise_size() -> Finding:
    """Laplace noise for the l1 sensitivity m sqrt d on m d coordinates: exponents of four measures of its size."""

    def sizes(m: int, d: int, epsilon: float) -> dict[str, float]:
        count = m * d
        mechanism = make("laplace", epsilon=epsilon, domain=Box(0, m * math.sqrt(d) / count, (count,)))
        total = mechanism.squared_error()
        assert total is not None
        assert abs(mechanism.curve().pure_epsilon / epsilon - 1) < ROUNDING
        deviation = math.sqrt(total / count)
        return {
            "deviation": deviation,
            "variance": total / count,
            "l2 norm": math.sqrt(total),
            "l1 norm": count * deviation / math.sqrt(2),
        }

    base, wide, deep, loose = sizes(100, 10, 1.0), sizes(200, 10, 1.0), sizes(100, 20, 1.0), sizes(100, 10, 2.0)
    doubled = {"m": wide, "d": deep, "epsilon": loose}
    powers = {f"{name}, power of {of}": math.log2(doubled[of][name] / base[name]) for name in base for of in doubled}
    printed = {"m": 0.5, "d": 1.0, "epsilon": -2.0}
    gap = min(max(abs(powers[f"{name}, power of {of}"] - power) for of, power in printed.items()) for name in base)
    return Finding.of(
        gap < 0.01,
        ", ".join(
            f"{name} m^{{{name}, power of m:.1f}} d^{{{name}, power of d:.1f}} epsilon^{{{name}, power of epsilon:.0f}}"
            for name in base
        )
        + "; printed m^0.5 d^1.0 epsilon^-2",
        powers,
    )


def _two_layer_gradient(w: Tensor, a: Tensor, x: Tensor, y: Tensor, *, linear: bool) -> Tensor:
    """Autograd's gradient of sum_i (f(x_i) - y_i)^2 / 2 over W and a, flat."""
    leaves = [w.clone().requires_grad_(), a.clone().requires_grad_()]
    z = x @ leaves[0].T
    loss = ((z if linear else z.clamp_min(0)) @ leaves[1] - y).square().sum() / 2
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, leaves)])


@claim("L10", expected="equal gradients for different records with equal sum r_i x_i, unlike with ReLU")
def linear_network() -> Finding:
    """Rotating the records and their residuals alike keeps sum r_i x_i; labels give the residuals."""
    stream = generator("L10")
    w, a, x = (torch.randn(*shape, generator=stream, dtype=torch.float64) for shape in ((6, 4), (6,), (3, 4)))
    turn = torch.linalg.qr(torch.randn(3, 3, generator=stream, dtype=torch.float64))[0]
    r = torch.randn(3, generator=stream, dtype=torch.float64)
    apart = {}
    for linear in (True, False):
        pair = []
        for records, residuals in ((x, r), (turn @ x, turn @ r)):
            z = records @ w.T
            labels = (z if linear else z.clamp_min(0)) @ a - residuals
            pair.append(_two_layer_gradient(w, a, records, labels, linear=linear))
        apart[linear] = float((pair[0] - pair[1]).norm() / pair[0].norm())
    return Finding.of(
        apart[True] < ROUNDING,
        "batches of three records {distance of the batches:.2f} apart have gradients {gradients apart, linear:.1e} of "
        "their norm apart in a linear network and {gradients apart, ReLU:.2f} with ReLU",
        {"distance of the batches": float((x - turn @ x).norm())}
        | {"gradients apart, linear": apart[True], "gradients apart, ReLU": apart[False]},
    )


not_checkable(
    __name__,
    {
        "L12": (
            "a proof for noisy gradients",
            "NP-hardness is a worst-case statement about inverting deep ReLU networks, not about a defence; no "
            "computation decides it",
        ),
        "L21": ("an opinion", "an opinion; what each epsilon costs and stops is in the study's figure of costs"),
    },
)
