"""The README is short, and its figures and links exist; so do its promises in the first pages that it leads to."""

import math
import re
from pathlib import Path

import pytest
import yaml

from tensorldp_papers.run.settings import Settings

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()
MOST_LINES = 100  # two screens


def test_the_readme_is_two_screens() -> None:
    assert len(TEXT.splitlines()) <= MOST_LINES
    assert len(re.findall(r"^\d\. \*\*", TEXT, re.MULTILINE)) == 5, "five findings"
    assert "make figures" in TEXT
    assert "make test" in TEXT


def test_the_library_example_does_what_its_comments_say() -> None:
    page = (ROOT / "docs" / "reading-a-guarantee.md").read_text()
    block = next(b for b in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "mechanisms.make" in b)
    names: dict[str, object] = {}
    exec(block, names)
    m = names["m"]
    assert m.guarantee(0.0).epsilon == math.inf  # type: ignore[attr-defined]
    assert m.guarantee(0.0).epsilon_without_atom == pytest.approx(784.0)  # type: ignore[attr-defined]
    assert m.guarantee(1e-5).epsilon == pytest.approx(382.3, abs=0.05)  # type: ignore[attr-defined]


def test_the_first_mechanism_is_about_twenty_lines_and_works() -> None:
    from tensorldp import mechanisms
    from tensorldp.mechanism_table import MECHANISMS

    page = (ROOT / "docs" / "your-first-mechanism.md").read_text()
    block = next(b for b in re.findall(r"```python[^\n]*\n(.*?)```", page, re.DOTALL) if "@register" in b)
    assert len(block.splitlines()) <= 25
    try:
        exec(block, {"__name__": "readme"})
        made = mechanisms.make("half-laplace", epsilon=1.0, domain=mechanisms.Box(0, 1, (4,)))
        assert made.guarantee(0.0).epsilon == pytest.approx(0.5)
    finally:
        MECHANISMS.remove("half-laplace")


def test_the_lines_of_the_config_that_a_page_offers_are_read() -> None:
    page = (ROOT / "docs" / "changing-a-run.md").read_text()
    (block,) = re.findall(r'```yaml title="config.yaml"[^\n]*\n(.*?)```', page, re.DOTALL)
    settings = Settings.model_validate({"studies": ["tldp_type1"], **yaml.safe_load(block)})
    assert settings.seeds == [0, 1, 2, 3, 4]


def test_files_that_the_readme_shows_exist() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", TEXT):
        name, _, heading = target.partition("#")
        assert (ROOT / name).exists(), target
        titles = re.findall(r"^#+ (.*)$", (ROOT / name).read_text(), re.MULTILINE) if heading else []
        assert not heading or heading in {title.lower().replace(" ", "-") for title in titles}, target
