"""The methods that a study may name."""

from __future__ import annotations

from tensorldp.config.methods.attacks import ATTACKS
from tensorldp.config.methods.base import AnyPlan, Factors, MethodPlan, Training
from tensorldp.config.methods.latent import LATENT
from tensorldp.config.methods.learning import FEDERATED, LEARNING
from tensorldp.config.methods.pldp import PLDP, SYNTHETIC
from tensorldp.config.methods.tvg import COVARIANCE, PRIVATE_SGD, TESTING

METHODS: dict[str, AnyPlan] = {
    plan.name: plan
    for plan in (
        LEARNING,
        FEDERATED,
        SYNTHETIC,
        PLDP,
        COVARIANCE,
        TESTING,
        PRIVATE_SGD,
        LATENT,
        ATTACKS,
    )
}

__all__ = ["METHODS", "AnyPlan", "Factors", "MethodPlan", "Training"]
