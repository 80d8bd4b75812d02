"""A report of eleven studies with invented numbers, as the pages of a full run would be."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tensorldp_papers.plots.names import PRIVACY, VERDICTS
from tensorldp_papers.plots.sheets import finish, panels, save
from tensorldp_papers.plots.style import look
from tensorldp_papers.report.report import FIRST, render
from tensorldp_papers.run.audit_table import COLUMNS as AUDIT_COLUMNS
from tensorldp_papers.run.study import VIEWS, paper_of
from tensorldp_papers.run.table import COLUMNS

STUDIES = {
    "tldp_type1": ("weighted_f1", "accuracy"),
    "tldp_type2": ("weighted_f1",),
    "tldp_type3": ("weighted_f1",),
    "tvg_sgd": ("accuracy",),
    "tvg_features": ("accuracy",),
    "tvg_testing": ("auc",),
    "tvg_covariance": ("rss",),
    "pldp_synthetic": ("relative_error",),
    "pldp_fl": ("accuracy",),
    "latent": ("accuracy",),
    "reconstruction": ("psnr", "identified"),
}
MECHANISMS = ("none", "laplace", "gaussian-analytic", "mvg", "idn", "tldp-l", "tldp-g", "privunit", "duchi", "hybrid")
SOURCES = ("tldp", "pldp-fl", "dp-lecture", "tvg", "latent")
KINDS = ("theorem", "cost", "empirical", "descriptive")


def metrics() -> pd.DataFrame:
    rows = []
    for study, names in STUDIES.items():
        for mechanism in MECHANISMS:
            for epsilon in (math.inf,) if mechanism == "none" else (0.1, 1.0, 10.0):
                for seed in (0, 1):
                    for metric in names:
                        key = [study, "digits", "base", "data", mechanism, epsilon, 1e-5, seed, metric]
                        rows.append(
                            [
                                *key,
                                0.25 * (seed + 1),
                                "record",
                                64 * epsilon,
                                1e-5,
                                64 * epsilon,
                                0.0,
                                True,
                                "quick",
                                1.5,
                                300.0 + seed,
                                "cpu",
                                "avx2",
                                "float32",
                                "c",
                            ]
                        )
    return pd.DataFrame(rows, columns=COLUMNS)


def claims(count: int = 145) -> pd.DataFrame:
    verdicts = [VERDICTS[i // len(SOURCES) % len(VERDICTS)] for i in range(count)]  # every pair of source and verdict
    return pd.DataFrame(
        [
            {
                "id": f"C{i:03}",
                "source": SOURCES[i % 5],
                "claim": f"<statement> {i} & more",
                "kind": KINDS[i % 4],
                "verdict": verdict,
                "condition": "low noise only" if verdict == "holds with a condition" else "",
                "wanted": "about 9 seeds" if verdict in ("undecided", "not run at this scale") else "",
                "expected": "a number above 0",
                "observed": f"the number {i * 7 % 100}",
                "evidence": "tests/mechanisms/test_tldp.py::test_a_name_that_is_long_enough_to_need_a_line_of_its_own",
            }
            for i, verdict in enumerate(verdicts)
        ]
    )


def audits() -> pd.DataFrame:
    row: dict[str, Any] = dict.fromkeys(AUDIT_COLUMNS, "") | {
        "study": "tldp_type1",
        "dataset": "digits",
        "variant": "base",
        "mechanism": "tldp-l",
        "epsilon": 1.0,
        "kind": "likelihood ratio",
        "confidence": 0.95,
        "delta": 1e-5,
        "samples": 100,
        "guarantee_epsilon": 2.0,
        "epsilon_lower": 1.0,
    }
    return pd.DataFrame(
        [
            row,
            {**row, "epsilon_lower": 0.0},
            {**row, "guarantee_epsilon": math.inf},
            {**row, "delta": 0.0, "epsilon_lower": 9.0},
        ]
    )


def tables() -> dict[str, pd.DataFrame]:
    errors = pd.DataFrame(
        {
            "setting": "s",
            "mechanism": ["laplace", "tldp-l"] * 10,
            "epsilon": 1.0,
            "printed": [1.0, math.inf] * 10,
            "exact": True,
        }
    )
    return {"tldp_table5": errors, "tvg_table4": errors.head(3), "footnotes": errors.head(1)}


def studies() -> list[dict[str, Any]]:
    return [
        {
            "study": name,
            "title": f"The study <{name.replace('_', ' ')}>",
            "source": "section 5",
            "figure": "Figure 1",
            "views": VIEWS,
            "paper": paper_of(name),
        }
        for name in STUDIES
    ]


def draw(folder: Path, count: int = 3) -> None:
    """Figures of dense panels, one for all names."""

    def dense() -> Figure:
        figure, axes = panels(count, columns=2)
        for ax in axes:
            for shift, name in enumerate(MECHANISMS):
                values = 1 / (1 + np.exp(shift - np.arange(10)))
                ax.plot(values, marker="o", color=look(name).colour, label=f"_{name}")
                ax.fill_between(range(10), values - 0.1, values + 0.1, color=look(name).colour, alpha=0.15)
        return finish(figure, "A sentence that answers what the figure asks", source="TLDP, Figure 1")

    folder.mkdir(exist_ok=True)
    save(dense, folder / "picture")
    for name in [*(f"{study}{view}" for study in STUDIES for view in VIEWS), *PRIVACY, *FIRST]:
        for ending in (".svg", "_phone.svg"):
            (folder / f"{name}{ending}").write_bytes((folder / f"picture{ending}").read_bytes())


def page(figures: Path, count: int = 11, **changes: Any) -> str:
    """The report's HTML with the first `count` studies; figures must have been drawn into the folder."""
    given: dict[str, Any] = {"tables": tables(), "claims": claims(), "audits": audits(), **changes}
    return render(given.pop("metrics", metrics()), figures, studies()[:count], json.dumps({"scale": "quick"}), **given)
