"""The page of mechanisms is what the classes say, and a plug-in has its row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS, TABLE
from tensorldp.mechanisms.catalogue import PROBES, entry, guarantee_words, page
from tensorldp.mechanisms.registry import make, mechanism_class, register

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
    file = re.fullmatch(r"\[.+\]\(\.\./(.+)\)", found["file"])
    assert file is not None
    assert (ROOT / file[1]).is_file()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none", "none"),
        ("laplace", "exact, pure"),
        ("gaussian-analytic", "exact, not pure"),
        ("tldp-l", "exact, with an atom, pure without it"),
        ("tldp-g", "exact, with an atom, not pure"),
        ("projunit", "bound, pure"),
    ],
)
def test_guarantees_in_words(name: str, words: str) -> None:
    epsilon = float("inf") if name == "none" else 1.0
    assert guarantee_words([make(name, epsilon=epsilon, domain=PROBES[0])]) == words


def test_what_is_exact_on_some_domains_only_is_told() -> None:
    tried = [make("pdpm", epsilon=1.0, domain=domain) for domain in PROBES]
    assert guarantee_words(tried) == "exact on some domains, pure"
    assert guarantee_words(tried[1:2]) == "bound, pure"


def test_a_plug_in_has_its_row_when_it_is_asked_for() -> None:
    traits = {"name": "mine", "label": "Mine", "formula": r"x + \mathrm{Lap}(b)^I", "source": "a test"}
    try:
        register(type("Mine", (mechanism_class("laplace"),), {"__module__": __name__, **traits}))
        row = next(line for line in page(["mine"]).splitlines() if line.startswith("| `mine` |"))
        assert "| Mine |" in row
        assert "| pure |" in row
        assert r"$x + \mathrm{Lap}(b)^I$" in page(["mine"])
        assert "`mine`" not in page()
    finally:
        MECHANISMS.remove("mine")


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(InputError, match="laplacian"):
        page(["laplacian"])
