"""prv-accountant: numerical composition with error bounds."""

from typing import Any

from kit import Case, Package

package = Package("prv-accountant", "0.2.0")


def upper(one: Any, case: Case) -> float:
    """The upper bound of its three numbers, at its suggested errors."""
    from prv_accountant import PRVAccountant

    accountant = PRVAccountant([one], max_self_compositions=[case.steps], eps_error=0.01, delta_error=case.delta / 1000)
    return float(accountant.compute_epsilon(case.delta, [case.steps])[2])


@package.accountant(
    "PoissonSubsampledGaussianMechanism", kinds="gaussian", sampling=True, says="an upper bound to 0.01", where="README"
)
def gaussian(case: Case) -> float:
    from prv_accountant import PoissonSubsampledGaussianMechanism

    return upper(PoissonSubsampledGaussianMechanism(case.rate, case.noise), case)


@package.accountant("LaplaceMechanism", kinds="laplace", says="an upper bound to 0.01", where="README")
def laplace(case: Case) -> float:
    from prv_accountant import LaplaceMechanism

    return upper(LaplaceMechanism(1 / case.noise), case)
