"""The explorer's data say what the tables of a run say, and fit into a script element."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from report_page import audits, claims, metrics, studies

from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.deltas import PROFILE_DELTAS
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.plots.style import COLOURS, contrast, in_the_dark, look, readable
from tensorldp_papers.report.data import (
    explorer_data,
    gaussian_mu,
    line_and_setting,
    line_label,
    opening,
    packed_json,
    setting_words,
    with_profiles,
)
from tensorldp_papers.run.table import CELL, PROFILE, PROFILE_COLUMNS


def profiles() -> pd.DataFrame:
    """A Gaussian profile for every cell of the invented run, its mu the nominal epsilon."""
    cells = metrics().drop_duplicates(CELL)[CELL]
    rows = []
    for cell in cells.to_dict("records"):
        mu = min(float(cell["epsilon"]), 1e3)
        row = {**cell, "unit": "record", "exact": True, "atom": 0.0, "pure_epsilon": math.inf, "note": ""}
        rows.append(row | {column: GaussianCurve(mu).epsilon(delta) for delta, column in PROFILE.items()})
    return pd.DataFrame(rows, columns=PROFILE_COLUMNS)


def test_every_value_of_every_seed_is_there_once() -> None:
    table = metrics()
    data = explorer_data(table, studies(), claims=claims(), audits=audits(), guarantees=profiles())
    found = sum(len(values) for rows in data["values"].values() for _, *values in rows)
    assert found == len(table)
    index, *values = data["values"]["weighted_f1"][0]
    assert data["cells"][index][0] in data["studies"]
    assert values == [0.25, 0.5]
    assert data["deltas"] == [0.0, *PROFILE_DELTAS]
    assert {cell[3] for cell in data["cells"]} == set(data["lines"])


def test_mu_of_a_gaussian_release_is_its_own_at_every_delta() -> None:
    data = explorer_data(metrics(), studies(), claims=claims(), audits=audits(), guarantees=profiles())
    cell = next(cell for cell in data["cells"] if cell[4] == 1.0)
    assert cell[8][0] is None
    assert cell[9][0] is None
    assert cell[9][1:] == pytest.approx([1.0] * len(PROFILE_DELTAS), rel=1e-5)
    assert gaussian_mu(math.inf, 1e-5) == math.inf
    assert gaussian_mu(0.0, 1e-5) == 0.0


def test_without_profiles_there_are_the_two_deltas_of_the_metrics() -> None:
    cells, deltas = with_profiles(metrics(), None)
    assert list(deltas) == [0.0, 1e-5]
    short = profiles().iloc[1:]
    assert list(with_profiles(metrics(), short)[1]) == [0.0, 1e-5]
    atoms = metrics().assign(guarantee_atom=0.1)
    assert np.isinf(with_profiles(atoms, None)[0]["epsilon_at_0"]).all()
    assert np.isfinite(cells["epsilon_at_0"][np.isfinite(cells["epsilon"])]).all()


def test_lines_and_settings_take_the_factors_apart() -> None:
    assert line_and_setting("gaussian", "form=table5,model=small_cnn") == ("gaussian form=table5", "model=small_cnn")
    assert line_and_setting("idn", "base") == ("idn", "")
    assert line_label("gaussian form=table5") != line_label("gaussian")
    assert line_label("idn unit=batch") == "IDN, noise for a batch"
    assert setting_words("eps=e1,tau=t1") == "clients' ε: 0.1, 0.2, ranges of width 0.2, 0.4"


def test_a_study_opens_on_the_score_and_setting_with_most_lines_on_the_true_axis() -> None:
    rows = metrics().query("study == 'tldp_type1'")
    found = opening(rows, "TLDP")
    assert (found["dataset"], found["metric"], found["setting"], found["axis"]) == (
        "digits",
        "weighted_f1",
        "",
        "printed",
    )
    assert found["lines"][:4] == ["tldp-g", "tldp-l", "privunit", "laplace"]
    few = rows[rows["mechanism"].isin(["none", "idn"])].assign(variant="model=lenet")
    other = pd.concat([few, few.assign(dataset="mnist"), rows.assign(variant="model=cnn", metric="accuracy")])
    found = opening(other, "TVG")
    assert (found["dataset"], found["metric"], found["setting"]) == ("digits", "accuracy", "model=cnn")
    assert found["lines"][0] == "idn"
    nowhere = rows.assign(guarantee_epsilon=math.inf, epsilon=math.inf)
    assert opening(nowhere, "TLDP")["axis"] == "guaranteed"


def test_the_explorer_opens_on_tldp_where_a_run_has_it() -> None:
    def first(*names: str) -> str:
        chosen = [study for study in studies() if study["study"] in names]
        data = explorer_data(metrics(), chosen, claims=claims(), audits=audits(), guarantees=None)
        return str(data["first"])

    assert first("latent", "tldp_type1") == "tldp_type1"
    assert first("latent", "tvg_sgd") == "tvg_sgd"
    assert first() == ""


def test_a_line_has_its_mechanisms_look() -> None:
    rows = metrics().query("study == 'tvg_sgd'").assign(variant="unit=batch")
    looks = explorer_data(rows, studies(), claims=claims(), audits=audits(), guarantees=None)["lines"]
    idn = looks["idn unit=batch"]
    assert (idn["light"], idn["dark"]) == (look("idn").colour, in_the_dark(look("idn").colour))
    assert idn["marker"] == look("idn").marker


def test_claims_that_name_a_study_are_linked_to_it() -> None:
    named = claims(5).assign(observed=["", "", "by latent alone", "", ""], evidence="")
    data = explorer_data(metrics(), studies(), claims=named, audits=audits(), guarantees=None)
    assert data["studies"]["latent"]["claims"] == ["C002"]
    assert data["studies"]["tldp_type1"]["claims"] == []


def test_the_data_end_no_script_element() -> None:
    text = packed_json({"a": "</script>"})
    assert "<" not in text
    assert json.loads(text) == {"a": "</script>"}


@pytest.mark.parametrize("background", ["#ffffff", "#16191d"])
def test_every_colour_can_be_told_from_the_background(background: str) -> None:
    for colour in COLOURS.values():
        assert contrast(readable(colour, background), background) >= 3
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert readable("#0072B2", "#ffffff") == "#0072B2"


def test_printed_points_belong_to_studies_and_quote_their_source() -> None:
    points = [point for point in printed_points() if point.proposed]
    assert len(points) == 6
    for point in points:
        assert 0 < point.value <= 1
        assert point.place
        assert point.sentence
        assert point.study.startswith(point.paper.lower().split("-")[0])
