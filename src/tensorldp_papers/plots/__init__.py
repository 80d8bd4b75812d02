"""Drawing code of the figures and the report; the notebooks only call it."""
