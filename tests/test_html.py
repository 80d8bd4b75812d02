"""Every page has the one base: it needs no network, follows a reader's theme and fits a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import open_browser
from markupsafe import Markup

from tensorldp.check import check
from tensorldp.check.verdict import page as verdict_page
from tensorldp.domain import Box
from tensorldp.mechanisms import make
from tensorldp.pages import plain

SOURCE = Path(__file__).parents[1] / "src"


def test_no_other_file_begins_a_page_or_a_stylesheet() -> None:
    texts = {path: path.read_text() for path in SOURCE.rglob("*") if path.suffix in (".py", ".html", ".js")}
    bases = [path.relative_to(SOURCE).as_posix() for path, text in texts.items() if "<!doctype" in text]
    styles = [path.name for path, text in texts.items() if "<style" in text]
    assert bases == ["tensorldp/pages/base.html"]
    assert sorted(styles) == ["base.html", "picture.py", "sheets.py"]  # the others are those of SVGs


def test_a_plain_page_shows_its_texts_as_they_are_and_its_links_as_links() -> None:
    text = plain("a < b", "so & so", alert="<stop>", heads=("x",), rows=[("<i>",), (Markup('<a href="y">y</a>'),)])
    for shown in ("<h1>a &lt; b</h1>", "so &amp; so", "&lt;stop&gt;", "&lt;i&gt;", '<a href="y">y</a>'):
        assert shown in text
    assert "<table" not in plain("a", "b")
    assert "<p role" not in plain("a", "b")


@pytest.mark.slow
def test_pages_fit_a_phone_and_are_dark_for_a_reader_in_the_dark(tmp_path: Path) -> None:
    lie = check(make("none", epsilon=1.0, domain=Box(0, 1, (2,))).privatize, domain=Box(0, 1, (2,)), claim_epsilon=1.0)
    assert lie.refuted
    row = ("tldp_type1 / digits / form=table5,model=small_cnn / gaussian", *["a long remark on this cell"] * 5)
    pages = {"verdict": verdict_page(lie), "plain": plain("Cells", rows=[row], heads=["head"] * 6)}
    with open_browser() as browser:
        for name, text in pages.items():
            path = tmp_path / f"{name}.html"
            path.write_text(text)
            colours = {}
            for theme in ("light", "dark"):
                browser.open(path, 390, color_scheme=theme)
                assert browser.ask("document.documentElement.scrollWidth") <= 390, name
                colours[theme] = browser.ask("getComputedStyle(document.body).backgroundColor")
            assert colours == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 25, 29)"}
            assert browser.requests()[1:] == []  # the page itself is the first
