"""docs/public-names.md lists names that exist and every name that guides import; those of 0.1.0 are where they were."""

from __future__ import annotations

import ast
import doctest
import re
import sys
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from blocks import blocks

from tensorldp.moved import MOVED

ROOT = Path(__file__).parents[1]
LISTED = {
    module: re.findall(r"`(\w+)`", names)
    for module, names in re.findall(
        r"^\| `(tensorldp[\w.]*)` \| (.*) \|$", (ROOT / "docs" / "public-names.md").read_text(), re.MULTILINE
    )
}
FIRST_RELEASE = {
    "tensorldp.mechanisms": "Ball Box Domain Mechanism make mechanism_class names register",
    "tensorldp.mechanisms.additive_noise": "AdditiveNoise GAUSSIAN LAPLACE",
    "tensorldp.privacy": "Audit Fit Guarantee OneRun accuracy_audit accuracy_ceiling audit audit_profile audits check "
    "clean_test_ceiling compose goodness_of_fit one_run_audit one_run_bound",
    "tensorldp.privacy.checking": "Claim Finding Verdict check",
    "tensorldp.privacy.curves.base": "PrivacyCurve",
    "tensorldp.privacy.curves.laplace": "LaplaceCurve",
    "tensorldp.privacy.curves.gaussian": "GaussianCurve",
    "tensorldp.privacy.curves.discrete": "DiscreteCurve",
    "tensorldp.privacy.curves.dp_sgd": "DpSgdCurve",
    "tensorldp.randomness": "add_laplace generator",
    "tensorldp.errors": "InputError",
    "tensorldp.claims.base": "Claim Finding claim",
    "tensorldp.claims.evidence": "Evidence",
    "tensorldp.claims.statements": "Inside finding minus per_seed",
    "tensorldp.data.catalogue": "Dataset register_dataset",
    "tensorldp.data.source": "File Source",
    "tensorldp.data.split": "Parsed stratified",
    "tensorldp.models": "Task build names register_model",
    "tensorldp.studies.methods": "register_method",
    "tensorldp.learners.means": "nearest_mean",
    "tensorldp.representations.letters": "fitting_and_tasks",
    "tensorldp.representations.projection": "discriminant",
    "tensorldp.studies.records": "read_records",
    "tensorldp.studies.represent": "extractor",
}


@pytest.mark.parametrize("module", LISTED)
def test_every_listed_name_exists(module: str) -> None:
    found = import_module(module)
    missing = [name for name in LISTED[module] if not hasattr(found, name)]
    assert [name for name in missing if not (hasattr(found, "__path__") and find_spec(f"{module}.{name}"))] == []


@pytest.mark.parametrize("module", ["tensorldp.mechanisms", "tensorldp.privacy", "tensorldp.check"])
def test_what_a_package_exports_is_listed(module: str) -> None:
    assert LISTED[module] == sorted(import_module(module).__all__)


def test_every_name_that_a_guide_or_the_typed_package_imports_is_listed() -> None:
    shown = (block for page in (ROOT / "docs").glob("*.md") for block in blocks(page))
    texts = [(block.language, block.text) for block in shown if block.language in ("python", "pycon")]
    texts.append(("python", (ROOT / "tests" / "alone" / "downstream.py").read_text()))
    codes = [doctest.script_from_examples(text) if kind == "pycon" else text for kind, text in texts]
    nodes = [node for code in codes for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    found = [(str(node.module), name.name) for node in nodes for name in node.names]
    mine = [(module, name) for module, name in found if module.split(".")[0] == "tensorldp"]
    assert len(mine) > 20
    assert [one for one in mine if one[1] not in LISTED.get(one[0], ())] == []


@pytest.mark.parametrize("module", FIRST_RELEASE)
def test_every_name_of_the_first_release_is_found_where_it_was(module: str) -> None:
    for name in [name for name in sys.modules if name in MOVED]:
        del sys.modules[name]
    moved = module in MOVED
    told = pytest.warns(DeprecationWarning, match=f"{module} is {MOVED[module]} now") if moved else nullcontext()
    with told:
        old = import_module(module)
    new = import_module(MOVED.get(module, module))
    for name in FIRST_RELEASE[module].split():
        assert getattr(old, name) is getattr(new, name), name


def test_an_old_module_has_no_names_of_its_own() -> None:
    with pytest.raises(ImportError, match="no_such_name"):
        exec("from tensorldp.privacy.curves.laplace import no_such_name")
    with pytest.raises(ModuleNotFoundError):
        import_module("tensorldp.privacy.no_such_module")
