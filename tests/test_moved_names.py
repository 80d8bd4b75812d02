"""The public names of version 0.1.0 still import where their modules were."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from tensorldp.moved import MOVED

NAMES = {
    "tensorldp.mechanisms": (
        "Ball",
        "Box",
        "Domain",
        "Mechanism",
        "make",
        "mechanism_class",
        "names",
        "register",
    ),
    "tensorldp.mechanisms.additive_noise": (
        "AdditiveNoise",
        "GAUSSIAN",
        "LAPLACE",
    ),
    "tensorldp.privacy": (
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
    ),
    "tensorldp.privacy.checking": (
        "Claim",
        "Finding",
        "Verdict",
        "check",
    ),
    "tensorldp.privacy.curves.base": ("PrivacyCurve",),
    "tensorldp.privacy.curves.laplace": ("LaplaceCurve",),
    "tensorldp.privacy.curves.gaussian": ("GaussianCurve",),
    "tensorldp.privacy.curves.discrete": ("DiscreteCurve",),
    "tensorldp.privacy.curves.dp_sgd": ("DpSgdCurve",),
    "tensorldp.randomness": (
        "add_laplace",
        "generator",
    ),
    "tensorldp.errors": ("InputError",),
    "tensorldp.claims.base": (
        "Claim",
        "Finding",
        "claim",
    ),
    "tensorldp.claims.evidence": ("Evidence",),
    "tensorldp.claims.statements": (
        "Inside",
        "finding",
        "minus",
        "per_seed",
    ),
    "tensorldp.data.catalogue": (
        "Dataset",
        "register_dataset",
    ),
    "tensorldp.data.source": (
        "File",
        "Source",
    ),
    "tensorldp.data.split": (
        "Parsed",
        "stratified",
    ),
    "tensorldp.models": (
        "Task",
        "build",
        "names",
        "register_model",
    ),
    "tensorldp.studies.methods": ("register_method",),
    "tensorldp.learners.means": ("nearest_mean",),
    "tensorldp.representations.letters": ("fitting_and_tasks",),
    "tensorldp.representations.projection": ("discriminant",),
    "tensorldp.studies.records": ("read_records",),
    "tensorldp.studies.represent": ("extractor",),
}


@pytest.mark.parametrize("module", NAMES)
def test_every_public_name_is_found_where_it_was(module: str) -> None:
    for name in [name for name in sys.modules if name in MOVED]:
        del sys.modules[name]
    if module in MOVED:
        with pytest.warns(DeprecationWarning, match=f"{module} is {MOVED[module]} now"):
            old = import_module(module)
    else:
        old = import_module(module)
    new = import_module(MOVED.get(module, module))
    for name in NAMES[module]:
        assert getattr(old, name) is getattr(new, name), name


def test_an_old_module_has_no_names_of_its_own() -> None:
    with pytest.raises(ImportError, match="no_such_name"):
        exec("from tensorldp.privacy.curves.laplace import no_such_name")
    with pytest.raises(ModuleNotFoundError):
        import_module("tensorldp.privacy.no_such_module")
