"""The methods that a study may name."""

from __future__ import annotations

from tensorldp.registry import Registry
from tensorldp_papers.papers.frontier.plan import FRONTIER
from tensorldp_papers.papers.latent.plan import LATENT
from tensorldp_papers.papers.lecture.plan import ATTACKS
from tensorldp_papers.papers.pldp_fl.plan import PLDP, SYNTHETIC
from tensorldp_papers.papers.tldp.plan import FEDERATED, LEARNING
from tensorldp_papers.papers.tvg.plan import COVARIANCE, PRIVATE_SGD, TESTING
from tensorldp_papers.run.method_plan import AnyPlan, Factors, MethodPlan, Training

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
    METHODS.add(_plan.name, _plan, "tensorldp_papers.run.plans")

__all__ = ["METHODS", "AnyPlan", "Factors", "MethodPlan", "Training"]
