import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import kstest, laplace, norm
from typed import gaussian_mu, make_as

from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.tldp import Tldp, TldpGaussian, TldpLaplace, TldpLaplaceWeighted
from tensorldp.randomness import generator
from tensorldp_papers.papers.tldp.error_table import gaussian_norm, laplace_norm

MNIST = Box(0, 255, (1, 28, 28))
FEATURES = Box(-1, 1, (1280,))
LOG10 = math.log(10.0)


def printed(name: str, epsilon: float, **options: Any) -> Tldp:
    return make_as(Tldp, name, epsilon=epsilon, domain=MNIST, delta_range=256, **options)


@pytest.mark.parametrize(
    ("epsilon", "log_l", "log_g"),
    [
        (0.01, -8.1, -7.1),
        (0.1, -37.7, -37.2),
        (0.5, -173.0, -172.8),
        (1, -342.8, -342.7),
        (10, -3402.2, -3402.7),
        (500, -170026.3, -170027.6),
    ],
)
def test_retention_of_mnist(epsilon: float, log_l: float, log_g: float) -> None:
    assert printed("tldp-l", epsilon).log_retention / LOG10 == pytest.approx(log_l, abs=0.051)
    assert printed("tldp-g", epsilon).log_retention / LOG10 == pytest.approx(log_g, abs=0.051)


@pytest.mark.parametrize(
    ("epsilon", "log_l", "log_g"), [(0.1, -57.1, -56.6), (1, -556.1, -556.0), (10, -5554.2, -5554.7)]
)
def test_retention_of_features(epsilon: float, log_l: float, log_g: float) -> None:
    assert make_as(TldpLaplace, epsilon=epsilon, domain=FEATURES).log_retention / LOG10 == pytest.approx(
        log_l, abs=0.051
    )
    assert make_as(TldpGaussian, epsilon=epsilon, domain=FEATURES).log_retention / LOG10 == pytest.approx(
        log_g, abs=0.051
    )


def test_retention_underflows_and_scalar_case() -> None:
    assert printed("tldp-l", 1.0).retention == 0.0
    m = make_as(TldpLaplace, epsilon=1.0, domain=Box(0, 1, (1,)))
    assert m.retention == pytest.approx(1 / 3)
    assert m.privacy_profile(50.0) == pytest.approx(1 / 3)


def test_norm_oracles() -> None:
    assert laplace_norm(printed("tldp-l", 1).scale, 784) == pytest.approx(10129.03, rel=1e-6)
    assert math.sqrt(printed("tldp-l", 1).squared_error()) == pytest.approx(10137.08, rel=1e-6)
    assert gaussian_norm(printed("tldp-g", 1).scale, 784) == pytest.approx(5066.9, rel=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "of_l", "of_g"), [(0.1, 1.014e5, 1.602e4), (0.5, 2.027e4, 7166), (10, 1014, 1602), (100, 101.4, 506.7)]
)
def test_table5(epsilon: float, of_l: float, of_g: float) -> None:
    assert math.sqrt(printed("tldp-l", epsilon).squared_error()) == pytest.approx(of_l, rel=1e-3)
    assert gaussian_norm(printed("tldp-g", epsilon).scale, 784) == pytest.approx(of_g, rel=1e-3)


def test_table5_gaussian_holds_only_at_one_half() -> None:
    for epsilon, ratio in ((0.5, 1.0), (2.0, 2.0)):
        m = printed("tldp-g", epsilon)
        claimed = 256 / (2 * epsilon) * math.sqrt(784)
        assert math.sqrt(m.squared_error()) / claimed == pytest.approx(ratio, rel=1e-6)


def test_feature_norms() -> None:
    lap, gau = (make_as(Tldp, n, epsilon=1.0, domain=FEATURES) for n in ("tldp-l", "tldp-g"))
    assert laplace_norm(lap.scale, 1280) == pytest.approx(101.1, rel=1e-3)
    assert gaussian_norm(gau.scale, 1280) == pytest.approx(50.59, rel=1e-3)


def test_measured_norm_agrees_with_the_oracle_with_atoms() -> None:
    m = make_as(TldpLaplace, epsilon=0.2, domain=Box(0, 1, (5,)))
    assert m.retention > 0.03
    x = torch.full((200_000, 5), 0.5, dtype=torch.float64)
    norms = (m.privatize(x, generator("norm")) - x).norm(dim=1)
    expected = laplace_norm(m.scale, 5, m.retention)
    assert float(norms.mean()) == pytest.approx(expected, abs=5 * float(norms.std()) / math.sqrt(200_000))
    g = make_as(TldpGaussian, epsilon=0.2, domain=Box(0, 1, (5,)))
    norms = (g.privatize(x, generator("norm")) - x).norm(dim=1)
    expected = gaussian_norm(g.scale, 5, g.retention)
    assert float(norms.mean()) == pytest.approx(expected, abs=5 * float(norms.std()) / math.sqrt(200_000))


@pytest.mark.parametrize(
    ("epsilon", "pure", "approximate", "mu", "of_g"),
    [(0.1, 78.09, 14.81, 12.47, 130.1), (1, 780.9, 380.1, 39.44, 945.2), (10, 7809, 7218, 124.7, 8310)],
)
def test_guarantees_of_mnist(epsilon: float, pure: float, approximate: float, mu: float, of_g: float) -> None:
    m, g = printed("tldp-l", epsilon), printed("tldp-g", epsilon)
    assert m.curve().pure_epsilon == pytest.approx(pure, rel=1e-3)
    assert m.guarantee(1e-5).epsilon == pytest.approx(approximate, rel=2e-3)
    assert g.guarantee(1e-5).epsilon == pytest.approx(of_g, rel=2e-3)
    inner = getattr(g.curve(), "inner", g.curve())
    assert gaussian_mu(inner) == pytest.approx(mu, rel=1e-3)


@pytest.mark.parametrize(("name", "epsilon", "atom"), [("tldp-l", 0.01, 6.09e-6), ("tldp-g", 0.01, 6.87e-5)])
def test_atoms_of_mnist(name: str, epsilon: float, atom: float) -> None:
    m = printed(name, epsilon)
    assert m.curve().atom == pytest.approx(atom, rel=2e-3)
    assert m.guarantee(0.0).epsilon == math.inf


@pytest.mark.parametrize("name", ["tldp-l", "tldp-g", "tldp-l-w", "tldp-g-w"])
@pytest.mark.parametrize("epsilon", [0.001, 0.94, 0.95, 1.0, 10.0, 1e6])
def test_an_element_may_be_kept_at_any_epsilon_and_no_pure_epsilon_covers_that(name: str, epsilon: float) -> None:
    m = make(name, epsilon=epsilon, domain=Box(0, 255, (28, 28)))
    pure, curve = m.guarantee(0.0), m.curve()
    assert pure.epsilon == math.inf
    assert pure.exact or name.endswith("-w")
    noise = 784 * epsilon if "-l" in name else math.inf
    assert pure.epsilon_without_atom == curve.pure_epsilon == pytest.approx(noise, rel=1e-12)
    assert curve.log_atom < 0
    assert curve.atom == pytest.approx(math.exp(curve.log_atom), rel=1e-9, abs=1e-300)
    profile = [m.privacy_profile(e) for e in (0.0, 1.0, 100.0, 1000.0, 1e6, math.inf)]
    assert profile == sorted(profile, reverse=True)
    assert profile[-1] == curve.atom
    compared = m.guarantee(1e-5)
    if math.isfinite(compared.epsilon):
        assert m.privacy_profile(compared.epsilon) <= 1e-5 * (1 + 1e-6)
        assert compared.epsilon_without_atom <= compared.epsilon * (1 + 1e-9)


def test_the_log_of_the_atom_does_not_jump_where_the_retention_underflows() -> None:
    """log a = log(I p) up to a share of a: a smooth function of epsilon on either side of the smallest float."""
    for name in ("tldp-l", "tldp-g-w"):
        for epsilon in (0.94, 0.945, 0.95, 0.955):
            m = make_as(Tldp, name, epsilon=epsilon, domain=Box(0, 255, (28, 28)))
            tolerance = 1e-9 if m.retention > 1e-300 else 1e-3  # a subnormal float holds few digits
            assert m.curve().log_atom == pytest.approx(math.log(784) + m.log_retention, rel=tolerance)


def test_weights_of_one_leave_no_atom() -> None:
    m = make("tldp-l-w", epsilon=1.0, domain=Box(0, 255, (28, 28)), weights=torch.ones(28, 28))
    assert m.guarantee(0.0).epsilon == m.guarantee(0.0).epsilon_without_atom == pytest.approx(784.0)


def test_small_tensors_have_large_atoms() -> None:
    bias = Box(-1, 1, (10,))
    assert make("tldp-l", epsilon=0.1, domain=bias).curve().atom == pytest.approx(0.096, abs=1e-3)
    assert make("tldp-g", epsilon=0.1, domain=bias).curve().atom == pytest.approx(0.30, abs=5e-3)


def test_relabelling_gives_the_laplace_baseline() -> None:
    """docs/mathematics/papers.md#tldp: TLDP-L at epsilon is the Laplace baseline at I epsilon."""
    x = 255 * torch.rand((3, 1, 28, 28), generator=generator("x"))
    for epsilon in (0.5, 1.0, 10.0):
        a = make("tldp-l", epsilon=epsilon, domain=MNIST).privatize(x, generator("relabel"))
        b = make("laplace", epsilon=784 * epsilon, domain=MNIST).privatize(x, generator("relabel"))
        assert torch.allclose(a, b, rtol=1e-6, atol=1e-3)
        a = make("tldp-g", epsilon=epsilon, domain=MNIST).privatize(x, generator("relabel"))
        b = make("gaussian", epsilon=784 * epsilon, domain=MNIST).privatize(x, generator("relabel"))
        assert torch.allclose(a, b, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("name", ["tldp-l", "tldp-g"])
def test_weights_change_nothing_where_atoms_are_negligible(name: str) -> None:
    x = 255 * torch.rand((4, 1, 28, 28), generator=generator("x"))
    plain = make_as(Tldp, name, epsilon=0.5, domain=MNIST)
    weighted = make(f"{name}-w", epsilon=0.5, domain=MNIST)
    assert 784 * plain.retention < 1e-100
    torch.testing.assert_close(  # float32 releases of about 1e5; a weight's rounding may move the last bit
        weighted.privatize(x, generator("w")), plain.privatize(x, generator("w")), rtol=1e-6, atol=1e-3
    )


def test_weights_change_the_atoms() -> None:
    box = Box(0, 1, (4,))
    weights = torch.tensor([0.0, 1.0, 0.5, 0.5])
    m = make_as(TldpLaplaceWeighted, epsilon=0.3, domain=box, weights=weights)
    p = m.retention
    assert m.curve().atom == pytest.approx(1 - (1 - p) * (1 - p / 2) ** 2)
    x = torch.full((200_000, 4), 0.5)
    kept = (m.privatize(x, generator("kept")) == x).double().mean(dim=0)
    for share, w in zip(kept.tolist(), weights.tolist(), strict=True):
        expected = (1 - w) * p
        assert share == pytest.approx(expected, abs=5 * math.sqrt(p / 200_000) + (0 if w < 1 else 1e-5))
    # equal elements share their atom, so that only the differing ones can give a record away
    y = torch.tensor([[0.5, 9.0, 9.0, 9.0]])
    same_first = m.log_likelihood_ratio(y, torch.full((4,), 0.5), torch.tensor([0.5, 0.0, 0.0, 0.0]))
    assert bool(torch.isfinite(same_first).all())
    gives_away = m.log_likelihood_ratio(y, torch.full((4,), 0.5), torch.zeros(4))
    assert float(gives_away) == math.inf


def test_grey_levels_are_the_default_weights() -> None:
    m = make_as(TldpLaplaceWeighted, epsilon=0.2, domain=Box(0, 1, (2,)))
    x = torch.tensor([[0.0, 1.0]]).expand(100_000, 2)
    kept = (m.privatize(x.contiguous(), generator("grey")) == x).double().mean(dim=0)
    assert float(kept[0]) == pytest.approx(m.retention, abs=5 * math.sqrt(m.retention / 1e5))
    assert float(kept[1]) == 0.0


def test_noise_law_without_atoms() -> None:
    m = make("tldp-l", epsilon=1.0, domain=Box(0, 1, (1000,)))
    noise = m.privatize(torch.zeros(200, 1000), generator("law")).numpy().ravel()
    assert kstest(noise, laplace(scale=1.0).cdf).pvalue > 1e-6


def test_gaussian_counterexample() -> None:
    """docs/mathematics/papers.md#tldp: S = (-inf, -3] has ratio 1430 at epsilon 1, more than e."""
    m = make_as(TldpGaussian, epsilon=1.0, domain=Box(0, 1, (1,)))
    ratio = norm.cdf(-3 / m.scale) / norm.cdf(-4 / m.scale)
    assert ratio == pytest.approx(1430, rel=2e-3)


def test_weights_of_the_private_record_make_the_curve_a_bound() -> None:
    """docs/mathematics/curves.md#atoms: for one element, the supremum over all pairs by numerical integration."""
    m = make_as(TldpLaplaceWeighted, epsilon=1.0, domain=Box(0, 1, (1,)))
    y = np.linspace(-40, 41, 400_001)
    density = {x: np.exp(-np.abs(y - x)) / 2 for x in (0.0, 0.25, 0.5, 0.75, 1.0)}  # b = 1

    def profile(epsilon: float, x: float, other: float) -> float:
        mine, his = (1 - (1 - v) * m.retention for v in (x, other))
        rest = np.maximum(mine * density[x] - math.exp(epsilon) * his * density[other], 0.0)
        return (1 - x) * m.retention + float(np.trapezoid(rest, y))

    for epsilon in (0.0, 0.5, 0.9):
        worst = max(profile(epsilon, x, other) for x in density for other in density if x != other)
        assert worst < m.curve().delta(epsilon) - 0.02
    assert not m.curve().exact
    assert make("tldp-l-w", epsilon=1.0, domain=Box(0, 1, (1,)), weights=0.5).curve().exact
    assert make("tldp-l-w", epsilon=1.0, domain=Box(0, 255, (28, 28))).curve().exact  # no atom that a float can show
