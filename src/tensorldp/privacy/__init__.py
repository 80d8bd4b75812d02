"""Privacy: what a mechanism guarantees, what many uses guarantee, and an audit that could prove it wrong."""

from typing import TYPE_CHECKING, Any

from tensorldp.privacy.auditing.accuracy import accuracy_audit, accuracy_ceiling, clean_test_ceiling
from tensorldp.privacy.auditing.fit import Fit, goodness_of_fit
from tensorldp.privacy.auditing.likelihood import Audit, audit, audit_profile, audits
from tensorldp.privacy.composition import compose
from tensorldp.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from tensorldp.checking import check

__all__ = [
    "Audit",
    "Fit",
    "Guarantee",
    "accuracy_audit",
    "accuracy_ceiling",
    "audit",
    "audit_profile",
    "audits",
    "check",
    "clean_test_ceiling",
    "compose",
    "goodness_of_fit",
]


def __getattr__(name: str) -> Any:
    if name == "check":  # it knows the mechanisms, which lie above this package
        from tensorldp.checking import check

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
