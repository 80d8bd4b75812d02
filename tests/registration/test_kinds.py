"""What the package itself registers, and at what cost it is listed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tensorldp.data import catalogue
from tensorldp.registration.kinds import CLAIMS, MECHANISMS, MODELS, PARSERS
from tensorldp.registration.registry import Registry

KINDS = [CLAIMS, MECHANISMS, MODELS, PARSERS]


@pytest.mark.parametrize("registry", KINDS, ids=lambda registry: registry.kind)
def test_the_names_read_are_those_registered(registry: Registry[object]) -> None:
    read = registry.names()
    for name in read:
        assert registry.get(name) is not None
    assert sorted(registry._members) == read


def test_every_data_set_has_a_parser() -> None:
    assert catalogue.names() == PARSERS.names()


def test_names_are_listed_without_torch() -> None:
    code = "import sys; from tensorldp.registration.kinds import CLAIMS, MECHANISMS; "
    code += "assert 'tldp-l' in MECHANISMS.names() and 'T08' in CLAIMS.names(); "
    code += "sys.exit('torch' in sys.modules or 'tensorldp.mechanisms' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
