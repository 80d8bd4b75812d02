"""Every control of the explorer and the calculator, pressed in a real browser."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser, open_browser
from report_page import STUDIES, draw, metrics, page
from test_report_data import profiles

from tensorldp.deltas import PROFILE_DELTAS
from tensorldp.mechanisms import Box, make
from tensorldp_papers.report.stored_curves import MECHANISMS, SHAPES

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explorer")
    draw(folder / "figures", panels=1)
    (folder / "report.html").write_text(page(folder / "figures", guarantees=profiles()))
    return folder / "report.html"


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    with open_browser() as found:
        yield found


@pytest.fixture
def browser(shared: Browser, report: Path) -> Browser:
    shared.open(report)
    return shared


def choose(browser: Browser, key: str, value: str) -> None:
    """Take an option of a select, as a reader would."""
    from selenium.webdriver.support.ui import Select

    Select(browser.driver.find_element("id", key)).select_by_value(value)


def options(browser: Browser, key: str) -> list[str]:
    values: list[str] = browser.run(f"return [...document.getElementById('{key}').options].map(o => o.value)")
    return values


def delta_text(delta: float) -> str:
    """A delta as JavaScript writes it."""
    return "0" if delta == 0 else (f"{delta:.6f}".rstrip("0") if delta >= 1e-6 else f"{delta:g}".replace("e-0", "e-"))


def rows(browser: Browser) -> list[list[str]]:
    """The table of the chosen numbers, its heads first."""
    found: list[list[str]] = browser.run(
        "return [...document.querySelectorAll('#explore-table tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    return found


def marks(browser: Browser) -> int:
    count: int = browser.run("return document.querySelectorAll('#explore-chart .line .mark').length")
    return count


def address(browser: Browser) -> str:
    found: str = browser.run("return location.hash")
    return found


def test_every_study_data_set_metric_and_setting_can_be_chosen(browser: Browser) -> None:
    assert options(browser, "explore-study") == list(STUDIES)
    for study, names in reversed(STUDIES.items()):
        choose(browser, "explore-study", study)
        assert options(browser, "explore-metric") == sorted(names)
        assert options(browser, "explore-dataset") == ["digits"]
        assert options(browser, "explore-setting") == [""]
        for metric in names:
            choose(browser, "explore-metric", metric)
            assert f"study={study}" in address(browser)
            assert len(rows(browser)) == 1 + len(metrics().query("study == @study and metric == @metric")) // 2
    choose(browser, "explore-dataset", "digits")
    choose(browser, "explore-setting", "")
    assert browser.messages() == []


def test_the_axis_and_delta_move_the_points_to_what_is_stored(browser: Browser) -> None:
    table = profiles().query("study == 'tldp_type1' and mechanism == 'laplace' and epsilon == 1")
    line = "Laplace"

    def shown(column: int) -> str:
        return next(row[column] for row in rows(browser)[1:] if row[0] == line and row[1] == "1")

    for delta in (0.0, *PROFILE_DELTAS):
        choose(browser, "explore-delta", delta_text(delta))
        stored = float(table[f"epsilon_at_{delta:g}"].iloc[0])
        assert shown(2) == ("∞" if np.isinf(stored) else f"{stored:.4g}")
    for axis in ("printed", "pure", "mu", "guaranteed"):
        choose(browser, "explore-axis", axis)
        assert f"axis={axis}" in address(browser)
        assert browser.driver.find_element("id", "explore-delta").is_enabled() == (axis in ("mu", "guaranteed"))
        assert marks(browser) == 27
    assert shown(5) == "1"
    assert "hollow" in browser.run("return document.getElementById('explore-note').textContent")


def test_a_press_on_a_name_singles_it_out_and_boxes_hide_and_show(browser: Browser) -> None:
    browser.driver.find_element("css selector", "#explore-legend button[data-line=laplace]").click()
    assert {row[0] for row in rows(browser)[1:]} == {"Laplace"}
    assert marks(browser) == 3
    assert "lines=laplace" in address(browser)
    assert browser.run("return document.activeElement.dataset.line") == "laplace"
    browser.driver.find_element("css selector", "#explore-legend button[data-line=laplace]").click()
    assert marks(browser) == 27
    browser.driver.find_element("css selector", "#explore-legend input[data-line=idn]").click()
    assert marks(browser) == 24
    assert "IDN" not in {row[0] for row in rows(browser)[1:]}
    browser.driver.find_element("css selector", "#explore-legend input[data-line=idn]").click()
    assert marks(browser) == 27


def test_an_address_opens_the_same_view(browser: Browser, report: Path) -> None:
    choose(browser, "explore-study", "tvg_testing")
    choose(browser, "explore-axis", "mu")
    choose(browser, "explore-delta", "1e-8")
    browser.driver.find_element("css selector", "#explore-legend button[data-line=mvg]").click()
    before, link = rows(browser), browser.run("return document.getElementById('explore-link').href")
    assert link == browser.run("return location.href")
    browser.driver.get("about:blank")
    browser.driver.get(link)
    assert rows(browser) == before
    assert browser.run("return document.getElementById('explore').getBoundingClientRect().top") < 100
    browser.driver.get(report.as_uri() + "#explore?study=nothing&axis=none&delta=7&lines=x")
    assert len(rows(browser)) == 29
    assert browser.messages() == []


def test_a_mark_tells_its_numbers_to_pointer_and_keys(browser: Browser) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    browser.driver.find_element("css selector", "#explore-legend button[data-line=tldp-l]").click()
    tip = browser.driver.find_element("id", "explore-tip")
    mark = browser.driver.find_element("css selector", '#explore-chart [data-line="tldp-l"] .mark:not(.untried)')
    ActionChains(browser.driver).move_to_element(mark).perform()
    assert tip.is_displayed()
    for text in ("TLDP-L", "0.375", "mean of 2 seeds from 0.25 to 0.5", "for one record (exact)", "ε ≥ 1 at δ = 1e-5"):
        assert text in tip.text
    mark.click()
    assert [link.get_attribute("href").split("/")[-1] for link in tip.find_elements("css selector", "a")] == [
        "report.html#paper-tldp",
        "tldp_type1.html",
    ]
    browser.driver.find_element("css selector", "#explore-legend button[data-line=tldp-l]").click()
    chart = browser.driver.find_element("css selector", "#explore-chart svg")
    chart.send_keys(Keys.ESCAPE)
    chart = browser.driver.find_element("css selector", "#explore-chart svg")
    seen = []
    for key in (Keys.RIGHT, Keys.RIGHT, Keys.DOWN, Keys.LEFT, Keys.UP):
        chart.send_keys(key)
        seen.append(tip.text.split("\n")[0])
        assert tip.is_displayed()
    assert seen[0] == seen[1] != seen[2]


def test_the_table_sorts_filters_and_is_kept_as_csv(browser: Browser) -> None:
    browser.run("document.getElementById('explore-numbers').open = true")
    heads = rows(browser)[0]
    for column, head in enumerate(heads):
        for down in (False, True):
            browser.run(f"document.querySelectorAll('#explore-table th button')[{column}].click()")
            said = browser.run(f"return document.querySelectorAll('#explore-table thead th')[{column}].ariaSort")
            assert said == ("descending" if down else "ascending"), head
            if head == "printed ε":
                shown = [float(row[column].replace("∞", "inf")) for row in rows(browser)[1:]]
                assert shown == sorted(shown, reverse=down)
    browser.driver.find_element("id", "explore-filter").send_keys("tldp-l")
    assert {row[0] for row in rows(browser)[1:]} == {"TLDP-L"}
    assert browser.driver.find_element("id", "explore-rows").text == "3 of 28 rows."
    text = browser.run(
        "let kept; const real = URL.createObjectURL; URL.createObjectURL = b => { kept = b; return real(b); };"
        "document.getElementById('explore-csv').click(); URL.createObjectURL = real; return kept.text();"
    )
    read = list(csv.reader(io.StringIO(text)))
    assert [row[0] for row in read] == [row[0] for row in rows(browser)]
    assert {float(row[6]) for row in read[1:]} == {0.375}


def test_a_study_of_the_page_opens_in_the_explorer(browser: Browser) -> None:
    browser.driver.find_element("css selector", "a[data-study=tvg_features]").click()
    assert "study=tvg_features" in address(browser)
    assert browser.run("return document.getElementById('explore').getBoundingClientRect().top") < 100


def test_the_page_is_short_before_anything_is_opened(shared: Browser, report: Path) -> None:
    for width, most in ((1280, 8 * 800), (375, 16 * 800)):
        shared.open(report, width)
        assert shared.run("return document.documentElement.scrollHeight") <= most
        assert shared.run("return document.querySelectorAll('details[open]').length") == 0


def test_it_can_be_read_in_the_dark(shared: Browser, report: Path) -> None:
    scheme = [{"name": "prefers-color-scheme", "value": "dark"}]
    shared.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    try:
        shared.open(report)
        shared.run("for (const e of document.querySelectorAll('details')) e.open = true")
        assert shared.run("return getComputedStyle(document.body).backgroundColor") == "rgb(22, 25, 29)"
        assert shared.problems() == []
    finally:
        shared.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def calculated(browser: Browser, **settings: Any) -> str:
    """What the calculator answers to these settings."""
    text: str = browser.run(
        "for (const [key, value] of Object.entries(arguments[0]))"
        "  document.getElementById('calculate-' + key).value = value;"
        "document.getElementById('calculate').dispatchEvent(new Event('input'));"
        "return document.getElementById('calculate-answer').textContent",
        {key: str(value) for key, value in settings.items()},
    )
    return text


def test_the_calculator_agrees_with_the_library(browser: Browser) -> None:
    generator, off, finite = np.random.default_rng(20), {}, 0
    for name in MECHANISMS:
        for _ in range(3):
            shape = SHAPES[generator.integers(len(SHAPES))]
            epsilon = float(f"{10 ** generator.uniform(-1, 2):.3g}")
            uses, delta = round(4 ** generator.uniform(0, 5)), float(generator.choice([0.0, *PROFILE_DELTAS]))
            size = "x".join(map(str, shape))
            said = calculated(browser, mechanism=name, shape=size, epsilon=epsilon, uses=uses, delta=delta_text(delta))
            true = make(name, epsilon=epsilon, domain=Box(0.0, 1.0, shape)).curve().compose(uses).epsilon(delta)
            if "ε below 0.05" in said:
                assert true < 0.05 * 1.01, said
            elif "no finite" in said or " under " in said:
                assert np.isinf(true), said
            elif "at most" in said:
                assert true <= float(said.split("at most ")[1].split(" ")[0]) * 1.001, said
            else:
                finite += 1
                answer = float(said.split("ε = ")[2].split(" ")[0])
                if not np.isclose(answer, true, rtol=0.01):
                    off[(name, shape, epsilon, uses, delta)] = (answer, true)
    assert off == {}
    assert finite >= len(MECHANISMS)


def test_the_calculator_says_what_it_cannot_take(browser: Browser) -> None:
    assert calculated(browser, epsilon=0) == "ε must be from 0.1 to 100."
    assert calculated(browser, epsilon="") == "ε must be from 0.1 to 100."
    assert calculated(browser, epsilon=1, uses=1.5) == "The number of uses must be a whole number from 1 to 1024."
    assert "no finite ε" in calculated(browser, epsilon=1, uses=1, mechanism="gaussian", delta=0)
    assert "One use of" in calculated(browser, mechanism="gaussian", delta="0.00001")
