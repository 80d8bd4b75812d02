"""Kept results: what was measured so far, how runs are merged into it, and what a configuration has left to run."""
