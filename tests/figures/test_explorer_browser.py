"""Every control of the explorer and the calculator, pressed in a real browser."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
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
    draw(folder / "figures", 1)
    (folder / "report.html").write_text(page(folder / "figures", guarantees=profiles()))
    return folder / "report.html"


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    with open_browser() as found:
        yield found


@pytest.fixture
def browser(shared: Browser, report: Path) -> Browser:
    shared.open(report)
    shared.run("document.getElementById('explore-more').open = true")
    return shared


@contextmanager
def emulated(browser: Browser, name: str, value: str) -> Iterator[None]:
    """What a reader asks of all pages."""
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": name, "value": value}]})
    try:
        yield
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def places(browser: Browser, line: str) -> list[float]:
    """Where the marks of a line stand, from left to right."""
    found: list[float] = browser.run(
        f"""return [...document.querySelectorAll('#explore-chart [data-line="{line}"] .mark')]"""
        ".map(mark => mark.transform.baseVal.getItem(0).matrix.e)"
    )
    return found


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


def settled(browser: Browser) -> None:
    """Wait until nothing moves."""
    browser.run("return new Promise(done => setTimeout(done, 700))")


def test_it_opens_on_the_argument(browser: Browser) -> None:
    assert options(browser, "explore-study") == list(STUDIES)
    assert "study=tldp_type1" in browser.run("return document.getElementById('explore-link').href")
    pressed = browser.run("return [...document.querySelectorAll('[data-axis]')].map(b => b.ariaPressed)")
    assert pressed == ["true", "false"]
    shown = browser.run("return [...document.querySelectorAll('#explore-legend input')].map(b => b.checked)")
    assert shown == [True] * 6 + [False] * 4  # five mechanisms and no privacy
    numbers = browser.run("return [...document.querySelectorAll('#explore-chart .axes text')].map(t => t.textContent)")
    assert {"0.1", "1", "10", "100"} <= set(numbers)
    assert browser.messages() == []


def test_the_switch_moves_the_points_to_the_true_axis(browser: Browser) -> None:
    before = places(browser, "tldp-l")
    ends = browser.run("""
        const seen = [], line = '#explore-chart [data-line="tldp-l"] .mark';
        const look = () => document.querySelector(line).transform.baseVal.getItem(0).matrix.e;
        document.querySelector("button[data-axis=guaranteed]").click();
        return new Promise(done => {
          const start = performance.now();
          const watch = () => {
            seen.push(look());
            performance.now() - start < 700 ? requestAnimationFrame(watch) : done(seen);
          };
          watch();
        })""")
    after = places(browser, "tldp-l")
    assert ends == sorted(ends)
    assert ends[0] == before[0] < after[0] == ends[-1]
    assert len(set(ends)) > 5  # on its way
    assert "axis=guaranteed" in address(browser)
    browser.driver.find_element("css selector", "button[data-axis=printed]").click()
    settled(browser)
    assert places(browser, "tldp-l") == before
    assert browser.messages() == []


def test_nothing_moves_where_the_reader_asks_for_less_motion(shared: Browser, report: Path) -> None:
    with emulated(shared, "prefers-reduced-motion", "reduce"):
        shared.open(report)
        before = places(shared, "tldp-l")
        at_once = shared.run("""
            document.querySelector("button[data-axis=guaranteed]").click();
            const mark = document.querySelector('#explore-chart [data-line="tldp-l"] .mark');
            return mark.transform.baseVal.getItem(0).matrix.e""")
        settled(shared)
        assert before[0] < at_once == places(shared, "tldp-l")[0]


@pytest.mark.parametrize("width", [360, 1280])
def test_the_words_about_a_mark_cover_nothing_of_the_chart(shared: Browser, report: Path, width: int) -> None:
    shared.open(report, width)
    shared.run("document.querySelector('#explore-chart svg').focus()")
    chart = shared.driver.find_element("css selector", "#explore-chart svg")
    for key in ("\ue014", "\ue014", "\ue015"):
        chart.send_keys(key)
        below, above = shared.run(
            "return ['explore-tip', 'explore-chart'].map(id => document.getElementById(id).getBoundingClientRect())"
            ".map((box, i) => i ? box.top : box.bottom)"
        )
        assert below <= above
    assert shared.run("return document.documentElement.scrollWidth") <= width


def test_the_line_of_a_mark_stands_out(browser: Browser) -> None:
    from selenium.webdriver import ActionChains

    mark = browser.driver.find_element("css selector", '#explore-chart [data-line="tldp-l"] .mark')
    ActionChains(browser.driver).move_to_element(mark).perform()
    browser.run("return new Promise(done => setTimeout(done, 300))")
    shown = browser.run("""
        return [...document.querySelectorAll("#explore-chart .line")].map(
          line => [line.classList.contains("near"), getComputedStyle(line).opacity])""")
    assert sorted(shown) == [[False, "0.25"]] * 5 + [[True, "1"]]


def test_every_study_data_set_metric_and_setting_can_be_chosen(browser: Browser) -> None:
    for study, names in reversed(STUDIES.items()):
        choose(browser, "explore-study", study)
        assert options(browser, "explore-metric") == sorted(names)
        assert options(browser, "explore-dataset") == ["digits"]
        assert options(browser, "explore-setting") == [""]
        for metric in names:
            choose(browser, "explore-metric", metric)
            assert f"study={study}" in address(browser)
            assert len(rows(browser)) == 1 + 1 + 3 * 5
            browser.run("document.querySelector('#explore-legend .every').click()")
            assert len(rows(browser)) == 1 + len(metrics().query("study == @study and metric == @metric")) // 2
            browser.run("document.querySelector('#explore-legend .every').click()")
    choose(browser, "explore-dataset", "digits")
    choose(browser, "explore-setting", "")
    assert browser.messages() == []


def test_the_axis_and_delta_move_the_points_to_what_is_stored(browser: Browser) -> None:
    table = profiles().query("study == 'tldp_type1' and mechanism == 'laplace' and epsilon == 1")
    line = "Laplace"

    def shown(column: int) -> str:
        return next(row[column] for row in rows(browser)[1:] if row[0] == line and row[1] == "1")

    assert not browser.driver.find_element("id", "explore-delta").is_enabled()
    choose(browser, "explore-axis", "guaranteed")
    for delta in (0.0, *PROFILE_DELTAS):
        choose(browser, "explore-delta", delta_text(delta))
        stored = float(table[f"epsilon_at_{delta:g}"].iloc[0])
        assert shown(2) == ("∞" if np.isinf(stored) else f"{stored:.4g}")
    for axis in ("printed", "pure", "mu", "guaranteed"):
        choose(browser, "explore-axis", axis)
        assert f"axis={axis}" in address(browser)
        assert browser.driver.find_element("id", "explore-delta").is_enabled() == (axis in ("mu", "guaranteed"))
        settled(browser)
        assert marks(browser) == 15
    assert shown(5) == "1"
    assert "Hollow: no audit tried it" in browser.run("return document.getElementById('explore-tip').textContent")


def test_a_press_on_a_name_singles_it_out_and_boxes_hide_and_show(browser: Browser) -> None:
    browser.driver.find_element("css selector", "#explore-legend button[data-line=laplace]").click()
    assert {row[0] for row in rows(browser)[1:]} == {"Laplace"}
    assert marks(browser) == 3
    assert "lines=laplace" in address(browser)
    assert browser.run("return document.activeElement.dataset.line") == "laplace"
    browser.driver.find_element("css selector", "#explore-legend button[data-line=laplace]").click()
    assert marks(browser) == 15
    browser.driver.find_element("css selector", "#explore-legend input[data-line=idn]").click()
    assert marks(browser) == 18
    assert "IDN" in {row[0] for row in rows(browser)[1:]}
    browser.driver.find_element("css selector", "#explore-legend input[data-line=idn]").click()
    assert marks(browser) == 15
    browser.driver.find_element("css selector", "#explore-legend .every").click()
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
    assert len(rows(browser)) == 17
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
    assert browser.driver.find_element("id", "explore-rows").text == "3 of 16 rows."
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
    for width, most in ((1280, 9 * 800), (375, 16 * 800)):
        shared.open(report, width)
        assert shared.run("return document.documentElement.scrollHeight") <= most
        assert shared.run("return document.querySelectorAll('details[open]').length") == 0


def test_it_can_be_read_in_the_dark(shared: Browser, report: Path) -> None:
    with emulated(shared, "prefers-color-scheme", "dark"):
        shared.open(report)
        shared.run("for (const e of document.querySelectorAll('details')) e.open = true")
        assert shared.run("return getComputedStyle(document.body).backgroundColor") == "rgb(22, 25, 29)"
        assert shared.problems() == []


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


def test_the_calculator_opens_on_tldp(browser: Browser) -> None:
    said = browser.run("return document.getElementById('calculate-answer').textContent")
    true = make("tldp-l", epsilon=1.0, domain=Box(0.0, 1.0, (28, 28))).curve().epsilon(1e-5)
    assert said.startswith("One use of TLDP-L at the nominal ε = 1 on a record of 28 × 28 elements")
    assert said.endswith(f"ε = {true:.4g} at δ = 1e-5.")


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
