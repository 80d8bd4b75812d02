"""The report of a real run in a real browser, and Snakemake's own."""

import zipfile
from pathlib import Path

import pytest
from browser import open_browser
from conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]


def test_the_report_of_a_run_is_silent_accessible_and_its_links_lead_somewhere(finished: Project) -> None:
    page = finished.folder / "results" / "report.html"
    assert page.stat().st_size < 8e6
    with open_browser() as browser:
        for width in (375, 1280):
            browser.open(page, width)
            browser.run("for (const e of document.querySelectorAll('details')) e.open = true")
            assert browser.messages() == []
            assert browser.requests() == [page.as_uri()]
            assert browser.problems() == []
            assert browser.run("return document.documentElement.scrollWidth") <= width
        links = browser.run(
            'return [...document.querySelectorAll(\'a:not([href^="#"]):not([href^="https:"]):not(#explore-link)\')]'
            ".map(link => link.getAttribute('href'))"
        )
    assert len(links) > 30
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_snakemakes_report_shows_each_figure_once(finished: Project, tmp_path: Path) -> None:
    done = finished.snakemake("--report", str(tmp_path / "jobs.zip"))
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(tmp_path / "jobs.zip") as page:
        shown = sorted(Path(name).name for name in page.namelist() if name.endswith((".png", ".svg")))
        texts = b"".join(page.read(name) for name in page.namelist() if name.endswith((".js", ".html")))
    figures = (finished.folder / "results" / "figures").glob("*.png")
    assert shown == sorted(path.name for path in figures if not path.stem.endswith("_dark"))
    assert b"all mechanisms" in texts
