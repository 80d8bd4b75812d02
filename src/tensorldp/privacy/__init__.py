"""Privacy: what a mechanism guarantees, what many uses guarantee, and an audit that could prove it wrong.

Names are imported on first use: a curve needs none of the code that tries to refute it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorldp.audit.accuracy import accuracy_audit, accuracy_ceiling, clean_test_ceiling
    from tensorldp.audit.fit import Fit, goodness_of_fit
    from tensorldp.audit.likelihood import Audit, audit, audit_profile, audits
    from tensorldp.audit.one_run import OneRun, one_run_audit, one_run_bound
    from tensorldp.check import check
    from tensorldp.composition import compose
    from tensorldp.curves.guarantee import Guarantee

HOMES = {
    "audit.accuracy": ("accuracy_audit", "accuracy_ceiling", "clean_test_ceiling"),
    "audit.fit": ("Fit", "goodness_of_fit"),
    "audit.likelihood": ("Audit", "audit", "audit_profile", "audits"),
    "audit.one_run": ("OneRun", "one_run_audit", "one_run_bound"),
    "check": ("check",),
    "composition": ("compose",),
    "curves.guarantee": ("Guarantee",),
}

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


def __getattr__(name: str) -> Any:
    for module, names in HOMES.items():
        if name in names:
            found = getattr(import_module(f"tensorldp.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
