"""E ||Z||_2 of i.i.d. coordinates by mathematics.md 1.4: (1 / (2 sqrt pi)) Int (1 - phi(t)^I) t^(-3/2) dt."""

import math

from scipy.integrate import quad
from scipy.special import erfcx, gammaln


def _expected_norm(phi, size, rms):
    # t = e^u / rms^2 spreads the integrand over a few units of u
    def integrand(u):
        t = math.exp(u) / rms**2
        return (1.0 - phi(t) ** size) * t**-0.5

    # below t0 the numerator is rms^2 t, and as computed it is only rounding
    start = -22.0
    total = quad(integrand, start, 60.0, limit=2000, epsabs=0.0, epsrel=1e-8, points=[0.0])[0]
    total += 2.0 * rms * math.exp(start / 2.0)
    return total / (2 * math.sqrt(math.pi))


def laplace_norm(scale, size, atom=0.0):
    def phi(t):
        u = 1.0 / (2.0 * scale * math.sqrt(t))
        return atom + (1.0 - atom) * math.sqrt(math.pi) * u * float(erfcx(u))

    return _expected_norm(phi, size, scale * math.sqrt(2.0 * size))


def gaussian_norm(sigma, size, atom=0.0):
    if atom == 0.0:
        return sigma * math.sqrt(2.0) * math.exp(float(gammaln((size + 1) / 2) - gammaln(size / 2)))
    return _expected_norm(lambda t: atom + (1.0 - atom) / math.sqrt(1.0 + 2.0 * sigma**2 * t), size,
                          sigma * math.sqrt(size))
