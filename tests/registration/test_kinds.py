"""What the package itself registers, and at what cost it is listed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tensorldp.mechanism_table import MECHANISMS, TABLE
from tensorldp.registry import Registry
from tensorldp_papers.claims.registry import CLAIMS
from tensorldp_papers.data import catalogue
from tensorldp_papers.registries import MODELS, PARSERS

KINDS = [CLAIMS, MECHANISMS, MODELS, PARSERS]


@pytest.mark.parametrize("registry", KINDS, ids=lambda registry: registry.kind)
def test_the_names_read_are_those_registered(registry: Registry[object]) -> None:
    read = registry.names()
    for name in read:
        assert registry.get(name) is not None
    assert sorted(registry._members) == read
    assert {registry.module(name) for name in read} == set(registry.modules())


def test_every_data_set_has_a_parser() -> None:
    assert catalogue.names() == PARSERS.names()


def test_names_are_listed_without_torch() -> None:
    code = "import sys; from tensorldp.mechanism_table import MECHANISMS; "
    code += "from tensorldp_papers.claims.registry import CLAIMS; "
    code += "assert 'tldp-l' in MECHANISMS.names() and 'T08' in CLAIMS.names(); "
    code += "sys.exit('torch' in sys.modules or 'tensorldp.mechanisms' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_table_says_of_a_mechanism_what_its_class_says() -> None:
    for name, listed in TABLE.items():
        cls = MECHANISMS.get(name)
        assert (cls.integer, cls.only_for) == (listed.integer, listed.only_for), name
        assert (cls.label, cls.family, cls.variant_labels) == listed[1:4], name
