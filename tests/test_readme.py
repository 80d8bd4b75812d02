"""The README's Python blocks run, and its figures and links exist."""

import math
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()


def test_the_library_example_does_what_its_comments_say() -> None:
    block = next(b for b in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "mechanisms.make" in b)
    names: dict[str, object] = {}
    exec(block, names)
    m = names["m"]
    assert m.guarantee(0.0).epsilon == math.inf  # type: ignore[attr-defined]
    assert m.guarantee(0.0).epsilon_without_atom == pytest.approx(784.0)  # type: ignore[attr-defined]
    assert m.guarantee(1e-5).epsilon == pytest.approx(382.3, abs=0.05)  # type: ignore[attr-defined]


def test_the_mechanism_in_the_readme_is_about_twenty_lines_and_works() -> None:
    from tensorldp import mechanisms
    from tensorldp.registration.kinds import MECHANISMS

    block = next(b for b in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "@register" in b)
    assert len(block.splitlines()) <= 25
    try:
        exec(block, {"__name__": "readme"})
        made = mechanisms.make("half-laplace", epsilon=1.0, domain=mechanisms.Box(0, 1, (4,)))
        assert made.guarantee(0.0).epsilon == pytest.approx(0.5)
    finally:
        MECHANISMS.remove("half-laplace")


def test_files_that_the_readme_shows_exist() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", TEXT):
        name, _, heading = target.partition("#")
        assert (ROOT / name).exists(), target
        titles = re.findall(r"^#+ (.*)$", (ROOT / name).read_text(), re.MULTILINE) if heading else []
        assert not heading or heading in {title.lower().replace(" ", "-") for title in titles}, target
