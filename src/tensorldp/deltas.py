"""The default deltas."""

NOMINAL_DELTA = 1e-5  # what a mechanism is calibrated for, as in the sources' experiments
REPORT_DELTA = 1e-5  # at which guarantees, audits and ceilings are stated besides delta = 0
PROFILE_DELTAS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12)  # at which a cell keeps its whole profile, besides 0
