"""Quotes are computed from made-up kept results with known values."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp.mechanisms.pldp_fl import PdpmCurve
from tensorldp_papers.quoting.values import Quotes, Table, pdpm_upload, read_as, written

KEPT = {"study": "s", "metric": "m"}
BY_CELL = {**KEPT, "arguments": ["mechanism", "epsilon"]}
UP_TO = {**KEPT, "arguments": ["up_to"], "format": ".2f"}
ENTRIES: dict[str, dict[str, Any]] = {
    "mean": {**BY_CELL, "format": ".2f"},
    "guaranteed": {**BY_CELL, "column": "guarantee_epsilon", "format": ".0f"},
    "all": KEPT,
    "lowest": {**UP_TO, "statistic": "lowest", "scale": 100},
    "highest": {**UP_TO, "statistic": "highest", "but": ["b"]},
    "seeds": {**KEPT, "mechanism": "a", "epsilon": 1, "statistic": "seeds", "format": ".0f"},
    "claim": {"claim": "X1", "number": "power of m", "format": ".2f"},
    "large": {"claim": "X1", "number": "size", "format": ",.0f"},
    "count": {"arguments": ["count"], "format": ".0f"},
    "theorems": {"arguments": ["count"], "group": "theorem", "format": ".0f"},
    "ceiling": {"function": "mnist_ceiling", "format": ".4f"},
    "one-law": {**KEPT, "cells": [["a", 1], ["b", 1]], "format": ".4f"},
    "no-cell": {**KEPT, "cells": [["a", 1], ["c", 1]]},
    "no-metric": {"study": "s", "metric": "n"},
    "no-claim": {"claim": "X9", "number": "power of m"},
    "no-number": {"claim": "X1", "number": "power of n"},
    "no-function": {"function": "mnist_celling"},
}
CLAIMS = [
    ("X1", "refuted", "theorem", '[{"name": "power of m", "value": -0.507}, {"name": "size", "value": 1092000}]'),
    ("X2", "not reproduced", "empirical", ""),
    ("X3", "refuted", "theorem", ""),
]


@pytest.fixture
def quotes(tmp_path: Path) -> Quotes:
    runs = [("a", 1.0, 0, 0.2), ("a", 1.0, 1, 0.4), ("a", math.inf, 0, 0.9), ("b", 1.0, 0, 0.5)]
    rows = pd.DataFrame(runs, columns=["mechanism", "epsilon", "seed", "value"])
    rows = rows.assign(study="s", dataset="d", variant="v", metric="m", guarantee_epsilon=64 * rows["epsilon"])
    rows.to_parquet(tmp_path / "metrics.parquet")
    claims = pd.DataFrame(CLAIMS, columns=["id", "verdict", "kind", "numbers"])
    claims.to_csv(tmp_path / "claims.csv", index=False)
    return Quotes(Table.model_validate({"entries": ENTRIES}), tmp_path)


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("mean a 1", "0.30"),
        ("mean a 1,inf", "0.30 | 0.90"),
        ("guaranteed a 1,inf", "64 | ∞"),
        ("lowest 10", "30.00"),
        ("highest 10", "0.30"),
        ("seeds", "2"),
        ("one-law", "0.3667"),  # of three seeds of two mechanisms
        ("claim", "-0.51"),
        ("large", "1,092,000"),
        ("count refuted", "2"),
        ("count not_reproduced", "1"),
        ("count all", "3"),
        ("theorems all", "2"),
        ("ceiling 1e-12", "0.1135"),  # the largest class
    ],
)
def test_values(quotes: Quotes, mark: str, expected: str) -> None:
    assert quotes(mark) == expected


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("maen a 1", "did you mean 'mean'"),
        ("mean a", "needs the arguments mechanism, epsilon"),
        ("mean a 1 2", "needs the arguments mechanism, epsilon"),
        ("mean a one", "valid number"),
        ("mean c 1", "no such rows"),
        ("all", "3 cells"),
        ("no-metric", "no kept rows of s have the metric n"),
        ("no-cell", "the kept results lack one of its cells"),
        ("no-claim", "no kept claim 'X9'"),
        ("no-number", "unknown number of X1 'power of n': did you mean 'power of m'"),
        ("no-function", "did you mean 'mnist_ceiling'"),
    ],
)
def test_a_wrong_mark_is_told_in_a_sentence(quotes: Quotes, mark: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        quotes(mark)


def test_two_values_for_a_seed_have_no_mean(quotes: Quotes) -> None:
    pd.concat([quotes.metrics, quotes.metrics]).to_parquet(quotes.reference / "metrics.parquet")
    with pytest.raises(InputError, match="more than one value for a seed"):
        Quotes(quotes.table, quotes.reference)("mean a 1")


@pytest.mark.parametrize(
    ("number", "form", "expected"),
    [(1.46e7, ".2g", "1.5e7"), (2.5e-9, ".2g", "2.5e-9"), (3330.2, ".4g", "3330"), (math.inf, ".1f", "∞")],
)
def test_numbers_as_pages_write_them(number: float, form: str, expected: str) -> None:
    assert written(number, form) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("entries: {x: {metrics: m}}", "entries.x.metrics"),
        ("entries: {x: {metric: m, claim: T01}}", "exactly one of"),
        ("entries: [", "is not YAML"),
        (None, "missing"),
    ],
)
def test_a_wrong_table_is_told_in_a_sentence(tmp_path: Path, text: str | None, told: str) -> None:
    path = tmp_path / "quotes.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=told):
        read_as(path, Table)


def test_what_is_said_to_be_no_less_is_attained_and_below_the_guarantee() -> None:
    for weights in (20, 21_840):
        lower = pdpm_upload(1, weights, 1e-5)
        curve = PdpmCurve(1.0, weights)
        assert curve.forward(lower) == pytest.approx(1e-5, rel=1e-6)  # of two models at opposite ends of all ranges
        assert lower <= curve.epsilon(1e-5) * (1 + 1e-9)
    assert lower < curve.epsilon(1e-5) - 1.0  # where the guarantee is an upper bound, it is no lower one


def test_no_check_and_no_page_reads_a_sentence() -> None:
    """Numbers come from `Finding.numbers`: what finds them in words is no longer valid once a word changes."""
    code = Path(__file__).parents[2] / "src" / "tensorldp_papers"
    parts = [code / name for name in ("claims", "kept", "quoting", "report")]
    parts += [*code.glob("papers/*/claims")]
    readers = {path.name for part in parts for path in part.rglob("*.py") if "\nimport re\n" in path.read_text()}
    assert readers <= {"report.py", "templates.py"}  # sizes of drawings; codes of claims, which become links
