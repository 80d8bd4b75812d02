"""dp-accelerator: Renyi accounting in Rust."""

from kit import Case, Package

package = Package("dp-accelerator", "0.1.0")


@package.accountant(
    "DPSGDAccountant",
    kinds="gaussian",
    sampling=True,
    says="epsilon that satisfies (epsilon, delta)-DP",
    where="docstring",
)
def renyi(case: Case) -> float:
    from dp_accelerator import DPSGDAccountant

    return float(DPSGDAccountant(case.noise, round(case.rate * 1000), 1000).get_epsilon(case.steps, case.delta))
