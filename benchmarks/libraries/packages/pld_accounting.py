"""pld-accounting: loss distributions with bounds."""

from kit import Case, Package

package = Package("pld-accounting", "2.0")


@package.accountant(
    "gaussian_distribution, subsample_pld",
    kinds="gaussian",
    sampling=True,
    says="a dominating upper bound",
    where="docstring",
)
def gaussian(case: Case) -> float:
    from PLD_accounting import BoundType, compose_full_pld, gaussian_distribution, subsample_pld

    one = gaussian_distribution(scale=case.noise)
    pld = compose_full_pld(remove_dist=one, add_dist=one, bound_type=BoundType.DOMINATES)
    sampled = subsample_pld(pld=pld, sampling_probability=case.rate)
    return float(sampled.self_compose(case.steps).get_epsilon_for_delta(case.delta))


@package.accountant("laplace_distribution", kinds="laplace", says="a dominating upper bound", where="docstring")
def laplace(case: Case) -> float:
    from PLD_accounting import BoundType, compose_full_pld, laplace_distribution

    one = laplace_distribution(scale=case.noise)
    pld = compose_full_pld(remove_dist=one, add_dist=one, bound_type=BoundType.DOMINATES)
    return float(pld.self_compose(case.steps).get_epsilon_for_delta(case.delta))
