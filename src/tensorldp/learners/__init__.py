"""Classifiers from releases of records, never from the records."""
