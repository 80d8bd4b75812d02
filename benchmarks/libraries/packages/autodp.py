"""autodp: accounting by Renyi divergences."""

import math

from kit import Case, Package

package = Package("autodp", "0.2.3.1")


@package.accountant("ExactGaussianMechanism, ComposeGaussian", kinds="gaussian", says="exact", where="its docstring")
def gaussian(case: Case) -> float:
    from autodp.mechanism_zoo import ExactGaussianMechanism
    from autodp.transformer_zoo import ComposeGaussian

    one = ExactGaussianMechanism(case.noise)
    return float(ComposeGaussian()([one], [case.steps]).get_approxDP(case.delta))


@package.accountant("LaplaceMechanism, Composition", kinds="laplace", says="an upper bound", where="its documentation")
def laplace(case: Case) -> float:
    from autodp.mechanism_zoo import LaplaceMechanism
    from autodp.transformer_zoo import Composition

    return float(Composition()([LaplaceMechanism(case.noise)], [case.steps]).get_approxDP(case.delta))


@package.accountant(
    "RandresponseMechanism, Composition", kinds="response", says="an upper bound", where="its documentation"
)
def response(case: Case) -> float:
    from autodp.mechanism_zoo import RandresponseMechanism
    from autodp.transformer_zoo import Composition

    one = RandresponseMechanism(1 / (1 + math.exp(-case.noise)))
    return float(Composition()([one], [case.steps]).get_approxDP(case.delta))


@package.accountant(
    "NoisySGD_Mechanism",
    kinds="gaussian",
    sampling=True,
    whole=False,
    says="an upper bound",
    where="its documentation",
)
def noisy_sgd(case: Case) -> float:
    from autodp.mechanism_zoo import NoisySGD_Mechanism

    return float(NoisySGD_Mechanism(case.rate, case.noise, case.steps).get_approxDP(case.delta))
