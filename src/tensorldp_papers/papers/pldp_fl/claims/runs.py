"""PLDP-FL's statements about its Figures 2 and 3, decided from our runs of the same grid.

"Relatively minor" is 0.01 of accuracy, set before the runs: what the paper prints of an accuracy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import torch

from tensorldp.randomness import generator
from tensorldp_papers.claims.base import Finding, NotRun, claim
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.laws import pdpm
from tensorldp_papers.claims.statements import Estimate, Every, Inside, Statement, estimate, finding, minus, per_seed
from tensorldp_papers.papers.pldp_fl.claims.arms import AT_CHANCE, FEDERATED, best_centre, centres, learned
from tensorldp_papers.papers.pldp_fl.claims.theorems import WEIGHTS
from tensorldp_papers.papers.pldp_fl.plan import PldpTraining
from tensorldp_papers.run.cell import variant_factors

MINOR = 0.01
EPSILON_MODES = ("e1", "e2", "e3")
RANGE_MODES = ("t1", "t2", "t3")
SYNTHETIC = "pldp_synthetic"


def _with_width(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of cells with one width for all safe ranges, which is their column `tau`."""
    widths = rows["variant"].map(lambda variant: variant_factors(variant)["tau"])
    return rows.assign(tau=pd.to_numeric(widths, errors="coerce")).dropna(subset=["tau"])


def _slope(rows: pd.DataFrame, at: str) -> Estimate:
    """Of log value against log `at`, from each seed's least-squares slope."""
    if rows[at].nunique() < 2:
        raise NotRun(f"needs {SYNTHETIC} with two values of {at}")
    return estimate([float(np.polyfit(np.log(own[at]), np.log(own["value"]), 1)[0]) for _, own in rows.groupby("seed")])


@claim("P09", expected="log-log slopes below 0 in eps and above 0 in the range; t1 below t2 below t3, e3 below e1")
def relative_error(found: Evidence) -> Finding:
    measured = {
        mode: found.rows(SYNTHETIC, "relative_error", mechanism="pdpm", eps="same", tau=mode) for mode in RANGE_MODES
    }
    by_range: dict[str, pd.DataFrame] = {}
    for mode in EPSILON_MODES:
        rows = found.rows(SYNTHETIC, "relative_error", mechanism="pdpm", eps=mode)
        by_range[mode] = _with_width(rows)
    falls = [Inside(f"slope in eps ({mode})", _slope(rows, "epsilon"), high=0) for mode, rows in measured.items()]
    rises = [Inside(f"slope in the range ({mode})", _slope(rows, "tau"), low=0) for mode, rows in by_range.items()]
    errors = {mode: per_seed(rows) for mode, rows in measured.items()}
    order = [
        Inside(f"error of {more} minus {less}", minus(errors[more], errors[less]), low=0)
        for less, more in (("t1", "t2"), ("t2", "t3"))
    ]
    budgets = minus(per_seed(by_range["e1"]), per_seed(by_range["e3"]))
    return finding(
        Every([*falls, *rises, *order, Inside("error of e1 minus e3", budgets, low=0)]),
        f"slopes in eps {', '.join(f'{leaf.value.mean:.2f}' for leaf in falls)}, in the range "
        f"{', '.join(f'{leaf.value.mean:.2f}' for leaf in rises)}; mean error "
        f"{', '.join(f'{value.mean:.3g}' for value in errors.values())} for t1, t2, t3 about a centre of 1",
        "tests/mechanisms/test_pldp.py::test_averaged_noise_of_the_second_mode",
    )


def _shares(found: Evidence, dataset: str, metric: str, centre: Any = None) -> dict[float, pd.DataFrame]:
    """Rows of Figure 3's arm (eps_3, tau_1) by the share of clients in a round, rising; none where it is not planned.

    The arm's cell at the study's own share is one of the nine combinations, which has no such factor.
    """
    cells = found.cells(
        FEDERATED, dataset=dataset, mechanism="pdpm", eps="e3", tau="t1", budget=None, centre=centre, limit=None
    )
    shares = {
        cell.training.participation: variant_factors(cell.variant).get("participation")
        for cell in cells
        if isinstance(cell.training, PldpTraining)
    }
    return {
        share: found.rows(
            FEDERATED,
            metric,
            dataset=dataset,
            mechanism="pdpm",
            eps="e3",
            tau="t1",
            budget=None,
            participation=shares[share],
            centre=centre,
            limit=None,
        )
        for share in sorted(shares)
    }


@claim("P10", expected="bytes per participant the same for any number of participants: by construction")
def linear_communication(found: Evidence) -> Finding:
    made, stream = pdpm(1.0, 2.0, WEIGHTS), generator("uploads")
    sizes = []
    for clients in (10, 40, 100):
        uploads = made.privatize(torch.zeros(clients, WEIGHTS), stream)
        sizes.append(uploads.numel() * uploads.element_size() / clients)
    linear, text = len(set(sizes)) == 1, ""
    for dataset in sorted({cell.dataset for cell in found.cells(FEDERATED, mechanism="pdpm")}):
        where = centres(found, dataset, eps="e3", tau="t1", budget=None)
        sent = {
            share: float(rows["value"].mean())
            for centre in where[:1]
            for share, rows in _shares(found, dataset, "uploaded_megabytes", centre).items()
        }
        if len(sent) > 1:
            each = [megabytes / share for share, megabytes in sent.items()]
            linear &= max(each) < 1.001 * min(each)
            text += (
                f"; our runs on {dataset} sent "
                + ", ".join(f"{m:.1f}" for m in sent.values())
                + " MB at shares of "
                + ", ".join(f"{share:g}" for share in sent)
            )
    return Finding(
        linear,
        f"by construction, as each participant sends one number a weight: {sizes[0]:,.0f} bytes a participant and "
        f"round for 10, 40 and 100 participants{text}; the three possible values of a weight would fit into "
        f"{math.ceil(WEIGHTS * math.log2(3) / 8):,} bytes",
        "tests/training/test_ledger.py::test_one_upload_of_the_papers_model",
    )


@claim("P11", expected=f"on each data set a rise up to 0.7, and less than {MINOR} after it")
def participation(found: Evidence) -> Finding:
    names = [
        name
        for name in ("mnist", "fashion_mnist")
        for centre in centres(found, name, eps="e3", tau="t1", budget=None)[:1]
        if 0.7 in (shares := _shares(found, name, "accuracy", centre)) and min(shares) < 0.7 < max(shares)
    ]
    if not names:
        raise NotRun(
            f"needs {FEDERATED} on mnist with shares of clients below, at and above 0.7, which the "
            f"{found.scale} grid does not have"
        )

    def test(name: str, centre: Any) -> Statement:
        points = {share: per_seed(rows) for share, rows in _shares(found, name, "accuracy", centre).items()}
        low, high = min(points), max(points)
        rise = minus(points[0.7], points[low])
        void = "both at chance" if max(points[low].mean, points[0.7].mean) < AT_CHANCE else ""
        return Every(
            [
                Inside(f"accuracy on {name} at a share of 0.7 minus at {low:g}", rise, low=0, void=void),
                Inside(f"at {high:g} minus at 0.7", minus(points[high], points[0.7]), -MINOR, MINOR),
            ]
        )

    premises = [learned(found, name, ["t1"], "e3") for name in names]
    return best_centre(
        found,
        names,
        lambda centre: Every([test(name, centre) for name in names]),
        lambda centre: Every([premise(centre) for premise in premises]),
        eps="e3",
    )
