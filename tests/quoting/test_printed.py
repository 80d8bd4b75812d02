"""docs/printed-numbers.md: what the sources print beside the kept results."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp_papers.citations import PAPERS
from tensorldp_papers.papers.latent.figures import PRINTED as TABLE_2
from tensorldp_papers.plots.printed_points import LEVELS, PRINTED
from tensorldp_papers.quoting.printed import Ours, PrintedNumber, printed_page, read_printed
from tensorldp_papers.quoting.values import Quotes, Table

DOCS = Path(__file__).parents[2] / "docs"
SHORT = {paper.short: source for source, paper in PAPERS.items()}


@pytest.fixture
def quotes(tmp_path: Path) -> Quotes:
    shared = {"study": "s", "dataset": "d", "variant": "v", "mechanism": "m", "metric": "accuracy"}
    rows = [{**shared, "epsilon": 1.0, "seed": seed, "value": value} for seed, value in enumerate((0.5, 0.6, 0.7))]
    rows.append({**shared, "epsilon": 2.0, "seed": 0, "value": 0.9})
    pd.DataFrame(rows).to_parquet(tmp_path / "metrics.parquet")
    claims = pd.DataFrame({"id": ["X1"], "verdict": ["refuted"], "observed": ["grows like I^3.97"]})
    claims.to_csv(tmp_path / "claims.csv", index=False)
    return Quotes(Table(entries={}), tmp_path)


def _number(**changes: object) -> PrintedNumber:
    own = {
        "of": "ours", "study": "s", "dataset": "d", "variant": "v", "mechanism": "m", "metric": "accuracy",
        "epsilon": 1.0, "scale": 100, "format": ".1f", "unit": "%",
    }  # fmt: skip
    entry = {"source": "tvg", "place": "Table 1", "what": "accuracy | test", "printed": "90 %", "ours": [own]}
    return PrintedNumber.model_validate({**entry, "claims": ["X1"], **changes})


def _last(quotes: Quotes, number: PrintedNumber) -> str:
    return printed_page((number,), quotes).strip().splitlines()[-1]


def test_ours_has_an_interval_over_seeds(quotes: Quotes) -> None:
    # mean 0.6, standard deviation 0.1, t_{0.975, 2} = 4.3027: half width 0.2484
    line = _last(quotes, _number())
    assert line == "| Table 1 | accuracy \\| test | 90 % | ours: 60.0 % [35.2, 84.8], 3 seeds | X1 refuted |"


def test_one_seed_says_so_and_evidence_has_its_number(quotes: Quotes) -> None:
    one = {**_number().ours[0].model_dump(), "epsilon": 2.0}
    power = {"of": "I to the power", "claim": "X1", "after": "grows like I^", "format": ".2f"}
    line = _last(quotes, _number(ours=[one, power], differs="on digits"))
    assert "| ours: 90.0 %, one seed; I to the power: 3.97 (on digits) |" in line


def test_what_was_not_computed_says_why(quotes: Quotes) -> None:
    assert "| 90 % | not run on SVHN | X1 refuted |" in _last(quotes, _number(ours=(), without="not run on SVHN"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"claims": ["X2"]}, "X2"), ({"ours": [Ours(of="ours", claim="X1", after="shrinks")]}, "states no number")],
)
def test_an_entry_that_the_kept_results_lack_is_named(quotes: Quotes, changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        printed_page((_number(**changes),), quotes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("numbers: [{source: tvg, place: p, what: w, printed: x, claims: [V01]}]", "either ours, or without"),
        ("numbers: [{source: xyz, place: p, what: w, printed: x, without: y, claims: []}]", "source must be one of"),
        ("numbers: [", "is not YAML"),
    ],
)
def test_a_mistake_in_the_table_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "printed.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_printed(tmp_path / "printed.yaml")


def test_figures_and_the_table_print_the_same() -> None:
    printed = [(number.source, number.printed) for number in read_printed(DOCS / "printed.yaml")]

    def has(source: str, value: float) -> bool:
        return any(own == source and f"{100 * value:.4g} %" in text for own, text in printed)

    assert [point for point in PRINTED if not has(SHORT[point.paper], point.value)] == []
    assert [level for level in LEVELS if not has("tldp", level.value)] == []
    own = [one for one in TABLE_2 if one.method in ("NPCNN", "LATENT")]
    assert len(own) == 6
    assert [one for one in own if not (has("latent", one.training) and has("latent", one.testing))] == []
