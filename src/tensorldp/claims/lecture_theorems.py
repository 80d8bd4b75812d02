"""The lecture's statements about the Laplace mechanism and about gradients (mathematics.md, sections 6.1 to 6.4)."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy import stats

from tensorldp.attacks.sensitivity import SCALINGS, gradient_parts, measured_change, output_weights
from tensorldp.attacks.two_layer import unit_records
from tensorldp.claims.base import Finding, cannot_be_checked, claim
from tensorldp.claims.evidence import Evidence
from tensorldp.mechanisms import Box, make
from tensorldp.randomness import generator

SENSITIVITY = "tests/attacks/test_sensitivity.py"
WIDTHS, DIMENSIONS = (100, 200, 400, 800), (20, 40, 80, 160)


@claim("L01", expected="pure epsilon = epsilon for a query whose neighbours differ by Delta_f")
def laplace_mechanism(_: Evidence) -> Finding:
    worst = max(abs(make("laplace", epsilon=e, domain=Box(0, 100, (3,))).curve().pure_epsilon / e - 1)
                for e in (0.1, 1.0, 10.0))
    return Finding(worst < 1e-9, f"relative deviation {worst:.1e} at epsilon 0.1, 1 and 10",
                   "tests/mechanisms/test_additive.py::test_laplace_is_exactly_epsilon")


@claim("L02", expected="the printed sensitivity of a sum of entries in [0, 100] equals its change by one entry")
def printed_sensitivity(_: Evidence) -> Finding:
    printed, real = 1.0, 100.0  # max over ||x - x'||_1 <= 1, and over one replaced entry
    scale = printed / 1.0
    true = make("laplace", epsilon=real / scale, domain=Box(0, 100, (1,))).curve().pure_epsilon
    far, near = stats.laplace.sf(99.5, loc=100, scale=scale), stats.laplace.sf(99.5, loc=0, scale=scale)
    return Finding(printed == real, f"noise for the printed Delta_f = 1 at epsilon 1 is {true:.0f}-DP: the sum of (0) "
                   f"exceeds 99.5 with probability {near:.1e}, that of (100) with {far:.3f}",
                   "tests/mechanisms/test_additive.py::test_laplace_event_probabilities")


@claim("L03", expected="variance 2 b^2, and a guarantee that improves with b")
def variance(_: Evidence) -> Finding:
    found = {e: make("laplace", epsilon=e, domain=Box(0, 1, (1,))) for e in (4.0, 2.0, 1.0)}
    errors = [m.squared_error() for m in found.values()]
    exact = [2 / e**2 for e in found]
    pure = [m.curve().pure_epsilon for m in found.values()]
    gap = max(abs(a / b - 1) for a, b in zip(errors, exact, strict=True) if a is not None)
    return Finding(gap < 1e-9 and pure == sorted(pure, reverse=True), f"variance over 2 b^2 deviates by {gap:.1e}; "
                   f"pure epsilon {pure} for b = 0.25, 0.5, 1", "tests/mechanisms/test_contract.py")


@claim("L04", expected="the printed gradients times the factor 2 of the squared loss equal autograd's")
def gradients(_: Evidence) -> Finding:
    stream = generator("L04")
    w = torch.randn(7, 5, generator=stream, dtype=torch.float64).requires_grad_()
    a = output_weights(7, "root", stream).requires_grad_()
    x, _labels = unit_records(1, 5, stream)
    (a @ (w @ x[0]).clamp_min(0) - 1.0).square().backward()
    ours = gradient_parts(w.detach(), a.detach(), x[0], 1.0)
    assert a.grad is not None
    assert w.grad is not None
    gap = max(float((ours[0] - a.grad).abs().max()), float((ours[1] - w.grad).abs().max()))
    without = float((ours[1] / 2 - w.grad).abs().max())
    return Finding(gap < 1e-12, f"{gap:.1e} from autograd with the factor 2 and with a_j in the gradient of w_j; "
                   f"{without:.2g} as printed, without the factor", f"{SENSITIVITY}")


@claim("L05", expected="equality for output weights 1/m")
def residual(_: Evidence) -> Finding:
    stream = generator("L05")
    w = torch.randn(200, 30, generator=stream, dtype=torch.float64)
    x, _labels = unit_records(2, 30, stream)
    z = (w @ x.T).clamp_min(0)
    printed = float((z[:, 0] - z[:, 1]).mean())
    outputs = output_weights(200, "mean", stream) @ z
    same, other = ((outputs[0] - 1.0) - (outputs[1] - label) for label in (1.0, -1.0))
    return Finding(abs(float(same) - printed) < 1e-12, f"{abs(float(same) - printed):.1e} apart while the label stays; "
                   f"for a record with the other label r - r' is {float(other):.2f} and not {printed:.2f}", SENSITIVITY)


def _slopes(scaling: str, part: int) -> tuple[float, float]:
    """Exponents in m (at d = 40) and in d (at m = 200) of a part (0: a, 1: w, 2: both) of the largest l1 change."""
    def change(m: int, d: int) -> float:
        found = measured_change(m, d, scaling, 20, generator("L08", scaling, m, d))
        return sum(found) if part == 2 else found[part]

    by_m = np.polyfit(np.log(WIDTHS), np.log([change(m, 40) for m in WIDTHS]), 1)[0]
    by_d = np.polyfit(np.log(DIMENSIONS), np.log([change(200, d) for d in DIMENSIONS]), 1)[0]
    return float(by_m), float(by_d)


@claim("L06", expected="|G(a_j) - G(a_j')| <= |r| (|s(w_j x)| + |s(w_j x')|) for all records")
def output_gradient(_: Evidence) -> Finding:
    stream, ratios = generator("L06"), []
    w = torch.randn(50, 30, generator=stream, dtype=torch.float64)
    a = output_weights(50, "mean", stream)
    x, _labels = unit_records(200, 30, stream)
    for left, right, label in zip(x[:100], x[100:], [1.0, -1.0] * 50, strict=True):
        (first, _w), (second, _v) = gradient_parts(w, a, left, 1.0), gradient_parts(w, a, right, label)
        size = (w @ left).clamp_min(0) + (w @ right).clamp_min(0)
        residual_ = abs(float(a @ (w @ left).clamp_min(0)) - 1.0)
        both = size > 1e-9
        ratios.append(float(((first - second).abs() / 2)[both].div(residual_ * size[both]).max()))
    return Finding(max(ratios) <= 1, f"left over right side up to {max(ratios):.2f}, without the factor 2 that the "
                   "print lacks too: the residual changes with the record, so it needs the larger of the two",
                   SENSITIVITY)


@claim("L07", expected="at most 2 C sqrt d with a constant C, for one neuron with |a_j| <= 1")
def neuron_gradient(_: Evidence) -> Finding:
    """2 |r| |a_j| ||x||_1 <= 2 |r| sqrt d; the largest ratio over random records, with C the largest residual."""
    stream, ratios = generator("L07"), []
    for d in DIMENSIONS:
        w = torch.randn(50, d, generator=stream, dtype=torch.float64)
        a = output_weights(50, "mean", stream)
        x, _labels = unit_records(40, d, stream)
        for record in x:
            most = float(gradient_parts(w, a, record, 1.0)[1].abs().sum(dim=1).max())
            residual_ = abs(float(a @ (w @ record).clamp_min(0)) - 1.0)
            ratios.append(most / (2 * residual_ * math.sqrt(d)))
    return Finding(max(ratios) <= 1, f"largest l1 norm over 2 |r| sqrt d: {max(ratios):.4f}", SENSITIVITY)


@claim("L08", expected="exponents of at most 1 in m and 1/2 in d for every scaling of the output weights")
def sensitivity(_: Evidence) -> Finding:
    found = {scaling: _slopes(scaling, 2) for scaling in SCALINGS}
    words = ", ".join(f"m^{m:.2f} d^{d:.2f} ({scaling})" for scaling, (m, d) in found.items())
    return Finding(all(m < 1.15 and d < 0.65 for m, d in found.values()), f"measured growth {words}: the bound holds "
                   "and is loose where the weights sum to at most m and residuals stay bounded, not for weights of +-1",
                   SENSITIVITY)


@claim("L09", expected="noise of norm d sqrt m / epsilon^2 for Delta = m sqrt d")
def noise_size(_: Evidence) -> Finding:
    """sqrt 2 Delta / epsilon per coordinate on m d coordinates."""
    def norm(m: int, d: int, e: float) -> float:
        return math.sqrt(m * d) * math.sqrt(2) * m * math.sqrt(d) / e

    powers = [math.log(norm(200, 10, 1) / norm(100, 10, 1), 2), math.log(norm(100, 20, 1) / norm(100, 10, 1), 2),
              math.log(norm(100, 10, 2) / norm(100, 10, 1), 2)]
    gap = max(abs(a - b) for a, b in zip(powers, (0.5, 1.0, -2.0), strict=True))
    return Finding(gap < 0.01, f"the l2 norm is m^{powers[0]:.1f} d^{powers[1]:.1f} epsilon^{powers[2]:.0f}; printed "
                   "are exponents 0.5, 1 and -2", "tensorldp.claims.lecture_theorems.noise_size")


@claim("L10", expected="gradients of a linear network that depend on the data through sum r_i x_i alone")
def linear_network(_: Evidence) -> Finding:
    """Two batches with the same sum of r_i x_i and different records."""
    stream = generator("L10")
    w = torch.randn(6, 4, generator=stream, dtype=torch.float64)
    a = torch.randn(6, generator=stream, dtype=torch.float64)
    x = torch.randn(3, 4, generator=stream, dtype=torch.float64)
    r = torch.randn(3, generator=stream, dtype=torch.float64)
    turn = torch.linalg.qr(torch.randn(3, 3, generator=stream, dtype=torch.float64))[0]
    other_x, other_r = turn @ x, turn @ r  # another batch with the same sum
    grads = [(w @ (s @ z), torch.outer(a, s @ z)) for s, z in ((r, x), (other_r, other_x))]
    gap = max(float((p - q).abs().max()) for p, q in zip(*grads, strict=True))
    apart = float((x - other_x).norm())
    return Finding(gap < 1e-12 < apart, f"two batches {apart:.2f} apart have gradients {gap:.1e} apart, of rank one",
                   "tests/attacks/test_tensor_attack.py")


@claim("L12", expected="a proof for noisy gradients")
def hardness(_: Evidence) -> Finding:
    return cannot_be_checked("NP-hardness is a worst-case statement about inverting deep ReLU networks, not about a "
                             "defence; no computation decides it")


@claim("L20", expected="no bound for pruning")
def pruning(_: Evidence) -> Finding:
    return cannot_be_checked("the lecture gives no bound to compare with; the study measures pruning beside the others")


@claim("L21", expected="an opinion")
def impractical(_: Evidence) -> Finding:
    return cannot_be_checked("an opinion; what each epsilon costs and stops is in the study's trade-off figure")
