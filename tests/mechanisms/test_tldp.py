import math

import numpy as np
import pytest
import torch
from exact_laws import check_law, check_mean, releases
from scipy.stats import laplace, norm
from typed import gaussian_mu, make_as

from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.curves.product import ProductCurve
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.tldp import Tldp, TldpGaussian, TldpLaplace, TldpLaplaceWeighted
from tensorldp.randomness import generator
from tensorldp_papers.papers.tldp.error_table import gaussian_norm, laplace_norm

MNIST, BYTES = Box(0, 255, (1, 28, 28)), Box(0, 255, (28, 28))
FEATURES, BIAS, UNIT = Box(-1, 1, (1280,)), Box(-1, 1, (10,)), Box(0, 1, (1,))


def tldp(name: str, epsilon: float, domain: Box = MNIST) -> Tldp:
    """As the paper prints it, with Delta = 256 for bytes."""
    return make_as(Tldp, name, epsilon=epsilon, domain=domain, **({"delta_range": 256} if domain is MNIST else {}))


@pytest.mark.parametrize(
    ("epsilon", "domain", "log_l", "log_g"),
    [
        (0.01, MNIST, -8.1, -7.1),
        (1, MNIST, -342.8, -342.7),
        (500, MNIST, -170026.3, -170027.6),
        (0.1, FEATURES, -57.1, -56.6),
        (10, FEATURES, -5554.2, -5554.7),
    ],
)
def test_retention_of_mnist(epsilon: float, domain: Box, log_l: float, log_g: float) -> None:
    for name, expected in (("tldp-l", log_l), ("tldp-g", log_g)):
        assert tldp(name, epsilon, domain).log_retention / math.log(10) == pytest.approx(expected, abs=0.051)


def test_retention_underflows_and_scalar_case() -> None:
    assert tldp("tldp-l", 1.0).retention == 0.0
    m = make_as(TldpLaplace, epsilon=1.0, domain=UNIT)
    assert (m.retention, m.privacy_profile(50.0)) == pytest.approx((1 / 3, 1 / 3))


def test_feature_norms() -> None:
    lap, gau = tldp("tldp-l", 1.0, FEATURES).scale, tldp("tldp-g", 1.0, FEATURES).scale
    assert (laplace_norm(lap, 1280), gaussian_norm(gau, 1280)) == pytest.approx((101.1, 50.59), rel=1e-3)


def test_noise_has_its_law_and_its_norm_with_atoms() -> None:
    m = make("tldp-l", epsilon=1.0, domain=Box(0, 1, (1000,)))
    check_law(releases(m, torch.tensor(0.0), 50, dtype=torch.float32), laplace(scale=1.0).cdf)
    for name, expected in (("tldp-l", laplace_norm), ("tldp-g", gaussian_norm)):
        kept = tldp(name, 0.2, Box(0, 1, (5,)))
        assert kept.retention > 0.03
        noise = releases(kept, torch.tensor(0.5), 100_000) - 0.5
        check_mean(noise.norm(dim=1), expected(kept.scale, 5, kept.retention))


@pytest.mark.parametrize(
    ("epsilon", "pure", "approximate", "mu", "of_g"),
    [(0.1, 78.09, 14.81, 12.47, 130.1), (1, 780.9, 380.1, 39.44, 945.2), (10, 7809, 7218, 124.7, 8310)],
)
def test_guarantees_of_mnist(epsilon: float, pure: float, approximate: float, mu: float, of_g: float) -> None:
    m, g = tldp("tldp-l", epsilon), tldp("tldp-g", epsilon)
    assert m.curve().pure_epsilon == pytest.approx(pure, rel=1e-3)
    assert m.guarantee(1e-5).epsilon == pytest.approx(approximate, rel=2e-3)
    assert g.guarantee(1e-5).epsilon == pytest.approx(of_g, rel=2e-3)
    assert gaussian_mu(getattr(g.curve(), "inner", g.curve())) == pytest.approx(mu, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "epsilon", "domain", "atom", "digits"),
    [
        ("tldp-l", 0.01, MNIST, 6.09e-6, 2e-3),
        ("tldp-g", 0.01, MNIST, 6.87e-5, 2e-3),
        ("tldp-l", 0.1, BIAS, 0.096, 0.01),  # small tensors have large atoms
        ("tldp-g", 0.1, BIAS, 0.30, 0.017),
    ],
)
def test_atoms(name: str, epsilon: float, domain: Box, atom: float, digits: float) -> None:
    assert tldp(name, epsilon, domain).curve().atom == pytest.approx(atom, rel=digits)
    assert tldp(name, epsilon, domain).guarantee(0.0).epsilon == math.inf


@pytest.mark.parametrize("name", ["tldp-l", "tldp-g", "tldp-l-w", "tldp-g-w"])
@pytest.mark.parametrize("epsilon", [0.001, 0.94, 0.945, 0.95, 0.955, 1e6])
def test_an_element_may_be_kept_at_any_epsilon_and_no_pure_epsilon_covers_that(name: str, epsilon: float) -> None:
    m = tldp(name, epsilon, BYTES)
    pure, curve = m.guarantee(0.0), m.curve()
    assert pure.epsilon == math.inf
    assert pure.exact or name.endswith("-w")
    noise = 784 * (epsilon - (math.log1p(-m.retention) if "-w" in name else 0.0)) if "-l" in name else math.inf
    assert pure.epsilon_without_atom == curve.pure_epsilon == pytest.approx(noise, rel=1e-12)
    assert curve.log_atom < 0
    assert curve.atom == pytest.approx(math.exp(curve.log_atom), rel=1e-9, abs=1e-300)
    if epsilon > 0.9:  # log(I p) up to a share of a, on either side of where the retention underflows
        tolerance = 1e-9 if m.retention > 1e-300 else 1e-3  # a subnormal float holds few digits
        assert curve.log_atom == pytest.approx(math.log(784) + m.log_retention, rel=tolerance)
    profile = [m.privacy_profile(e) for e in (0.0, 1.0, 100.0, 1000.0, 1e6, math.inf)]
    assert profile == sorted(profile, reverse=True)
    assert profile[-1] == curve.atom
    compared = m.guarantee(1e-5)
    assert math.isinf(compared.epsilon) or compared.epsilon_without_atom <= compared.epsilon * (1 + 1e-9)


def test_relabelling_gives_the_laplace_baseline() -> None:
    """docs/mathematics/papers.md#tldp: TLDP-L at epsilon is the Laplace baseline at I epsilon."""
    x = 255 * torch.rand((3, 28, 28), generator=generator("x"))
    for name, baseline in (("tldp-l", "laplace"), ("tldp-g", "gaussian")):
        for epsilon in (0.5, 10.0):
            a = tldp(name, epsilon, BYTES).privatize(x, generator("relabel"))
            b = make(baseline, epsilon=784 * epsilon, domain=BYTES).privatize(x, generator("relabel"))
            assert torch.allclose(a, b, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("name", ["tldp-l", "tldp-g"])
def test_weights_change_nothing_where_atoms_are_negligible(name: str) -> None:
    x = 255 * torch.rand((4, 28, 28), generator=generator("x"))
    plain, weighted = tldp(name, 0.5, BYTES), tldp(f"{name}-w", 0.5, BYTES)
    assert 784 * plain.retention < 1e-100
    torch.testing.assert_close(  # float32 releases of about 1e5; a weight's rounding may move the last bit
        weighted.privatize(x, generator("w")), plain.privatize(x, generator("w")), rtol=1e-6, atol=1e-3
    )


def test_weights_change_the_atoms() -> None:
    weights = torch.tensor([0.0, 1.0, 0.5, 0.5])
    m = make_as(TldpLaplaceWeighted, epsilon=0.3, domain=Box(0, 1, (4,)), weights=weights)
    p = m.retention
    assert m.curve().atom == pytest.approx(1 - (1 - p) * (1 - p / 2) ** 2)
    kept = (releases(m, torch.tensor(0.5), 100_000, dtype=torch.float32) == 0.5).double()
    assert float(kept[:, 1].mean()) < 1e-4  # noise may round to nothing
    check_mean(kept[:, weights < 1], (1 - weights[weights < 1]) * p)
    # equal elements share their atom, so that only the differing ones can give a record away
    y, half = torch.tensor([[0.5, 9.0, 9.0, 9.0]]), torch.full((4,), 0.5)
    assert math.isfinite(m.log_likelihood_ratio(y, half, torch.tensor([0.5, 0.0, 0.0, 0.0])))
    assert float(m.log_likelihood_ratio(y, half, torch.zeros(4))) == math.inf
    without = make("tldp-l-w", epsilon=1.0, domain=BYTES, weights=torch.ones(28, 28)).guarantee(0.0)
    assert without.epsilon == without.epsilon_without_atom == pytest.approx(784.0)
    grey, x = tldp("tldp-l-w", 0.2, Box(0, 1, (2,))), torch.tensor([0.0, 1.0])  # the levels are the default weights
    kept = (releases(grey, x, 100_000, dtype=torch.float32) == x).double()
    check_mean(kept[:, 0], grey.retention)
    assert float(kept[:, 1].mean()) == 0.0


def test_gaussian_counterexample() -> None:
    """docs/mathematics/papers.md#tldp: S = (-inf, -3] has ratio 1430 at epsilon 1, more than e."""
    m = make_as(TldpGaussian, epsilon=1.0, domain=UNIT)
    assert norm.cdf(-3 / m.scale) / norm.cdf(-4 / m.scale) == pytest.approx(1430, rel=2e-3)


@pytest.mark.parametrize(("size", "epsilon", "largest"), [(1, 0.3, 0.43976), (8, 0.3, 2.5456)])
def test_what_is_not_kept_tells_weights_of_the_private_record(size: int, epsilon: float, largest: float) -> None:
    """docs/mathematics/curves.md#atoms: I (epsilon - ln(1 - p)), a record that keeps nothing against one of zeros."""
    m, white = tldp("tldp-l-w", epsilon, Box(0, 1, (size,))), torch.ones(size)
    ratio = float(m.log_likelihood_ratio(2 * white.expand(1, size), white, 0 * white))
    without = m.guarantee(0.0).epsilon_without_atom
    assert (ratio, without) == pytest.approx((largest, ratio), rel=1e-4)
    for curve in (m.curve().compose(3), ProductCurve(((m.curve(), 1), (m.curve().compose(2), 1)))):
        assert (curve.pure_epsilon, curve.epsilon_without_atom(0.0)) == pytest.approx((3 * ratio, 3 * ratio), rel=1e-9)
        assert curve.epsilon_without_atom(0.01) == pytest.approx(
            3 * (ratio - size * epsilon) + LaplaceCurve(epsilon, 3 * size).epsilon(0.01), rel=1e-6
        )
        assert not curve.exact
    public = make("tldp-l-w", epsilon=epsilon, domain=Box(0, 1, (size,)), weights=0.5).guarantee(0.0)
    assert public.epsilon_without_atom == pytest.approx(size * epsilon)


def test_weights_of_the_private_record_make_the_curve_a_bound() -> None:
    """docs/mathematics/curves.md#atoms: for one element, the supremum over all pairs by numerical integration."""
    m = make_as(TldpLaplaceWeighted, epsilon=1.0, domain=UNIT)
    y = np.linspace(-40, 41, 40_001)
    density = {x: np.exp(-np.abs(y - x)) / 2 for x in (0.0, 0.25, 0.5, 0.75, 1.0)}  # b = 1

    def profile(epsilon: float, x: float, other: float) -> float:
        mine, his = (1 - (1 - v) * m.retention for v in (x, other))
        rest = np.maximum(mine * density[x] - math.exp(epsilon) * his * density[other], 0.0)
        return (1 - x) * m.retention + float(np.trapezoid(rest, y))

    for epsilon in (0.0, 0.5, 0.9):
        worst = max(profile(epsilon, x, other) for x in density for other in density if x != other)
        assert worst < m.curve().delta(epsilon) - 0.02
    assert not m.curve().exact
    assert make("tldp-l-w", epsilon=1.0, domain=UNIT, weights=0.5).curve().exact
    assert make("tldp-l-w", epsilon=1.0, domain=BYTES).curve().exact  # no atom that a float can show
