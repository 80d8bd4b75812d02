"""Attempts to prove a claimed guarantee wrong, from outside the mechanism that makes it."""

from tensorldp.check.check import check
from tensorldp.check.claim import Claim
from tensorldp.check.finding import Finding
from tensorldp.check.verdict import Verdict

__all__ = ["Claim", "Finding", "Verdict", "check"]
