"""The methods that a study may name."""

from __future__ import annotations

from tensorldp.config.methods.attacks import ATTACKS
from tensorldp.config.methods.base import AnyPlan, Factors, MethodPlan, Training
from tensorldp.config.methods.frontier import FRONTIER
from tensorldp.config.methods.latent import LATENT
from tensorldp.config.methods.learning import FEDERATED, LEARNING
from tensorldp.config.methods.pldp import PLDP, SYNTHETIC
from tensorldp.config.methods.tvg import COVARIANCE, PRIVATE_SGD, TESTING
from tensorldp.registration.registry import Registry

METHODS: Registry[AnyPlan] = Registry("method", group="tensorldp.methods")
OWN: tuple[AnyPlan, ...] = (
    LEARNING,
    FEDERATED,
    SYNTHETIC,
    PLDP,
    COVARIANCE,
    TESTING,
    PRIVATE_SGD,
    LATENT,
    ATTACKS,
    FRONTIER,
)
for _plan in OWN:
    METHODS.add(_plan.name, _plan, "tensorldp.config.methods")

__all__ = ["METHODS", "AnyPlan", "Factors", "MethodPlan", "Training"]
