"""The explorer's data, the calculator's and the sentences of the first screen say what the tables of a run say."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
import pytest
from report_page import audits, claims, metrics, profiles, studies

from tensorldp.deltas import PROFILE_DELTAS
from tensorldp.errors import InputError
from tensorldp.mechanisms.sampled_coordinates import HYBRID_THRESHOLD
from tensorldp_papers.plots.names import variant_words
from tensorldp_papers.plots.printed import printed_points
from tensorldp_papers.plots.style import in_the_dark, look
from tensorldp_papers.report import data as report_data
from tensorldp_papers.report import stored_curves
from tensorldp_papers.report.findings import findings

STORED = json.loads(files("tensorldp_papers.report.page").joinpath(stored_curves.FILE).read_text())


def explorer(rows: pd.DataFrame | None = None, *, told: pd.DataFrame | None = None, **given: Any) -> dict[str, Any]:
    options = {"claims": claims() if told is None else told, "audits": audits(), "guarantees": profiles(), **given}
    return report_data.explorer_data(metrics() if rows is None else rows, options.pop("studies", studies()), **options)


def test_every_value_of_every_seed_is_there_once_and_mu_of_a_gaussian_release_is_its_own() -> None:
    data = explorer()
    assert sum(len(values) for rows in data["values"].values() for _, *values in rows) == len(metrics())
    index, *values = data["values"]["weighted_f1"][0]
    assert data["cells"][index][0] in data["studies"]
    assert values == [0.25, 0.5]
    assert data["deltas"] == [0.0, *PROFILE_DELTAS]
    assert {cell[3] for cell in data["cells"]} == set(data["lines"])
    cell = next(cell for cell in data["cells"] if cell[4] == 1.0)
    assert cell[8][0] is cell[9][0] is None
    assert cell[9][1:] == pytest.approx([1.0] * len(PROFILE_DELTAS), rel=1e-5)
    assert [report_data.gaussian_mu(epsilon, 1e-5) for epsilon in (0.0, math.inf)] == [0.0, math.inf]


def test_without_a_profile_of_each_cell_there_are_the_two_deltas_of_the_metrics() -> None:
    some = profiles().iloc[1:]
    cells, deltas = report_data.with_profiles(metrics(), some)
    assert list(deltas) == [0.0, 1e-5]
    assert np.isfinite(cells["epsilon_at_0"][np.isfinite(cells["epsilon"])]).all()
    atoms = metrics().assign(guarantee_atom=0.1)
    assert np.isinf(report_data.with_profiles(atoms, some)[0]["epsilon_at_0"]).all()


def test_lines_and_settings_take_the_factors_apart() -> None:
    split, label = report_data.line_and_setting, report_data.line_label
    assert split("gaussian", "form=table5,model=small_cnn") == ("gaussian form=table5", "model=small_cnn")
    assert split("idn", "base") == ("idn", "")
    assert label("gaussian form=table5") != label("gaussian")
    assert label("idn unit=batch") == "IDN, noise for a batch"
    assert [*map(variant_words, ("", "eps=e1"))] == ["as in the source", "clients' ε: 0.1, 0.2"]
    looks = explorer(metrics().query("study == 'tvg_sgd'").assign(variant="unit=batch"))["lines"]["idn unit=batch"]
    idn = look("idn")
    assert [looks[key] for key in ("light", "dark", "marker")] == [idn.colour, in_the_dark(idn.colour), idn.marker]


def test_a_study_opens_on_the_score_and_setting_with_most_lines_on_the_true_axis() -> None:
    rows = metrics().query("study == 'tldp_type1'")
    found = report_data.opening(rows, "tldp")
    keys = ("dataset", "metric", "setting", "axis")
    assert [found[key] for key in keys] == ["digits", "weighted_f1", "", "printed"]
    assert found["lines"][:4] == ["tldp-g", "tldp-l", "privunit", "laplace"]
    few = rows[rows["mechanism"].isin(["none", "idn"])].assign(variant="model=lenet")
    other = pd.concat([few, few.assign(dataset="mnist"), rows.assign(variant="model=cnn", metric="accuracy")])
    found = report_data.opening(other, "tvg")
    assert [found[key] for key in keys[:3]] == ["digits", "accuracy", "model=cnn"]
    assert found["lines"][0] == "idn"
    nowhere = rows.assign(guarantee_epsilon=math.inf, epsilon=math.inf)
    assert report_data.opening(nowhere, "tldp")["axis"] == "guaranteed"

    for names, first in ((("latent", "tldp_type1"), "tldp_type1"), (("latent", "tvg_sgd"), "tvg_sgd"), ((), "")):
        assert explorer(studies=[study for study in studies() if study["study"] in names])["first"] == first


def test_a_study_has_its_claims_and_whether_its_data_are_the_users_own_and_ends_no_script() -> None:
    named = claims(5).assign(studies=["", "", "frontier latent", "", ""])
    found = explorer(metrics().assign(dataset="mine"), told=named)["studies"]
    assert [found[name]["claims"] for name in ("latent", "tldp_type1")] == [["C002"], []]
    assert found["tldp_type1"]["own"] == ["mine"]
    text = report_data.packed_json({"a": "</script>"})
    assert "<" not in text
    assert json.loads(text) == {"a": "</script>"}


def test_printed_points_belong_to_studies_and_quote_their_source() -> None:
    points = [point for point in printed_points() if point.proposed]
    assert len(points) == 6
    assert all(0 < point.value <= 1 and point.place and point.sentence for point in points)
    assert all(point.study.startswith(point.paper.lower().split("-")[0]) for point in points)


# the calculator


def test_the_calculators_file_has_every_mechanism_as_the_library_has_it_now(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [*STORED["curves"], *STORED["laws"]] == list(stored_curves.MECHANISMS)
    assert STORED["curves"]["gaussian"]["8x8"] == stored_curves.curves_of("gaussian", (8, 8))
    found = {name: stored_curves.zeros_of(name, (8, 8)) for name in stored_curves.STEPPED}
    for name, part in stored_curves.STEPPED.items():
        law = STORED["laws"][name]
        assert (law["part"], law["epsilons"]) == (part, stored_curves.steps_of(name))
        assert law["zeros"]["8x8"] == pytest.approx(found[name], rel=1e-6)
    zeros = dict(zip(stored_curves.steps_of("hybrid"), found["hybrid"], strict=True))
    assert zeros[HYBRID_THRESHOLD] == 0.0  # the law jumps here
    assert zeros[math.nextafter(HYBRID_THRESHOLD, 1.0)] > 0.02
    monkeypatch.setitem(stored_curves.STEPPED, "laplace", None)
    with pytest.raises(InputError, match="laplace at epsilon"):
        stored_curves.zeros_of("laplace", (8, 8))


# the sentences of the first screen


def sentences(rows: pd.DataFrame | None = None, **changes: pd.DataFrame) -> list[str]:
    """All sentences of the invented run, or of other rows, claims or audits."""
    given = {"claims": claims(), "audits": audits(), **changes}
    return [found.text for found in findings(metrics() if rows is None else rows, **given)]


def test_sentences_are_short_and_each_leads_somewhere() -> None:
    privunit = metrics().query("study == 'latent' and mechanism == 'privunit'")
    at = {"guarantee_pure_epsilon": privunit["epsilon"], "value": 0.1 * privunit["epsilon"] ** 0.5}
    frontier = privunit.assign(study="frontier", dataset="mnist", **at)
    found = findings(pd.concat([metrics(), frontier]), claims(), audits())
    assert len(found) == 5
    assert all(len(finding.text.split()) <= 20 and finding.number and finding.place for finding in found)
    assert found[2].text == "At a true ε of one, PrivUnit on public features reaches 10 % accuracy on MNIST."
    assert findings(metrics()[:0], claims()[:0], audits()[:0]) == []


def test_what_tldp_guarantees_is_taken_from_its_rows_and_compared_with_laplace_at_one_true_epsilon() -> None:
    rows = metrics()
    first, second = sentences()[:2]
    assert first == "Where TLDP-L prints an ε of one, one record of digits gets 64."
    assert second.endswith("of plain Laplace noise on digits differ by less than 0.01.")
    both = pd.concat([rows, rows.assign(dataset="mnist", guarantee_epsilon=784.0)])
    assert sentences(both)[0].endswith("one record of MNIST gets 784.")
    assert "gets ∞" in sentences(rows.assign(guarantee_epsilon=math.inf))[0]
    rows.loc[rows["mechanism"] == "tldp-l", "value"] += 0.2
    assert sentences(rows)[1].endswith("differ by 0.20.")
    rows.loc[rows["mechanism"] == "laplace", "guarantee_epsilon"] *= 7
    assert not [sentence for sentence in sentences(rows) if "differ" in sentence]


def test_only_what_a_run_decides_is_counted_and_audits_that_exceed_a_guarantee_are_compared_with_chance() -> None:
    for count, text in enumerate(("none", "1", "2")):
        told = claims(4).assign(kind="empirical", verdict=["mixed"] * count + ["undecided"] * (4 - count))
        assert sentences(claims=told)[-2] == f"It decides {text} of 4 statements about runs."
    assert not [text for text in sentences(claims=claims(4).assign(kind="theorem")) if "decides" in text]
    assert sentences()[-1] == "None of 2 audits found more than its guarantee allows."
    above = sentences(audits=audits().assign(epsilon_lower=3.0))[-1]
    assert above == "Audits exceed a guarantee 2 times, more than chance explains."
    many = pd.concat([audits()] * 20, ignore_index=True)
    many.loc[0, "epsilon_lower"] = 3.0
    assert sentences(audits=many)[-1].endswith("1 time, no more than chance explains.")
