"""The report in a real browser: silent, offline, on a phone, without a mouse or scripts, accessible; every control."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import DECODED, OPENED, Browser, open_browser
from report_page import STUDIES, claims, draw, metrics, page, profiles

from tensorldp.deltas import PROFILE_DELTAS
from tensorldp.mechanisms import Box, make
from tensorldp_papers.report.stored_curves import MECHANISMS, SHAPES

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
EAGER = OPENED + "for (const image of document.images) image.loading = 'eager';" + DECODED
MARK = '#explore-chart [data-line="tldp-l"] .mark'
TAB, ENTER, ESCAPE, LEFT, UP, RIGHT, DOWN = "\ue004\ue007\ue00c\ue012\ue013\ue014\ue015"
PROBE = """
    const id = name => document.getElementById(name), all = selector => [...document.querySelectorAll(selector)];
    const text = name => id(name).textContent, box = name => id(name).getBoundingClientRect();
    const cells = selector => all(selector).map(row => [...row.cells].map(cell => cell.textContent));
    const claims = () => all("#claims-table tbody tr").filter(r => r.checkVisibility()).map(r => r.id.slice(6));
    const rows = () => cells("#explore-table tr"), lines = () => [...new Set(rows().slice(1).map(row => row[0]))];
    const marks = () => all("#explore-chart .line .mark").length, root = document.documentElement;
    const options = key => [...id("explore-" + key).options].map(option => option.value);
    const places = () => all('#explore-chart [data-line="tldp-l"] .mark').map(m => m.transform.baseVal[0].matrix.e);
    const settled = (time = 700) => new Promise(done => setTimeout(done, time));
    """


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "report.html").write_text(page(draw(folder / "figures")))
    return folder / "report.html"


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    with open_browser() as found:
        found.probe = PROBE
        yield found


@pytest.fixture
def browser(shared: Browser, report: Path) -> Browser:
    """The browser with the report, all of the explorer's choices and all claims shown; nothing moves."""
    shared.open(report, reduced_motion="reduce")
    shared.run("for (const id of ['explore-more', 'all-claims']) document.getElementById(id).open = true")
    return shared


# the page


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_the_page_fits_and_is_accessible_at_every_width(shared: Browser, report: Path, width: int) -> None:
    shared.open(report, width)
    assert shared.ask("[innerWidth, all('details[open]').length]") == [width, 0]
    assert shared.ask("root.scrollHeight") <= (9 if width > 860 else 16) * 800
    assert shared.problems() == []
    shared.run(EAGER)
    assert shared.problems() == []
    assert shared.ask("root.scrollWidth") <= width
    controls = "all('button, select, input, nav a').filter(e => e.checkVisibility())"
    assert shared.ask(f"Math.min(...{controls}.map(e => e.getBoundingClientRect().height))") >= 24
    first = "(({naturalWidth}, {width, top}) => [naturalWidth, width, top])"
    natural, wide, above = shared.ask(first + "(document.images[0], document.images[0].getBoundingClientRect())")
    assert wide <= natural == (830 if width > 860 else 360)  # a figure is drawn for the width at which it is shown
    assert above < 320


def test_it_opens_without_a_network_and_without_a_word_in_the_console(shared: Browser, report: Path) -> None:
    shared.open(report)
    assert shared.ask("navigator.onLine") is False
    assert shared.requests() == [report.as_uri()]
    shared.run(EAGER)
    assert set(shared.ask("all('img').map(image => image.currentSrc.slice(0, 19))")) == {"data:image/svg+xml,"}
    assert shared.messages() == []


def test_it_can_be_read_in_the_dark_where_figures_have_no_white_box(shared: Browser, report: Path) -> None:
    shared.open(report, color_scheme="dark")
    shared.run(EAGER)
    assert shared.ask("getComputedStyle(document.body).backgroundColor") == "rgb(22, 25, 29)"
    assert shared.problems() == []
    paper = (
        "const paper = document.createElement('canvas').getContext('2d'); paper.drawImage(document.images[0], 0, 0);"
    )
    assert shared.run(paper + "return [...paper.getImageData(2, 2, 1, 1).data]")[:3] == [22, 25, 29]


def test_the_accessibility_check_finds_what_is_wrong(browser: Browser) -> None:
    browser.run("""const first = selector => document.querySelector(selector);
        first('img').alt = first('nav a').textContent = document.documentElement.lang = '';
        for (const gone of ['h1', 'table caption', 'label[for=by-text]']) first(gone).remove();
        first('thead th').removeAttribute('scope');
        first('header p').style.color = '#8a8a8a';
        first('#explore-numbers').open = true;
        first('.scroll').removeAttribute('tabindex');
        first('.scroll').style.width = '50px';
        first('footer').id = 'main'""")
    assert {problem.split(":")[0] for problem in browser.problems()} >= {
        *("no alternative text", "no language", "not one <h1>", "no caption", "no scope", "no label", "contrast 3.45"),
        *("scrolls, but not by keyboard", "no name", "an id twice"),
    }


def test_every_focus_is_seen(browser: Browser) -> None:
    names = []
    for _ in range(12):
        browser.driver.switch_to.active_element.send_keys(TAB)
        names.append(browser.ask("document.activeElement.textContent"))
        assert browser.ask("getComputedStyle(document.activeElement).outline").endswith("solid 3px"), names
    assert names[0] == "Skip to the content"


def test_one_button_opens_all_figures_and_contents_stay_in_sight_where_there_is_room(browser: Browser) -> None:
    drawers = "[...new Set(all('details.drawer').map(drawer => drawer.open))]"
    assert browser.ask(drawers) == [False]
    for opened in (True, False):
        browser.find("#all-figures").click()
        assert browser.ask(f"[{drawers}, id('all-figures').ariaPressed]") == [[opened], str(opened).lower()]
    browser.run("document.getElementById('claims').scrollIntoView()")
    contents, page = browser.ask("['nav', 'main'].map(n => document.querySelector(n).getBoundingClientRect().toJSON())")
    assert 0 <= contents["top"] < contents["bottom"] <= browser.ask("innerHeight")
    assert contents["right"] <= page["left"]  # beside what it leads to, and over nothing


@pytest.mark.parametrize(("width", "beside"), [(390, False), (1280, True), (1600, True)])
def test_words_stand_beside_pictures_and_verdicts_side_by_side_where_there_is_room(
    shared: Browser, report: Path, width: int, beside: bool
) -> None:
    shared.open(report, width)
    boxes = "[...document.querySelectorAll(arguments[0])].slice(0, 2).map(e => e.getBoundingClientRect().toJSON())"
    for selector in ("main figure > picture, main figure > figcaption", ".verdicts"):
        first, second = shared.ask(boxes, selector)
        assert (first["right"] <= second["left"]) == beside
        assert (first["bottom"] <= second["top"]) != beside
    findings = shared.ask("[...document.querySelectorAll('ul.findings li')].map(e => e.getBoundingClientRect().left)")
    assert len(set(findings)) == 1 + beside
    assert shared.ask("root.scrollWidth") <= width


def test_without_scripts_everything_is_still_there(shared: Browser, report: Path) -> None:
    shared.open(report, scripts=False)
    shared.find("#all-claims > summary").click()
    assert shared.ask("claims()") == list(claims()["id"])
    assert not shared.find("#filters").is_displayed()
    assert shared.find("#claims-table th").text == "id"
    assert shared.ask("all('noscript img')[0].naturalWidth") == 830


# claims


def test_claims_are_filtered_by_source_kind_verdict_and_words_and_sorted_by_keyboard(browser: Browser) -> None:
    table = claims()
    assert browser.ask("claims()") == list(table["id"])
    for key, value in {"source": "tvg", "kind": "theorem", "verdict": "refuted"}.items():
        browser.ask("id('by-' + arguments[0]).value = arguments[1]", key, value)
        browser.ask("id('filters').dispatchEvent(new Event('input'))")
        table = table[table[key] == value]
        assert browser.ask("claims()") == list(table["id"])
        assert browser.ask("text('shown')") == f"{len(table)} of 165 claims."
    browser.find("#filters button[type=reset]").click()
    table = claims()
    for key in ("id", "kind"):
        for direction in ("ascending", "descending"):
            browser.find(f"th[data-key={key}] button").send_keys(ENTER)
            assert browser.ask("all('[aria-sort]').map(e => [e.dataset.key, e.ariaSort])") == [[key, direction]]
            table = table.sort_values(key, ascending=direction == "ascending", kind="stable")
            assert browser.ask("claims()") == list(table["id"])
    browser.find("#by-text").send_keys("STATEMENT 77")
    words = table["claim"] + table["observed"]
    assert browser.ask("claims()") == list(table[words.str.contains("77")]["id"])


def test_a_count_of_a_bar_and_one_of_the_table_lead_to_their_claims(browser: Browser) -> None:
    browser.driver.implicitly_wait(1)
    theorems = claims().query("verdict == 'refuted' and kind == 'theorem'")
    browser.find(".counted a[data-kind=theorem][data-verdict=refuted]").click()
    browser.ask("settled(100)")
    assert browser.ask("claims()") == list(theorems["id"])
    browser.ask("all('.counts')[0].parentElement.open = true")
    browser.find("table.counts a[data-source=latent][data-kind=theorem][data-verdict=refuted]").click()
    browser.ask("settled(100)")
    assert browser.ask("claims()") == list(theorems.query("source == 'latent'")["id"])
    assert browser.ask("box('claims').top") < 800


# the explorer


def choose(browser: Browser, **chosen: str) -> None:
    """Take options of selects, as a reader would."""
    for key, value in chosen.items():
        browser.find(f"#explore-{key} option[value='{value}']").click()


def delta_text(delta: float) -> str:
    """A delta as JavaScript writes it."""
    return "0" if delta == 0 else (f"{delta:.6f}".rstrip("0") if delta >= 1e-6 else f"{delta:g}".replace("e-0", "e-"))


def test_it_opens_on_the_argument_and_names_single_out_and_boxes_hide_and_show(browser: Browser) -> None:
    assert browser.ask("options('study')") == list(STUDIES)
    assert "study=tldp_type1" in browser.ask("id('explore-link').href")
    assert browser.ask("all('[data-axis]').map(button => button.ariaPressed)") == ["true", "false"]
    shown = [True] * 6 + [False] * 4  # five mechanisms and no privacy
    assert browser.ask("all('#explore-legend input').map(box => box.checked)") == shown
    numbers = browser.ask("all('#explore-chart .axes text').map(number => number.textContent)")
    assert {"0.1", "1", "10", "100"} <= set(numbers)
    for press, count in (
        ("button[data-line=laplace]", 3),
        ("button[data-line=laplace]", 15),
        ("input[data-line=idn]", 18),
        ("input[data-line=idn]", 15),
        (".every", 27),
        (".every", 15),
        ("button[data-line=laplace]", 3),
    ):
        browser.find(f"#explore-legend {press}").click()
        assert browser.ask("marks()") == count
        assert ("IDN" in browser.ask("lines()")) == (count in (18, 27))
    assert browser.ask("[lines(), document.activeElement.dataset.line]") == [["Laplace"], "laplace"]
    assert "lines=laplace" in browser.ask("location.hash")


def test_the_switch_moves_the_points_to_the_true_axis(shared: Browser, report: Path) -> None:
    shared.open(report)
    before = shared.ask("places()")
    seen = shared.ask("""new Promise(done => {
        const seen = [], start = performance.now(), watch = () => {
          seen.push(places()[0]);
          performance.now() - start < 700 ? requestAnimationFrame(watch) : done(seen);
        };
        all("button[data-axis=guaranteed]")[0].click();
        watch();
      })""")
    assert seen == sorted(seen)
    assert seen[0] == before[0] < seen[-1] == shared.ask("places()")[0]
    assert len(set(seen)) > 5  # on its way
    assert "axis=guaranteed" in shared.ask("location.hash")
    shared.find("button[data-axis=printed]").click()
    shared.ask("settled()")
    assert shared.ask("places()") == before
    assert shared.messages() == []


def test_nothing_moves_where_the_reader_asks_for_less_motion(browser: Browser) -> None:
    before, at_once = browser.ask("[places(), (all('button[data-axis=guaranteed]')[0].click(), places())]")
    browser.ask("settled()")
    assert before[0] < at_once[0]
    assert at_once == browser.ask("places()")


@pytest.mark.parametrize("width", [360, 1280])
def test_the_words_about_a_mark_cover_nothing_of_the_chart(shared: Browser, report: Path, width: int) -> None:
    shared.open(report, width)
    chart = shared.find("#explore-chart svg")
    for key in (RIGHT, RIGHT, DOWN):
        chart.send_keys(key)
        assert shared.ask("box('explore-tip').bottom <= box('explore-chart').top")
    assert shared.ask("root.scrollWidth") <= width


def test_every_study_data_set_metric_and_setting_can_be_chosen(browser: Browser) -> None:
    runs = metrics()
    for study, names in reversed(STUDIES.items()):
        choose(browser, study=study)
        found = browser.ask("['metric', 'dataset', 'setting'].map(options)")
        assert found == [sorted(names), ["digits"], [""]]
        for metric in names:
            choose(browser, metric=metric)
            assert f"study={study}" in browser.ask("location.hash")
            every = len(runs.query("study == @study and metric == @metric")) // 2
            for count in (1 + 3 * 5, every):
                assert len(browser.ask("rows()")) == 1 + count
                browser.find("#explore-legend .every").click()
    choose(browser, dataset="digits", setting="")
    assert browser.messages() == []


def test_the_axis_and_delta_move_the_points_to_what_is_stored(browser: Browser) -> None:
    table = profiles().query("study == 'tldp_type1' and mechanism == 'laplace' and epsilon == 1")
    laplace = "rows().find(row => row[0] === 'Laplace' && row[1] === '1')"
    assert not browser.find("#explore-delta").is_enabled()
    choose(browser, axis="guaranteed")
    for delta in (0.0, *PROFILE_DELTAS):
        choose(browser, delta=delta_text(delta))
        stored = float(table[f"epsilon_at_{delta:g}"].iloc[0])
        assert browser.ask(laplace)[2] == ("∞" if np.isinf(stored) else f"{stored:.4g}")
    for axis in ("printed", "pure", "mu", "guaranteed"):
        choose(browser, axis=axis)
        assert f"axis={axis}" in browser.ask("location.hash")
        assert browser.find("#explore-delta").is_enabled() == (axis in ("mu", "guaranteed"))
        assert browser.ask("marks()") == 15
    assert browser.ask(laplace)[5] == "1"
    assert "Hollow: no audit tried it" in browser.ask("text('explore-tip')")


def test_an_address_opens_the_same_view(browser: Browser, report: Path) -> None:
    choose(browser, study="tvg_testing", axis="mu", delta="1e-8")
    browser.find("#explore-legend button[data-line=mvg]").click()
    before, link, own = browser.ask("[rows(), id('explore-link').href, location.href]")
    assert link == own
    browser.go("about:blank")
    browser.go(link)
    assert browser.ask("rows()") == before
    assert browser.ask("box('explore').top") < 100
    browser.go(report.as_uri() + "#explore?study=nothing&axis=none&delta=7&lines=x")
    browser.wait("rows().length === 17")
    browser.find("a[data-study=tvg_features]").click()  # of the study's own section
    assert "study=tvg_features" in browser.ask("location.hash")
    assert browser.ask("box('explore').top") < 100
    assert browser.messages() == []


def test_a_mark_stands_out_and_tells_its_numbers_to_pointer_and_keys(browser: Browser) -> None:
    browser.point(MARK)
    browser.ask("settled(300)")
    near = "all('#explore-chart .line').map(line => [line.matches('.near'), getComputedStyle(line).opacity])"
    assert sorted(browser.ask(near)) == [[False, "0.25"]] * 5 + [[True, "1"]]
    single = "#explore-legend button[data-line=tldp-l]"
    browser.find(single).click()
    tip, mark = browser.find("#explore-tip"), browser.point(MARK + ":not(.untried)")
    for part in ("TLDP-L", "0.375", "mean of 2 seeds from 0.25 to 0.5", "for one record (exact)", "ε ≥ 1 at δ = 1e-5"):
        assert part in tip.text
    mark.click()
    links = [link.get_attribute("href").split("/")[-1] for link in tip.find_elements("css selector", "a")]
    assert links == ["report.html#paper-tldp", "tldp_type1.html"]
    browser.find(single).click()
    browser.find("#explore-chart svg").send_keys(ESCAPE)
    seen = []
    for key in (RIGHT, RIGHT, DOWN, LEFT, UP):
        browser.find("#explore-chart svg").send_keys(key)
        seen.append(tip.text.split("\n")[0])
        assert tip.is_displayed()
    assert seen[0] == seen[1] != seen[2]


def test_the_table_sorts_filters_and_is_kept_as_csv(browser: Browser) -> None:
    browser.ask("id('explore-numbers').open = true")
    for column, head in enumerate(browser.ask("rows()[0]")):
        for way in ("ascending", "descending"):
            browser.ask(f"all('#explore-table th button')[{column}].click()")
            assert browser.ask(f"all('#explore-table thead th')[{column}].ariaSort") == way
            if head == "printed ε":
                printed = [float(row[column].replace("∞", "inf")) for row in browser.ask("rows()")[1:]]
                assert printed == sorted(printed, reverse=way == "descending")
    browser.find("#explore-filter").send_keys("tldp-l")
    assert browser.ask("[lines(), text('explore-rows')]") == [["TLDP-L"], "3 of 16 rows."]
    kept = browser.run(
        "let kept; const real = URL.createObjectURL; URL.createObjectURL = b => { kept = b; return real(b); };"
        "document.getElementById('explore-csv').click(); URL.createObjectURL = real; return kept.text();"
    )
    read = list(csv.reader(io.StringIO(kept)))
    assert [row[0] for row in read] == [row[0] for row in browser.ask("rows()")]
    assert {float(row[6]) for row in read[1:]} == {0.375}


# the calculator


def calculated(browser: Browser, **settings: Any) -> str:
    """What the calculator answers to these settings."""
    for key, value in settings.items():
        browser.ask("id('calculate-' + arguments[0]).value = arguments[1]", key, str(value))
    return str(browser.ask("(id('calculate').dispatchEvent(new Event('input')), text('calculate-answer'))"))


def test_the_calculator_opens_on_tldp_and_says_what_it_cannot_take(browser: Browser) -> None:
    said = browser.ask("text('calculate-answer')")
    true = make("tldp-l", epsilon=1.0, domain=Box(0.0, 1.0, (28, 28))).curve().epsilon(1e-5)
    assert said.startswith("One use of TLDP-L at the nominal ε = 1 on a record of 28 × 28 elements")
    assert said.endswith(f"ε = {true:.4g} at δ = 1e-5.")
    for epsilon in (0, ""):
        assert calculated(browser, epsilon=epsilon) == "ε must be from 0.1 to 100."
    assert calculated(browser, epsilon=1, uses=1.5) == "The number of uses must be a whole number from 1 to 1024."
    assert "no finite ε" in calculated(browser, epsilon=1, uses=1, mechanism="gaussian", delta=0)
    assert "One use of" in calculated(browser, mechanism="gaussian", delta="0.00001")


def bounds(said: str) -> tuple[float, float]:
    """Between which numbers epsilon is, after what the calculator says."""
    if "ε below 0.05" in said:
        return 0.0, 0.05 * 1.01
    if "no finite" in said or " under " in said:
        return np.inf, np.inf
    if "at most" in said:
        return 0.0, float(said.split("at most ")[1].split(" ")[0]) * 1.001
    answer = float(said.split("ε = ")[2].split(" ")[0])
    return answer * 0.99, answer * 1.01


def test_the_calculator_agrees_with_the_library(browser: Browser) -> None:
    generator, finite = np.random.default_rng(20), 0
    for name in [name for name in MECHANISMS for _ in range(3)]:
        shape = SHAPES[generator.integers(len(SHAPES))]
        epsilon = float(f"{10 ** generator.uniform(-1, 2):.3g}")
        uses, delta = round(4 ** generator.uniform(0, 5)), float(generator.choice([0.0, *PROFILE_DELTAS]))
        given = {"shape": "x".join(map(str, shape)), "epsilon": epsilon, "uses": uses, "delta": delta_text(delta)}
        low, high = bounds(said := calculated(browser, mechanism=name, **given))
        true = make(name, epsilon=epsilon, domain=Box(0.0, 1.0, shape)).curve().compose(uses).epsilon(delta)
        assert low <= true <= high, (said, true)
        finite += 0.0 < low < np.inf
    assert finite >= len(MECHANISMS)
