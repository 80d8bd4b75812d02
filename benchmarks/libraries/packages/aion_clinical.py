"""aion-clinical: counts and means of cohorts, from Python's random numbers."""

from typing import Any

from kit import Package

from tensorldp.commands.target import imported

package = Package("aion-clinical", "2.0.7")
SAYS: dict[str, Any] = {"epsilon": 1.0, "exact": 1.0}

package.randomizer(
    "LaplaceDP.release",
    target="aion.privacy.dp:LaplaceDP.release",
    options={"epsilon": 1.0},
    says="epsilon of the mechanism",
    where="its privacy_guarantee()",
    **SAYS,
)
package.randomizer(
    "LocalDP.release_local_count",
    target="aion.privacy.dp:LocalDP.release_local_count",
    options={"epsilon": 1.0},
    categories=2,
    says="epsilon of the mechanism",
    where="privacy_guarantee() of its mechanism",
    **SAYS,
)


@package.randomizer(
    "DPQueryEngine.cohort_count",
    categories=2,
    says="epsilon_used",
    where="its result",
    note="a budget is for one answer, so each has an engine of its own",
    **SAYS,
)
def count() -> Any:
    engine, budget = imported("aion.privacy.dp:DPQueryEngine"), imported("aion.privacy.dp:PrivacyBudget")
    return lambda x: engine(budget(1.0)).cohort_count(x)
