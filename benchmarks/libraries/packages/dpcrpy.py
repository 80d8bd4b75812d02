"""dpcrpy: counts that are released again and again."""

from typing import Any

from kit import Case, Package

from tensorldp.commands.target import imported

package = Package("dpcrpy", "1.0.0")


@package.randomizer(
    "GaussNoiMech.genNoise added to a value",
    epsilon=1.0,
    delta=1e-3,
    says="Gaussian mechanism, satisfying (eps, delta)-DP",
    where="its text",
    exact=1.0,
)
def gaussian() -> Any:
    noise = imported("dpcrpy.framework.noiMech:GaussNoiMech")(1.0, 1e-3)
    return lambda x: x + noise.genNoise()


@package.randomizer(
    "LapNoiMech.genNoise added to a value",
    epsilon=1.0,
    says="Laplace mechanism, satisfying eps-DP",
    where="its text",
    exact=1.0,
)
def laplace() -> Any:
    noise = imported("dpcrpy.framework.noiMech:LapNoiMech")(1.0)
    return lambda x: x + noise.genNoise()


@package.accountant("dp_bank.get_eps_ana_gaussian", kinds="gaussian", says="analytic Gaussian", where="its name")
def analytic(case: Case) -> float:
    from dpcrpy.utils.dpTools.dp_bank import get_eps_ana_gaussian

    return float(get_eps_ana_gaussian(case.noise / case.steps**0.5, case.delta))
