"""The offline page of a run."""
