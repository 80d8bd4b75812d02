"""opacus: accountants of private training."""

from kit import Case, Package

package = Package("opacus", "1.6.0")


def asked(name: str, case: Case) -> float:
    """Epsilon of one of its accountants."""
    from opacus.accountants import create_accountant

    accountant = create_accountant(name)
    accountant.history = [(case.noise, case.rate, case.steps)]
    return float(accountant.get_epsilon(delta=case.delta))


@package.accountant("RDPAccountant", kinds="gaussian", sampling=True, says="an upper bound", where="its documentation")
def renyi(case: Case) -> float:
    return asked("rdp", case)


@package.accountant(
    "PRVAccountant", kinds="gaussian", sampling=True, says="an upper bound to 0.01", where="its docstring"
)
def losses(case: Case) -> float:
    return asked("prv", case)


@package.accountant(
    "GaussianAccountant",
    kinds="gaussian",
    sampling=True,
    whole=False,
    says="approximate by the central limit",
    where="its source",
)
def central_limit(case: Case) -> float:
    return asked("gdp", case)
