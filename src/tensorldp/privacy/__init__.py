"""Privacy: what a mechanism guarantees, what many uses guarantee, and an audit that could prove it wrong.

`compose` and `audit` load on first use, so that `tensorldp.mechanisms` can import the curves from here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tensorldp.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from tensorldp.privacy.auditing.accuracy import accuracy_audit, accuracy_ceiling, clean_test_ceiling
    from tensorldp.privacy.auditing.fit import Fit, goodness_of_fit
    from tensorldp.privacy.auditing.likelihood import Audit, audit, audit_profile, audits
    from tensorldp.privacy.composition import compose

_LAZY = {
    "Audit": "auditing.likelihood",
    "audit": "auditing.likelihood",
    "audit_profile": "auditing.likelihood",
    "audits": "auditing.likelihood",
    "accuracy_audit": "auditing.accuracy",
    "accuracy_ceiling": "auditing.accuracy",
    "clean_test_ceiling": "auditing.accuracy",
    "Fit": "auditing.fit",
    "goodness_of_fit": "auditing.fit",
    "compose": "composition",
}

__all__ = [
    "Audit",
    "Fit",
    "Guarantee",
    "accuracy_audit",
    "accuracy_ceiling",
    "audit",
    "audit_profile",
    "audits",
    "clean_test_ceiling",
    "compose",
    "goodness_of_fit",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
