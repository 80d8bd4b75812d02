"""A report of eleven studies with invented numbers, as the pages of a full run would be."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from made_up import every, rows
from matplotlib.figure import Figure

from tensorldp.curves.gaussian import GaussianCurve
from tensorldp_papers.plots.names import VERDICTS, privacy_captions
from tensorldp_papers.plots.sheets import finish, panels, save
from tensorldp_papers.plots.style import look
from tensorldp_papers.report.report import first_pictures, render
from tensorldp_papers.rooms import paper_of
from tensorldp_papers.run.study import VIEWS
from tensorldp_papers.run.table import CELL, COLUMNS, PROFILE, PROFILE_COLUMNS

STUDIES = {
    "tldp_type1": ("weighted_f1", "accuracy"),
    **dict.fromkeys(("tldp_type2", "tldp_type3"), ("weighted_f1",)),
    **dict.fromkeys(("tvg_sgd", "tvg_features"), ("accuracy",)),
    **{"tvg_testing": ("auc",), "tvg_covariance": ("rss",), "pldp_synthetic": ("relative_error",)},
    **{"pldp_fl": ("accuracy",), "latent": ("accuracy",), "reconstruction": ("psnr", "identified")},
}
MECHANISMS = ("none", "laplace", "gaussian-analytic", "mvg", "idn", "tldp-l", "tldp-g", "privunit", "duchi", "hybrid")
SOURCES = ("tldp", "pldp-fl", "dp-lecture", "tvg", "latent")
KINDS = ("theorem", "cost", "empirical", "descriptive")


def metrics() -> pd.DataFrame:
    at = [(name, epsilon) for name in MECHANISMS for epsilon in ((math.inf,) if name == "none" else (0.1, 1.0, 10.0))]
    cells = [
        {"study": study, "mechanism": mechanism, "epsilon": epsilon, "guarantee_epsilon": 64 * epsilon, **cell}
        | {"value": 0.25 * (cell["seed"] + 1), "peak_mb": 300.0 + cell["seed"]}
        for study, names in STUDIES.items()
        for mechanism, epsilon in at
        for cell in every(seed=(0, 1), metric=names)
    ]
    return rows(cells, seconds=1.5)[COLUMNS]


@cache
def profiles() -> pd.DataFrame:
    """A Gaussian profile for every cell of the invented run, its mu the nominal epsilon."""
    found = []
    for cell in metrics().drop_duplicates(CELL)[CELL].to_dict("records"):
        curve = GaussianCurve(min(float(cell["epsilon"]), 1e3))
        row = {**cell, "unit": "record", "exact": True, "atom": 0.0, "pure_epsilon": math.inf, "note": ""}
        found.append(row | {column: curve.epsilon(delta) for delta, column in PROFILE.items()})
    return pd.DataFrame(found, columns=PROFILE_COLUMNS)


def claims(count: int = 165) -> pd.DataFrame:
    """Claims with every pair of source and verdict."""
    i = pd.Series(range(count))
    verdicts = i.map(lambda i: VERDICTS[i // len(SOURCES) % len(VERDICTS)])
    columns = {
        **{
            "id": i.map("C{:03}".format),
            "source": i.map(lambda i: SOURCES[i % 5]),
            "kind": i.map(lambda i: KINDS[i % 4]),
        },
        **{"claim": i.map("<statement> {} & more".format), "verdict": verdicts, "expected": "a number above 0"},
        "condition": verdicts.map({"holds with a condition": "low noise only"}).fillna(""),
        "condition_is": verdicts.map({"holds with a condition": "restriction"}).fillna(""),
        "wanted": verdicts.map({"undecided": "about 9 seeds", "not run at this scale": "about 9 seeds"}).fillna(""),
        "observed": (i * 7 % 100).map("the number {}".format),
        "evidence": "tests/mechanisms/test_tldp.py::test_a_name_that_is_long_enough_to_need_a_line_of_its_own",
        "criterion": "2026-11-28 0123abcd",
        **{"numbers": "[]", "seeds_needed": "", "missing": "[]", "studies": ""},
        "was": verdicts.map({"refuted": "holds with a condition until 2026-11-28"}).fillna(""),
    }
    return pd.DataFrame(columns)


def audits() -> pd.DataFrame:
    """Of one cell: two audits of its guarantee, one without a guarantee, one at another delta."""
    found = [(1e-5, 2.0, 1.0), (1e-5, 2.0, 0.0), (1e-5, math.inf, 1.0), (0.0, 2.0, 9.0)]
    cell = {"study": "tldp_type1", "dataset": "digits", "variant": "base", "mechanism": "tldp-l"}
    table = pd.DataFrame(found, columns=["delta", "guarantee_epsilon", "epsilon_lower"])
    return table.assign(**cell, epsilon=1.0, kind="likelihood ratio", confidence=0.95, samples=100)


def tables() -> dict[str, pd.DataFrame]:
    printed = {"mechanism": ["laplace", "tldp-l"] * 10, "epsilon": 1.0, "printed": [1.0, math.inf] * 10}
    errors = pd.DataFrame({"setting": "s", **printed, "exact": True})
    return {"tldp_table5": errors, "tvg_table4": errors.head(3), "footnotes": errors.head(1)}


def studies() -> list[dict[str, Any]]:
    common = {"source": "section 5", "figure": "Figure 1", "views": VIEWS}
    return [
        {"study": name, "title": f"The study <{name.replace('_', ' ')}>", "paper": paper_of(name), **common}
        for name in STUDIES
    ]


def draw(folder: Path) -> Path:
    """A figure of ten lines in the folder, under all names of figures."""

    def dense() -> Figure:
        figure, (ax,) = panels(1)
        for shift, name in enumerate(MECHANISMS):
            values = 1 / (1 + np.exp(shift - np.arange(10)))
            ax.plot(values, marker="o", color=look(name).colour, label=f"_{name}")
            ax.fill_between(range(10), values - 0.1, values + 0.1, color=look(name).colour, alpha=0.15)
        return finish(figure, "A sentence that answers what the figure asks", source="TLDP, Figure 1")

    folder.mkdir(exist_ok=True)
    save(dense, folder / "picture")
    for name in [*(f"{study}{view}" for study in STUDIES for view in VIEWS), *privacy_captions(), *first_pictures()]:
        for ending in (".svg", "_phone.svg"):
            (folder / f"{name}{ending}").write_bytes((folder / f"picture{ending}").read_bytes())
    return folder


def page(figures: Path, count: int = 11, **changes: Any) -> str:
    """The report's HTML with the first `count` studies; figures must have been drawn into the folder."""
    given: dict[str, Any] = {
        "tables": tables(),
        "claims": claims(),
        "audits": audits(),
        "guarantees": profiles(),
        **changes,
    }
    return render(given.pop("metrics", metrics()), figures, studies()[:count], json.dumps({"scale": "quick"}), **given)
