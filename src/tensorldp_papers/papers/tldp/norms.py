"""The exact expected l2 norm of noise with i.i.d. coordinates.

For phi(t) = E exp(-t Z_i^2) it is E ||Z||_2 = (1 / (2 sqrt pi)) Int_0^inf (1 - phi(t)^I) t^(-3/2) dt, which is less
than the root mean square that the sources print in its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import erfcx, gammaln


def _expected_norm(phi: Callable[[float], float], size: int, rms: float) -> float:
    from scipy.integrate import quad

    # t = e^u / rms^2 spreads the integrand over a few units of u
    def integrand(u: float) -> float:
        t = math.exp(u) / rms**2
        value: float = (1.0 - phi(t) ** size) * t**-0.5
        return value

    # below t0 the numerator is rms^2 t, and as computed it is only rounding
    start = -22.0
    total = float(quad(integrand, start, 60.0, limit=2000, epsabs=0.0, epsrel=1e-8, points=[0.0])[0])
    total += 2.0 * rms * math.exp(start / 2.0)
    return total / (2 * math.sqrt(math.pi))


def laplace_norm(scale: float, size: int, atom: float = 0.0) -> float:
    """E ||Z||_2 of `size` coordinates, each 0 with probability `atom` and Lap(0, scale) otherwise."""

    def phi(t: float) -> float:
        u = 1.0 / (2.0 * scale * math.sqrt(t))
        return atom + (1.0 - atom) * math.sqrt(math.pi) * u * float(erfcx(u))

    return _expected_norm(phi, size, scale * math.sqrt(2.0 * size))


def gaussian_norm(sigma: float, size: int, atom: float = 0.0) -> float:
    """E ||Z||_2 of `size` coordinates, each 0 with probability `atom` and N(0, sigma^2) otherwise."""
    if atom == 0.0:
        return sigma * math.sqrt(2.0) * math.exp(float(gammaln((size + 1) / 2) - gammaln(size / 2)))
    return _expected_norm(
        lambda t: atom + (1.0 - atom) / math.sqrt(1.0 + 2.0 * sigma**2 * t), size, sigma * math.sqrt(size)
    )
