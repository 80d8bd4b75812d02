"""Figures of the attacks."""
