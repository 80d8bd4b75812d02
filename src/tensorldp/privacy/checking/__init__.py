"""Attempts to prove a claimed guarantee wrong, from outside the mechanism that makes it."""

from tensorldp.privacy.checking.check import check
from tensorldp.privacy.checking.claim import Claim
from tensorldp.privacy.checking.verdict import Finding, Verdict

__all__ = ["Claim", "Finding", "Verdict", "check"]
