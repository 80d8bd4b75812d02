"""Points of refuted and of untried guarantees are told apart from the others."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from tensorldp_papers.plots.lines import mark_standing
from tensorldp_papers.plots.means import with_standing
from tensorldp_papers.plots.words import STANDINGS, standing_words
from tensorldp_papers.run.audit_table import AUDITED, KEY, NOT_AUDITED, REFUTED

ROWS = pd.DataFrame(
    {
        "study": "s",
        "dataset": "d",
        "variant": "base",
        "mechanism": ["laplace", "laplace", "jl", "privunit"],
        "epsilon": [1.0, 1.0, 1.0, float("inf")],
        "value": [0.2, 0.4, 0.5, 0.6],
    }
)


def test_the_table_beside_the_metrics_is_joined(tmp_path: Path) -> None:
    path = tmp_path / "metrics.parquet"
    assert set(with_standing(ROWS, path)["standing"]) == {""}
    table = ROWS[KEY].drop_duplicates().assign(standing=[REFUTED, NOT_AUDITED, AUDITED], reason="")
    table[table["mechanism"] != "privunit"].to_csv(tmp_path / "standing.csv", index=False)
    joined = with_standing(ROWS, path)
    assert joined["standing"].tolist() == [REFUTED, REFUTED, NOT_AUDITED, ""]
    words = standing_words(joined)
    assert "Hollow, because no audit has tried the guarantee: JL" in words
    assert "refuted: Laplace" in words


def test_the_marks_lie_on_the_means_of_their_points() -> None:
    figure, ax = plt.subplots()
    rows = ROWS.assign(standing=[REFUTED, REFUTED, NOT_AUDITED, AUDITED], at=ROWS["epsilon"])
    mark_standing(ax, rows, at="at", colour="#0072B2", marker="o")
    drawn = {line.get_label(): line for line in ax.lines}
    plt.close(figure)
    assert set(drawn) == set(STANDINGS.values())
    assert drawn[STANDINGS[REFUTED]].get_ydata().tolist() == [(0.2 + 0.4) / 2]  # type: ignore[union-attr]
    assert drawn[STANDINGS[NOT_AUDITED]].get_markerfacecolor() == "white"
    assert drawn[STANDINGS[NOT_AUDITED]].get_markeredgecolor() == "#0072B2"


def test_variants_at_one_place_have_marks_of_their_own() -> None:
    figure, ax = plt.subplots()
    rows = ROWS.assign(standing=NOT_AUDITED, at=1.0, variant=["a", "a", "b", "b"])
    mark_standing(ax, rows, at="at", colour="#0072B2", marker="o")
    (line,) = ax.lines
    plt.close(figure)
    means = rows.groupby("variant")["value"].mean().tolist()
    assert means[0] != means[1]
    assert np.asarray(line.get_ydata()).tolist() == means
    assert np.asarray(line.get_xdata()).tolist() == [1.0, 1.0]
