"""The report of a real run in a real browser."""

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
