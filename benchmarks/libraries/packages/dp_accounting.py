"""dp-accounting: Google's accountants."""

import math
from typing import Any

from kit import Case, Package

package = Package("dp-accounting", "0.6.0")


SAYS: dict[str, Any] = {"says": "an upper bound", "where": "its documentation"}


@package.accountant("pld.from_gaussian_mechanism", kinds="gaussian", sampling=True, **SAYS)
def gaussian(case: Case) -> float:
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    one = from_gaussian_mechanism(case.noise, sampling_prob=case.rate)
    return float(one.self_compose(case.steps).get_epsilon_for_delta(case.delta))


@package.accountant("pld.from_laplace_mechanism", kinds="laplace", **SAYS)
def laplace(case: Case) -> float:
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    return float(from_laplace_mechanism(case.noise).self_compose(case.steps).get_epsilon_for_delta(case.delta))


@package.accountant("pld.from_randomized_response", kinds="response", **SAYS)
def response(case: Case) -> float:
    from dp_accounting.pld.privacy_loss_distribution import from_randomized_response

    one = from_randomized_response(2 / (1 + math.exp(case.noise)), 2)
    return float(one.self_compose(case.steps).get_epsilon_for_delta(case.delta))


@package.accountant("rdp.RdpAccountant", kinds="gaussian laplace", sampling=True, **SAYS)
def renyi(case: Case) -> float:
    import dp_accounting as dp

    noise = {"gaussian": dp.GaussianDpEvent, "laplace": dp.LaplaceDpEvent}[case.kind](case.noise)
    event = noise if case.rate == 1 else dp.PoissonSampledDpEvent(case.rate, noise)
    return float(dp.rdp.RdpAccountant().compose(event, case.steps).get_epsilon(case.delta))
