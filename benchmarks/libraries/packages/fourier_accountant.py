"""fourier-accountant: sampled Gaussian noise by a Fourier transform."""

from kit import Case, Package

package = Package("fourier-accountant", "0.12.11")


@package.accountant(
    "get_epsilon_R",
    kinds="gaussian",
    sampling=True,
    whole=False,
    says="tight, by numerical approximation",
    where="docstring",
)
def transformed(case: Case) -> float:
    from fourier_accountant import get_epsilon_R

    return float(get_epsilon_R(case.delta, case.noise, case.rate, case.steps))
