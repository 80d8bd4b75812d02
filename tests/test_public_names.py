"""docs/public-names.md lists names that exist and every name that pages import; their objects print short lines."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from blocks import blocks

from tensorldp import mechanisms, privacy
from tensorldp.check import Claim
from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms.additive_noise import GAUSSIAN, LAPLACE
from tensorldp_papers.public.means import nearest_mean
from tensorldp_papers.public.projection import principal

ROOT = Path(__file__).parents[1]
LISTED = {
    module: re.findall(r"`(\w+)`", names)
    for module, names in re.findall(
        r"^\| `(tensorldp[\w.]*)` \| (.*) \|$", (ROOT / "docs" / "public-names.md").read_text(), re.MULTILINE
    )
}


@pytest.mark.parametrize("module", LISTED)
def test_every_listed_name_exists(module: str) -> None:
    found = import_module(module)
    missing = [name for name in LISTED[module] if not hasattr(found, name)]
    assert [name for name in missing if not (hasattr(found, "__path__") and find_spec(f"{module}.{name}"))] == []


@pytest.mark.parametrize("module", ["tensorldp.mechanisms", "tensorldp.privacy", "tensorldp.check"])
def test_what_a_package_exports_is_listed(module: str) -> None:
    assert LISTED[module] == sorted(import_module(module).__all__)


def test_every_name_that_a_page_or_the_typed_package_imports_is_listed() -> None:
    pages = (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    shown = (block for page in pages for block in blocks(page))
    texts = [(block.language, block.text) for block in shown if block.language in ("python", "pycon")]
    texts.append(("python", (ROOT / "tests" / "alone" / "downstream.py").read_text()))
    codes = [doctest.script_from_examples(text) if kind == "pycon" else text for kind, text in texts]
    nodes = [node for code in codes for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    found = [(str(node.module), name.name) for node in nodes for name in node.names]
    mine = {(module, name) for module, name in found if module.split(".")[0] in ("tensorldp", "tensorldp_papers")}
    assert len(mine) > 20
    assert {one for one in mine if one[1] not in LISTED.get(one[0], ())} == set()


def public_objects() -> Iterator[object]:
    """One of each public class of the library at least."""
    large = mechanisms.Box(0, 255, (28, 28))
    for name in ("tldp-l", "laplace", "gaussian-analytic", "k-rr", "tldp-discrete"):
        made = mechanisms.make(name, epsilon=1.0, domain=large)
        yield from (made, made.curve(), made.guarantee(1e-5))
    yield from (large, mechanisms.Ball(1.0, (784,)), GAUSSIAN, LAPLACE, InputError("no"), DpSgdCurve(4.0, 0.01, 40))
    yield privacy.audit(mechanisms.make("laplace", epsilon=1.0, domain=large), samples=500)
    yield privacy.one_run_audit(lambda coins, _: coins.double(), GaussianCurve(1.0), canaries=50, delta=1e-5)
    yield privacy.goodness_of_fit(np.linspace(0.0, 1.0, 100), lambda x: x)
    verdict = privacy.check(lambda x, _: x, domain=large, claim_epsilon=1.0, rounds=1, starts=1, samples=256)
    yield from (verdict, *verdict.findings, Claim.point(1.0), Claim.of_curve(GaussianCurve(1.0), "record"))


def test_public_objects_print_a_short_line_each() -> None:
    objects = list(public_objects())
    listed = {
        getattr(import_module(module), name)
        for module, names in LISTED.items()
        if module.startswith("tensorldp.")
        for name in names
    }
    classes = {one for one in listed if isinstance(one, type)}
    assert len(classes) > 12
    assert {one for one in classes if not any(isinstance(found, one) for found in objects)} == set()
    assert [line for found in objects if len(line := repr(found)) > 140 or "\n" in line] == []


def test_a_printed_line_has_the_numbers_that_matter() -> None:
    made = mechanisms.make("k-rr", epsilon=1.0, domain=mechanisms.Box(0, 3, (2,)))
    assert repr(made) == "k-rr(epsilon=1, domain=Box(low=0.0, high=3.0, shape=(2,)))"
    assert repr(made.curve()) == "DiscreteCurve(outcomes=3, pure_epsilon=2, count=2, exact=True)"
    bound = made.guarantee(0.0).epsilon
    line = f"Guarantee(epsilon={bound}, delta=0.0, unit='record', exact=True, epsilon_without_atom={bound})"
    assert repr(made.guarantee(0.0)) == line
    found = privacy.audit(mechanisms.make("laplace", epsilon=1.0, domain=mechanisms.Box(0, 1, (2,))), samples=500)
    line = f"Audit(epsilon_lower={found.epsilon_lower}, delta=0.0, confidence=0.95, samples=500, unit='record')"
    assert repr(found) == line
    rows, labels = torch.eye(4).repeat(3, 1), torch.arange(4).repeat(3)
    assert repr(nearest_mean(rows, labels, 4)) == "LinearScores(classes=4, dimension=4)"
    assert repr(principal(rows, 2)) == "Projection(columns=4, dimension=2)"
