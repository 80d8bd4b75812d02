"""The methods that a study may name."""

from __future__ import annotations

from tensorldp.registry import Registry
from tensorldp_papers.papers.frontier.settings import FRONTIER
from tensorldp_papers.papers.latent.settings import LATENT
from tensorldp_papers.papers.lecture.settings import ATTACKS
from tensorldp_papers.papers.pldp_fl.settings import PLDP, SYNTHETIC
from tensorldp_papers.papers.tldp.settings import FEDERATED, LEARNING
from tensorldp_papers.papers.tvg.settings import COVARIANCE, PRIVATE_SGD, TESTING
from tensorldp_papers.run.method_plan import AnyPlan

METHODS: Registry[AnyPlan] = Registry("method", group="tensorldp.methods")
for _plan in (
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
):
    METHODS.add(_plan.name, _plan, "tensorldp_papers.run.plans")
