"""Attempts to prove a claimed guarantee wrong, from outside the mechanism that makes it."""
