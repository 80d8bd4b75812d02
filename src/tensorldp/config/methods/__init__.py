"""The methods that a study may name."""

from __future__ import annotations

from tensorldp.config.methods.base import MethodPlan, Training
from tensorldp.config.methods.latent import LATENT
from tensorldp.config.methods.learning import FEDERATED, LEARNING

METHODS: dict[str, MethodPlan] = {plan.name: plan for plan in (
    LEARNING,
    FEDERATED,
    LATENT,
)}

__all__ = ["METHODS", "MethodPlan", "Training"]
