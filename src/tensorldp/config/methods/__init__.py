"""The methods that a study may name."""

from __future__ import annotations

from tensorldp.config.methods.attacks import ATTACKS
from tensorldp.config.methods.base import MethodPlan, Training
from tensorldp.config.methods.learning import FEDERATED, LEARNING

METHODS: dict[str, MethodPlan] = {plan.name: plan for plan in (
    LEARNING,
    FEDERATED,
    ATTACKS,
)}

__all__ = ["METHODS", "MethodPlan", "Training"]
