"""The page of mechanisms is what the classes say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp.mechanism_table import TABLE
from tensorldp.mechanisms.catalogue import entry, page
from tensorldp.mechanisms.registry import mechanism_class

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_classes_say() -> None:
    stored = (ROOT / "docs" / "mechanisms.md").read_text()
    assert stored == page(), "run: python -m tensorldp.mechanisms.catalogue"


@pytest.mark.parametrize("name", TABLE)
def test_every_mechanism_states_its_release_and_its_source(name: str) -> None:
    found = entry(name)
    release = re.fullmatch(r"\$(.+)\$", found["release"])
    assert release is not None
    assert release[1].count("{") == release[1].count("}")
    assert not re.search(r"[<>|$]", release[1]), "a table's cell, rendered by GitHub"
    assert found["source"]
    assert mechanism_class(name).__doc__
    file = re.fullmatch(r"\[.+\]\(\.\./(.+)\)", found["file"])
    assert file is not None
    assert (ROOT / file[1]).is_file()


@pytest.mark.parametrize("name", ["latent", "pdpm", "tldp-discrete"])
def test_a_curve_that_is_a_bound_on_some_domains_is_told(name: str) -> None:
    assert entry(name)["guarantee"] == "exact on some domains, pure"


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(InputError, match="laplacian"):
        page(["laplacian"])
