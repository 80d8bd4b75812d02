"""The deltas that hold where no other is given."""

NOMINAL_DELTA = 1e-5  # what a mechanism is calibrated for, as in the sources' experiments
REPORT_DELTA = 1e-5  # at which guarantees, audits and ceilings are stated beside delta = 0
