"""Privacy: what a mechanism guarantees, what many uses guarantee, and an audit that could prove it wrong."""

from tensorldp.audit.accuracy import accuracy_audit, accuracy_ceiling, clean_test_ceiling
from tensorldp.audit.fit import Fit, goodness_of_fit
from tensorldp.audit.likelihood import Audit, audit, audit_profile, audits
from tensorldp.audit.one_run import OneRun, one_run_audit, one_run_bound
from tensorldp.check import check
from tensorldp.composition import compose
from tensorldp.curves.guarantee import Guarantee

__all__ = [
    "Audit",
    "Fit",
    "Guarantee",
    "OneRun",
    "accuracy_audit",
    "accuracy_ceiling",
    "audit",
    "audit_profile",
    "audits",
    "check",
    "clean_test_ceiling",
    "compose",
    "goodness_of_fit",
    "one_run_audit",
    "one_run_bound",
]
