"""The methods that a study may name."""

from __future__ import annotations

from tensorldp.config.methods.base import MethodPlan, Training
from tensorldp.config.methods.learning import FEDERATED, LEARNING
from tensorldp.config.methods.pldp import PLDP, SYNTHETIC

METHODS: dict[str, MethodPlan] = {plan.name: plan for plan in (
    LEARNING,
    FEDERATED,
    SYNTHETIC,
    PLDP,
)}

__all__ = ["METHODS", "MethodPlan", "Training"]
