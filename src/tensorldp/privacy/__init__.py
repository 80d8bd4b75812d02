"""Privacy: what a mechanism guarantees, what many uses guarantee, and an audit that could prove it wrong.

Names are imported when they are asked for: a curve needs none of what tries to refute it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorldp.privacy.auditing.accuracy import accuracy_audit, accuracy_ceiling, clean_test_ceiling
    from tensorldp.privacy.auditing.fit import Fit, goodness_of_fit
    from tensorldp.privacy.auditing.likelihood import Audit, audit, audit_profile, audits
    from tensorldp.privacy.auditing.one_run import OneRun, one_run_audit, one_run_bound
    from tensorldp.privacy.checking import check
    from tensorldp.privacy.composition import compose
    from tensorldp.privacy.guarantee import Guarantee

HOMES = {
    "auditing.accuracy": ("accuracy_audit", "accuracy_ceiling", "clean_test_ceiling"),
    "auditing.fit": ("Fit", "goodness_of_fit"),
    "auditing.likelihood": ("Audit", "audit", "audit_profile", "audits"),
    "auditing.one_run": ("OneRun", "one_run_audit", "one_run_bound"),
    "checking": ("check",),
    "composition": ("compose",),
    "guarantee": ("Guarantee",),
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
            found = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
