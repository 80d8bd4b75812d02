"""The report in a real browser: silent, offline, on a phone, without a mouse, without scripts, accessible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, open_browser
from report_page import claims, draw, page

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
ROWS = "[...document.querySelectorAll('#claims-table tbody tr')].filter(row => row.checkVisibility())"

DECODED = """
    for (const e of document.querySelectorAll("details")) e.open = true;
    for (const image of document.images) image.loading = "eager";
    return (async () => {
      while (document.querySelector("[data-packed]")) await new Promise(done => setTimeout(done, 20));
      await Promise.all([...document.images].map(image => image.decode()));
      return [...document.images].map(image => image.currentSrc.slice(0, 19));
    })()
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    draw(folder / "figures", 1)
    (folder / "report.html").write_text(page(folder / "figures"))
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as found:
        yield found


def open_claims(browser: Browser) -> None:
    browser.run("document.getElementById('all-claims').open = true")


def open_claims_by_hand(browser: Browser) -> None:
    browser.driver.find_element("css selector", "#all-claims > summary").click()


def shown(browser: Browser) -> list[str]:
    ids: list[str] = browser.run(f"return {ROWS}.map(row => row.cells[0].textContent)")
    return ids


def test_it_opens_without_a_network_and_without_a_word_in_the_console(browser: Browser, report: Path) -> None:
    browser.open(report)
    assert browser.run("return navigator.onLine") is False
    assert browser.requests() == [report.as_uri()]
    assert set(browser.run(DECODED)) == {"data:image/svg+xml,"}
    assert browser.messages() == []


@pytest.mark.parametrize("width", [320, 360, 768, 1400])
def test_it_fits_windows_of_every_width(browser: Browser, report: Path, width: int) -> None:
    browser.open(report, width)
    browser.run("for (const e of document.querySelectorAll('details')) e.open = true")
    assert browser.run("return window.innerWidth") == width
    assert browser.run("return document.documentElement.scrollWidth") <= width
    small = browser.run(
        "return [...document.querySelectorAll('button, select, input, nav a')]"
        ".filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect().height)"
    )
    assert min(small) >= 24


@pytest.mark.parametrize("width", [375, 1280])
def test_it_is_accessible(browser: Browser, report: Path, width: int) -> None:
    browser.open(report, width)
    assert browser.problems() == []
    browser.run("for (const e of document.querySelectorAll('details')) e.open = true")
    assert browser.problems() == []


def test_the_accessibility_check_finds_what_is_wrong(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.run("""document.images[0].alt = '';
        document.documentElement.lang = '';
        document.querySelector('h1').remove();
        document.querySelector('table caption').remove();
        document.querySelector('thead th').removeAttribute('scope');
        document.querySelector('label[for=by-text]').remove();
        document.querySelector('header p').style.color = '#8a8a8a';
        document.querySelector('.scroll').removeAttribute('tabindex');
        document.getElementById('explore-numbers').open = true;
        document.querySelector('.scroll').style.width = '50px';
        document.querySelector('nav a').textContent = '';
        document.querySelector('footer').id = 'main'""")
    found = {problem.split(":")[0] for problem in browser.problems()}
    assert found >= {
        "no alternative text",
        "no language",
        "not one <h1>",
        "no caption",
        "no scope",
        "no label",
        "contrast 3.45",
        "scrolls, but not by keyboard",
        "no name",
        "an id twice",
    }


def test_claims_are_filtered_by_source_kind_verdict_and_words(browser: Browser, report: Path) -> None:
    browser.open(report)
    open_claims(browser)
    table = claims()
    assert shown(browser) == list(table["id"])
    change = (
        "document.getElementById('by-' + arguments[0]).value = arguments[1];"
        "document.getElementById('filters').dispatchEvent(new Event('input'))"
    )
    chosen = {"source": "tvg", "kind": "theorem", "verdict": "refuted"}
    for key, value in chosen.items():
        browser.run(change, key, value)
        table = table[table[key] == value]
        assert shown(browser) == list(table["id"])
        assert browser.run("return document.getElementById('shown').textContent") == f"{len(table)} of 145 claims."
    browser.driver.find_element("css selector", "#filters button[type=reset]").click()
    browser.driver.find_element("id", "by-text").send_keys("STATEMENT 77")
    text = claims()["claim"] + claims()["observed"]
    assert shown(browser) == list(claims()[text.str.contains("77")]["id"])


def test_claims_are_sorted_by_keyboard_and_say_so(browser: Browser, report: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open(report)
    open_claims(browser)
    table = claims()
    for key in ("id", "kind"):
        button = browser.driver.find_element("css selector", f"th[data-key={key}] button")
        for direction in ("ascending", "descending"):
            button.send_keys(Keys.ENTER)
            head = browser.run(
                "return [...document.querySelectorAll('[aria-sort]')].map("
                "e => [e.dataset.key, e.getAttribute('aria-sort')])"
            )
            assert head == [[key, direction]]
            table = table.sort_values(key, ascending=direction == "ascending", kind="stable")
            assert shown(browser) == list(table["id"])


def test_a_count_of_a_bar_and_one_of_the_table_lead_to_their_claims(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.driver.implicitly_wait(1)
    theorems = claims().query("verdict == 'refuted' and kind == 'theorem'")
    browser.driver.find_element("css selector", ".counted a[data-kind=theorem][data-verdict=refuted]").click()
    assert shown(browser) == list(theorems["id"])
    browser.run("document.querySelector('.counts').parentElement.open = true")
    latent = "table.counts a[data-source=latent][data-kind=theorem][data-verdict=refuted]"
    browser.driver.find_element("css selector", latent).click()
    assert shown(browser) == list(theorems.query("source == 'latent'")["id"])
    assert browser.run("return document.getElementById('claims').getBoundingClientRect().top") < 800


def test_every_focus_is_seen(browser: Browser, report: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open(report)
    names = []
    for _ in range(12):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        name, outline = browser.run(
            "const e = document.activeElement, s = getComputedStyle(e);"
            "return [e.textContent, s.outlineStyle + ' ' + s.outlineWidth]"
        )
        names.append(name)
        assert outline == "solid 3px", name
    assert names[0] == "Skip to the content"


def test_without_scripts_everything_is_still_there(browser: Browser, report: Path) -> None:
    try:
        browser.open(report, scripts=False)
        open_claims_by_hand(browser)
        assert shown(browser) == list(claims()["id"])
        assert not browser.driver.find_element("id", "filters").is_displayed()
        assert browser.driver.find_element("css selector", "#claims-table th").text == "id"
        sizes = browser.run("return [...document.querySelectorAll('noscript img')].map(image => image.naturalWidth)")
        assert sizes[0] == 830
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize(("width", "wide"), [(390, 360), (1280, 830)])
def test_a_figure_is_drawn_for_the_width_at_which_it_is_shown(
    browser: Browser, report: Path, width: int, wide: int
) -> None:
    browser.open(report, width)
    browser.run(DECODED)
    assert browser.run("return document.images[0].naturalWidth") == wide
    assert browser.run("return document.images[0].getBoundingClientRect().width") <= wide
    assert browser.run("return document.images[0].getBoundingClientRect().top") < 300


def test_a_figure_has_no_white_box_in_the_dark(browser: Browser, report: Path) -> None:
    scheme = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    try:
        browser.open(report)
        browser.run(DECODED)
        corner = browser.run("""
            const canvas = document.createElement("canvas"), paper = canvas.getContext("2d");
            paper.drawImage(document.images[0], 0, 0);
            return [...paper.getImageData(2, 2, 1, 1).data]""")
        assert corner[:3] == [22, 25, 29]
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
