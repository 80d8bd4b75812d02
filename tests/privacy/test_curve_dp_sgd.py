"""DP-SGD accounting against numbers computed apart from the code."""

import math

import pytest
from scipy.special import gammaln, logsumexp

from tensorldp.curves.dp_sgd import DpSgdCurve, noise_multiplier_for
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError


def moments(z: float, q: float, steps: int, delta: float) -> float:
    """The moments accountant of Abadi et al. at integer orders, with the classical conversion."""

    def renyi(a: int) -> float:
        terms = [
            gammaln(a + 1)
            - gammaln(k + 1)
            - gammaln(a - k + 1)
            + (a - k) * math.log1p(-q)
            + k * math.log(q)
            + k * (k - 1) / (2 * z * z)
            for k in range(a + 1)
        ]
        return logsumexp(terms) / (a - 1)

    return min(steps * renyi(a) + math.log(1 / delta) / (a - 1) for a in range(2, 256))


@pytest.mark.parametrize(
    ("z", "q", "steps", "classical"),
    [(4.0, 0.01, 10_000, 1.2586), (1.3, 256 / 60000, 4687, 1.3497), (0.7, 256 / 60000, 16406, 8.948)],
)
def test_oracles(z: float, q: float, steps: int, classical: float) -> None:
    assert moments(z, q, steps, 1e-5) == pytest.approx(classical, rel=1e-3)
    by_rdp = DpSgdCurve(z, q, steps, "rdp").epsilon(1e-5)
    assert DpSgdCurve(z, q, steps).epsilon(1e-5) < by_rdp < classical


def test_improved_conversion() -> None:
    assert DpSgdCurve(4.0, 0.01, 10_000, "rdp").epsilon(1e-5) == pytest.approx(1.0355, abs=1e-4)


@pytest.mark.parametrize(("z", "target", "epochs"), [(8.0, 0.5, 67), (4.0, 2.0, 246), (2.0, 8.0, 728)])
def test_epochs_until(z: float, target: float, epochs: int) -> None:
    assert moments(z, 0.01, 100 * epochs, 1e-5) <= target < moments(z, 0.01, 100 * (epochs + 1), 1e-5)


def test_full_lots_are_the_gaussian_mechanism() -> None:
    curve = DpSgdCurve(2.0, 1.0, 16)
    assert curve.epsilon(1e-5) == pytest.approx(GaussianCurve(2.0).epsilon(1e-5), rel=1e-12)
    assert curve.delta(1.0) == pytest.approx(GaussianCurve(2.0).delta(1.0), rel=1e-12)


def test_noise_multiplier_inverts() -> None:
    z = noise_multiplier_for(2.0, 1e-5, 0.02, 500, "rdp")
    found = DpSgdCurve(z, 0.02, 500, "rdp").epsilon(1e-5)
    assert 1.99 < found <= 2.0


def test_composition_and_bad_arguments() -> None:
    assert DpSgdCurve(1.0, 0.1, 5).compose(3) == DpSgdCurve(1.0, 0.1, 15)
    assert DpSgdCurve(1.0, 0.1, 5).epsilon(0.0) == math.inf
    for arguments in ((0.0, 0.1, 5), (1.0, 0.0, 5), (1.0, 1.1, 5), (1.0, 0.1, 0), (1.0, 0.1, 5, "moments")):
        with pytest.raises(InputError):
            DpSgdCurve(*arguments)
