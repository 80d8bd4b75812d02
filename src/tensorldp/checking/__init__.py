"""Attempts to prove a claimed guarantee wrong, from outside the mechanism that makes it."""

from tensorldp.checking.check import check
from tensorldp.checking.claim import Claim
from tensorldp.checking.verdict import Finding, Verdict

__all__ = ["Claim", "Finding", "Verdict", "check"]
