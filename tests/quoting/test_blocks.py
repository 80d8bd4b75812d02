"""The computed tables of docs/evidence.md."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tensorldp_papers.quoting.templates import kept_table, open_table

ROOT = Path(__file__).parents[2]


def test_a_study_has_one_row_with_its_cells_and_seeds() -> None:
    cells = ["d none inf 0", "d m 1 0", "d m 1 1", "d m 2 0", "c m 2 0", "c n 1 0"]
    rows = pd.DataFrame(
        [c.split() for c in cells for _ in range(2)], columns=["dataset", "mechanism", "epsilon", "seed"]
    )
    rows = rows.assign(study="s", scale="desk", variant="v", precision=["float32"] * 11 + ["compiled"])
    for seeds, part in (("1 to 2", rows), ("1", rows[rows["seed"] == "0"])):
        (line,) = kept_table(part).splitlines()[2:]
        assert line == f"| `s` | c, d | desk | 5 | {seeds} | 2 | compiled, float32 |"


def test_open_claims_say_how_many_seeds_and_what_else_they_need() -> None:
    limit = "0.1 [-0.1, 0.3] over 3 seeds, the limit being -0.02 or 0.02"
    weak = "which refutes nothing: d: 10 of 60 records; e: 1 of 10 epochs"
    wanted = {
        "X1": ("refuted", "", ""),
        "X2": ("undecided", f"m on d: {limit}; 5 seeds would do; n on d: {limit}, {weak}; and 3 more", "0.5"),
        "X3": ("undecided", f"m: {limit}; 40 seeds would not do; n: {limit}; 40 seeds would do", "0.5"),
        "X4": ("undecided", f"m: {limit}, {weak}; n: {limit}, {weak}", "0.5"),
        "X5": ("not run at this scale", float("nan"), "needs s on d, after which the accuracy is 0.1"),
    }
    rows = [(id, f"what {id} says", *row) for id, row in wanted.items()]
    lines = open_table(pd.DataFrame(rows, columns=["id", "claim", "verdict", "wanted", "observed"])).splitlines()
    assert lines[0] == "4 of 5 claims are open."
    assert lines[4:] == [
        "| X2: what X2 says | undecided | 5 | d: 10 of 60 records; e: 1 of 10 epochs |",
        "| X3: what X3 says | undecided | over 40 |  |",
        "| X4: what X4 says | undecided |  | d: 10 of 60 records; e: 1 of 10 epochs |",
        "| X5: what X5 says | not run at this scale |  | needs s on d |",
    ]


def test_every_kept_need_is_read() -> None:
    claims = pd.read_csv(ROOT / "results" / "reference" / "claims.csv")
    table = open_table(claims)
    assert table.count("\n| ") == int(claims["verdict"].isin(["undecided", "not run at this scale"]).sum()) + 1
    assert "the limit being" not in table
    assert "would do" not in table
