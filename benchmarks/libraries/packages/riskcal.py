"""riskcal: risks of training in operational terms."""

from kit import Case, Package

package = Package("riskcal", "1.5.1")


@package.accountant(
    "CTDAccountant", kinds="gaussian", sampling=True, says="connect-the-dots upper bound", where="README"
)
def connected(case: Case) -> float:
    from riskcal.accountants import CTDAccountant

    accountant = CTDAccountant()
    accountant.history = [(case.noise, case.rate, case.steps)]
    return float(accountant.get_epsilon(delta=case.delta))
