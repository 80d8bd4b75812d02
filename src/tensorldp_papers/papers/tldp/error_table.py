"""TLDP's Table 5 three times: as printed, as the mechanisms' own noise laws give it, and measured.

The laws give the exact expected l2 norm of noise with i.i.d. coordinates: for phi(t) = E exp(-t Z_i^2) it is
E ||Z||_2 = (1 / (2 sqrt pi)) Int_0^inf (1 - phi(t)^I) t^(-3/2) dt, which is less than the root mean square that the
sources print instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log, pi, sqrt
from typing import Any

import pandas as pd
from scipy.special import erfcx, gammaln

from tensorldp.deltas import REPORT_DELTA
from tensorldp.mechanisms import Box, Mechanism, make, mechanism_class
from tensorldp.mechanisms.additive_noise import GAUSSIAN, LAPLACE, AdditiveNoise
from tensorldp.randomness import generator


def _expected_norm(phi: Callable[[float], float], size: int, rms: float) -> float:
    from scipy.integrate import quad

    # t = e^u / rms^2 spreads the integrand over a few units of u
    def integrand(u: float) -> float:
        t = exp(u) / rms**2
        value: float = (1.0 - phi(t) ** size) * t**-0.5
        return value

    # below t0 the numerator is rms^2 t, and as computed it is only rounding
    start = -22.0
    total = float(quad(integrand, start, 60.0, limit=2000, epsabs=0.0, epsrel=1e-8, points=[0.0])[0])
    total += 2.0 * rms * exp(start / 2.0)
    return total / (2 * sqrt(pi))


def laplace_norm(scale: float, size: int, atom: float = 0.0) -> float:
    """Computes E ||Z||_2 of `size` coordinates, each 0 with probability `atom` and Lap(0, scale) otherwise."""

    def phi(t: float) -> float:
        u = 1.0 / (2.0 * scale * sqrt(t))
        return atom + (1.0 - atom) * sqrt(pi) * u * float(erfcx(u))

    return _expected_norm(phi, size, scale * sqrt(2.0 * size))


def gaussian_norm(sigma: float, size: int, atom: float = 0.0) -> float:
    """Computes E ||Z||_2 of `size` coordinates, each 0 with probability `atom` and N(0, sigma^2) otherwise."""
    if atom == 0.0:
        return sigma * sqrt(2.0) * exp(float(gammaln((size + 1) / 2) - gammaln(size / 2)))
    return _expected_norm(lambda t: atom + (1.0 - atom) / sqrt(1.0 + 2.0 * sigma**2 * t), size, sigma * sqrt(size))


@dataclass(frozen=True)
class Setting:
    """A kind of record of TLDP's experiments and the Delta that its noise is computed with."""

    name: str
    box: Box
    delta_range: float


SETTINGS = (
    Setting("images 28x28, values 0 to 255", Box(0.0, 255.0, (28, 28)), 256.0),
    Setting("features 32x40, values -1 to 1", Box(-1.0, 1.0, (32, 40)), 2.0),
)
EPSILONS = (0.1, 0.5, 1.0, 10.0, 100.0)

# Table 5 by Delta, I (the number of elements), I_1 (that of rows), epsilon and the probability to keep an element
PRINTED: dict[str, Callable[[float, int, int, float, float], float]] = {
    "laplace": lambda delta, size, rows, epsilon, keep: delta / epsilon * size * sqrt(2 * size),
    "gaussian": lambda delta, size, rows, epsilon, keep: delta / (2 * epsilon) * size * sqrt(size),
    "mvg": lambda delta, size, rows, epsilon, keep: (
        delta * rows * size * sqrt(size) / (sqrt(2) * epsilon) * log(rows + 1) ** 2
    ),
    "idn": lambda delta, size, rows, epsilon, keep: delta * size * sqrt(size) / (sqrt(2) * epsilon),
    "dphsgd": lambda delta, size, rows, epsilon, keep: delta / epsilon * size * sqrt(2 * size),  # times C = 1
    "tldp-l": lambda delta, size, rows, epsilon, keep: delta / epsilon * sqrt(2 * (1 - keep) * size),
    "tldp-g": lambda delta, size, rows, epsilon, keep: delta / (2 * epsilon) * sqrt((1 - keep) * size),
}
NORMS = {LAPLACE: laplace_norm, GAUSSIAN: gaussian_norm}


def expected_norm(mechanism: Mechanism) -> float:
    """Computes E ||Z||_2, exact for i.i.d. noise with or without kept elements, else as of i.i.d. Gaussian noise."""
    if isinstance(mechanism, AdditiveNoise):
        return NORMS[mechanism.law](mechanism.scale, mechanism.size, mechanism.retention)
    error = mechanism.squared_error()
    assert error is not None
    return gaussian_norm(sqrt(error / mechanism.size), mechanism.size)


def measured_norm(mechanism: Mechanism, draws: int, seed: int) -> tuple[float, float]:
    """Measures the mean of ||M(x) - x||_2 over independent draws at x = the box's centre, and its standard error."""
    box = mechanism.domain.as_box()
    x = box.constant(box.centre).expand(draws, *box.shape)
    norms = mechanism.privatize(x, generator("error table", mechanism.name, mechanism.epsilon, seed)) - x
    norms = norms.reshape(draws, -1).norm(dim=1)
    return float(norms.mean()), float(norms.std()) / sqrt(draws)


def error_table(draws: int = 400, seed: int = 0) -> pd.DataFrame:
    """Tabulates Table 5, one row per setting, mechanism and epsilon.

    Columns: status (how sure the mechanism itself is), printed (Table 5), corrected (E ||Z||_2 of the mechanism as
    its own theorem defines it), measured and its standard error, printed_over_corrected, and the guarantee of the
    whole record at delta 1e-5. Unit: the data's.
    """
    rows: list[dict[str, Any]] = []
    for setting in SETTINGS:
        for name, formula in PRINTED.items():
            for epsilon in EPSILONS:
                stated = "delta_range" in mechanism_class(name).options()
                options = {"delta_range": setting.delta_range} if stated else {}
                mechanism = make(name, epsilon=epsilon, domain=setting.box, **options)
                keep = mechanism.retention if isinstance(mechanism, AdditiveNoise) else 0.0
                printed = formula(setting.delta_range, setting.box.size, setting.box.shape[0], epsilon, keep)
                corrected = expected_norm(mechanism)
                mean, error = measured_norm(mechanism, draws, seed)
                rows.append(
                    {
                        "setting": setting.name,
                        "mechanism": name,
                        "status": mechanism.status,
                        "epsilon": epsilon,
                        "printed": printed,
                        "corrected": corrected,
                        "measured": mean,
                        "standard_error": error,
                        "printed_over_corrected": printed / corrected,
                        "guarantee_epsilon": mechanism.guarantee(REPORT_DELTA).epsilon,
                    }
                )
    return pd.DataFrame(rows)
