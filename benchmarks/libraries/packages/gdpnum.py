"""gdpnum: Gaussian differential privacy of training."""

from kit import Case, Package

package = Package("gdpnum", "0.1.2")


@package.accountant(
    "CTDAccountant", kinds="gaussian", sampling=True, says="connect-the-dots upper bound", where="README"
)
def connected(case: Case) -> float:
    from gdpnum import CTDAccountant

    accountant = CTDAccountant()
    accountant.history = [(case.noise, case.rate, case.steps)]
    return float(accountant.get_epsilon(delta=case.delta))
