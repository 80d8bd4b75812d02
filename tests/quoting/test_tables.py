"""The tables of pages: what the sources print beside the kept results, what is kept and what is open."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.quoting.printed import Printed, PrintedNumber, printed_table
from tensorldp_papers.quoting.templates import figures_table, kept_table, open_table, pieces_table, with_links
from tensorldp_papers.quoting.values import Quotes, Table, read_as
from tensorldp_papers.room_folders import room_files
from tensorldp_papers.rooms import paper_of, papers
from tensorldp_papers.run.code_digest import source_files

ROOT = Path(__file__).parents[2]
CELL = {"study": "s", "dataset": "d", "variant": "v", "mechanism": "m", "metric": "accuracy"}
OURS = {"of": "ours", **CELL, "epsilon": 1.0, "scale": 100, "format": ".1f", "unit": "%"}
POWER = {"of": "power of I", "claim": "X1", "number": "power", "format": ".2f"}


@pytest.fixture
def quotes(tmp_path: Path) -> Quotes:
    rows = pd.DataFrame({**CELL, "epsilon": [1.0, 1.0, 1.0, 2.0], "seed": [0, 1, 2, 0], "value": [0.5, 0.6, 0.7, 0.9]})
    rows.to_parquet(tmp_path / "metrics.parquet")
    claims = pd.DataFrame({"id": ["X1"], "verdict": ["refuted"], "numbers": ['[{"name": "power", "value": 3.97}]']})
    claims.to_csv(tmp_path / "claims.csv", index=False)
    return Quotes(Table(entries={}), tmp_path)


def line(quotes: Quotes, *ours: dict[str, Any], **changes: Any) -> str:
    entry = {"place": "Table 1", "what": "accuracy | test", "printed": "90 %", "claims": ["X1"], "ours": ours}
    return printed_table([PrintedNumber.model_validate({**entry, **changes})], quotes).splitlines()[-1]


def test_ours_has_an_interval_over_seeds_and_says_how_many_once(quotes: Quotes) -> None:
    # mean 0.6, standard deviation 0.1, t_{0.975, 2} = 4.3027: half width 0.2484
    assert line(quotes, OURS) == "| Table 1 | accuracy \\| test | 90 % | ours: 60.0 ± 24.8 %, 3 seeds | X1 refuted |"
    both = line(quotes, OURS, {**OURS, "of": "again"}, differs="on digits")
    assert "| ours: 60.0 ± 24.8 %; again: 60.0 ± 24.8 % (3 seeds each; on digits) |" in both
    several = line(quotes, OURS, {**OURS, "of": "one", "epsilon": 2.0}, POWER, differs="on digits")
    assert "| ours: 60.0 ± 24.8 %, 3 seeds; one: 90.0 %, one seed; power of I: 3.97 (on digits) |" in several


def test_what_was_not_computed_says_why(quotes: Quotes) -> None:
    assert "| 90 % | not run on SVHN | X1 refuted |" in line(quotes, without="not run on SVHN")


@pytest.mark.parametrize(
    ("ours", "claims", "message"), [(OURS, ["X2"], "X2"), ({**POWER, "number": "size"}, ["X1"], "unknown number of X1")]
)
def test_an_entry_that_the_kept_results_lack_is_named(
    quotes: Quotes, ours: dict[str, Any], claims: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        line(quotes, ours, claims=claims)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{source: tvg, numbers: [{place: p, what: w, printed: x, claims: [V01]}]}", "either ours, or without"),
        ("{source: xyz, numbers: [{place: p, what: w, printed: x, without: y, claims: []}]}", "source must be one of"),
        ("numbers: [", "is not YAML"),
    ],
)
def test_a_mistake_in_the_table_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "printed.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_as(tmp_path / "printed.yaml", Printed)


def test_what_figures_draw_is_what_the_pages_print_and_both_are_made_anew_where_it_changes() -> None:
    sources = [read_as(path, Printed) for path in room_files("printed.yaml").values()]
    assert {source.source for source in sources} == set(papers())
    numbers = [number for source in sources for number in source.numbers]
    drawn = [(number.printed, point["value"]) for number in numbers for point in number.points]
    assert len(drawn) == len(printed_points()) > 30
    assert [pair for pair in drawn if f"{100 * float(pair[1]):.4g} %" not in pair[0]] == []
    scripts = (ROOT / "workflow" / "scripts" / f"{name}.py" for name in ("report", "quotes"))
    jobs = [ROOT / "notebooks" / "tldp_type1.ipynb", *scripts]
    assert [job for job in jobs if not set(room_files("printed.yaml").values()) <= set(source_files((job,)))] == []


def test_a_study_has_one_row_with_its_cells_and_seeds() -> None:
    cells = ["d none inf 0", "d m 1 0", "d m 1 1", "d m 2 0", "c m 2 0", "c n 1 0"]
    rows = pd.DataFrame(
        [c.split() for c in cells for _ in range(2)], columns=["dataset", "mechanism", "epsilon", "seed"]
    )
    seconds = [
        1800.0 + shared for shared in (0, 1, 2, 1, 3, 4) for _ in range(2)
    ]  # d m 1 0 and d m 2 0 share a network
    rows = rows.assign(study="s", seconds=seconds, scale="desk", variant="v", precision=["float32"] * 11 + ["compiled"])
    for seeds, hours, part in (("1 to 2", "2.5", rows), ("1", "2.0", rows[rows["seed"] == "0"])):
        (line,) = kept_table(part).splitlines()[2:]
        assert line == f"| `s` | c, d | desk | 5 | {seeds} | 2 | {hours} | compiled, float32 |"


def test_a_piece_says_what_stands_on_top_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("# Decides X1:\n# an hour.\nscale: desk  # not this\n")
    (tmp_path / "a.yaml").write_text("# Nothing.\nscale: desk\n# nor this\n")
    (tmp_path / "c.yaml").write_text("# Nothing.\n")
    assert pieces_table(tmp_path).splitlines()[2:] == ["| `a`, `c` | Nothing. |", "| `b` | Decides X1: an hour. |"]


def test_open_claims_say_how_many_seeds_and_what_else_they_need() -> None:
    rows = [
        ("X1", "refuted", "", "[]"),
        ("X2", "undecided", "5", '["d: 10 of 60 records", "e: 1 of 10 epochs"]'),
        ("X3", "undecided", "inf", "[]"),
        ("X4", "undecided", "", '["d: 10 of 60 records"]'),
        ("X5", "not run at this scale", float("nan"), '["needs s on d"]'),
    ]
    claims = pd.DataFrame(rows, columns=["id", "verdict", "seeds_needed", "missing"])
    lines = open_table(claims.assign(claim="what " + claims["id"] + " says")).splitlines()
    assert lines[0] == "4 of 5 claims are open."
    assert lines[4:] == [
        "| X2: what X2 says | undecided | 5 | d: 10 of 60 records; and more |",
        "| X3: what X3 says | undecided | over 40 |  |",
        "| X4: what X4 says | undecided |  | d: 10 of 60 records |",
        "| X5: what X5 says | not run at this scale |  | needs s on d |",
    ]


def test_every_kept_need_is_read() -> None:
    claims = pd.read_csv(ROOT / "results" / "reference" / "claims.csv")
    table = open_table(claims)
    assert table.count("\n| ") == int(claims["verdict"].isin(["undecided", "not run at this scale"]).sum()) + 1
    assert "the limit being" not in table
    assert "would do" not in table


def test_codes_of_claims_lead_to_their_lines_in_the_table_but_not_in_code_or_in_links() -> None:
    text = "It holds (T07, T08), as `T07` and [T07](a.md) say; H20 is none."
    expected = "It holds ([T07](t.csv#L2), [T08](t.csv#L3)), as `T07` and [T07](a.md) say; H20 is none."
    assert with_links(text, "t.csv", ["T07", "T08"]) == expected


@pytest.mark.parametrize("source", list(papers()))
def test_each_figure_of_a_paper_has_a_target_a_notebook_and_what_is_kept(source: str) -> None:
    _, _, *rows = figures_table(source, ROOT).splitlines()
    drawn = [re.search(r"results/figures/(\w+)\.svg", row) for row in rows]
    names = [found[1] for found in drawn if found]
    assert len(names) == len(rows) >= 1
    assert {paper_of(name) for name in names} == {source}
    assert [name for name in names if f"[figure](../figures/{name}.svg)" not in "".join(rows)] == []
