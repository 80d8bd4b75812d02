"""From settings and studies to cells."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorldp.deltas import NOMINAL_DELTA
from tensorldp.errors import InputError
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.compiled.loop import Layout
from tensorldp_papers.papers.tldp.settings import LearningFactors
from tensorldp_papers.registries import METHODS, MODELS
from tensorldp_papers.run.cell import (
    AnyCell,
    check_name,
    epsilon_text,
    parse_cell,
    parse_release,
    variant_factors,
    variant_text,
)
from tensorldp_papers.run.grid import Plan, alike, make_plan, study_cells
from tensorldp_papers.run.method_plan import Training
from tensorldp_papers.run.precision import Precision
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import Study, load_study, study_files

ROOT = Path(__file__).parents[2]
SCALES = ("quick", "desk", "paper")
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text())


def plan(*chosen: Precision, **raw: object) -> Plan:
    return make_plan(parse_settings({"studies": ["tldp_type1"], **raw}), chosen)


def refusal(**raw: object) -> str:
    """The one sentence that a config ends with."""
    with pytest.raises(InputError) as caught:
        plan(**raw)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def factor(cell: AnyCell, key: str) -> str | None:
    return variant_factors(cell.variant).get(key)


@given(st.floats(1e-12, 1e12) | st.integers(1, 10**12))
@settings(max_examples=50, deadline=None)
def test_epsilon_has_one_text_that_reads_back_and_ends_in_no_zero(epsilon: float) -> None:
    text = epsilon_text(epsilon)
    assert float(text) == epsilon
    assert text == epsilon_text(float(text))
    assert not text.endswith(".0")


def test_texts_of_epsilons_and_variants_are_canonical() -> None:
    assert [epsilon_text(e) for e in (1.0, 0.5, 1e-5, math.inf)] == ["1", "0.5", "1e-05", "inf"]
    assert variant_text({}) == "base"
    assert variant_factors("base") == {}
    assert variant_text({"where": "user", "model": "fcn"}) == "model=fcn,where=user"
    assert variant_factors("model=fcn,where=user") == {"model": "fcn", "where": "user"}
    assert check_name("gaussian", {"form": "table5"}) == "gaussian+form=table5"


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def as_stated(raw: dict[str, Any], scale: str) -> dict[tuple[str, str, str, float], tuple[Any, ...]]:
    """A study's cells by data set, variant, mechanism and epsilon, each with options and settings, as its YAML says."""
    at, settings_of = raw["scales"][scale], METHODS[raw["method"]].training.model_fields
    found: dict[tuple[str, str, str, float], tuple[Any, ...]] = {}
    for arm in raw["arms"]:
        grid = {**at.get("factors", {}), **arm.get("factors", {})}
        for dataset in at["datasets"]:
            if scale not in arm.get("scales", SCALES) or dataset not in arm.get("datasets", [dataset]):
                continue
            for values in itertools.product(*map(listed, grid.values())):
                factors = dict(zip(grid, values, strict=True))
                trained = {"limit": at.get("limit"), **at.get("training", {})}
                for key, value in factors.items():
                    trained |= at.get("per_factor", {}).get(f"{key}={value}", {})
                trained |= arm.get("training", {})
                trained |= {key: value for key, value in factors.items() if key in settings_of}
                for mechanism in arm["mechanisms"]:
                    own = arm.get("epsilons", {}).get(scale, at["epsilons"])
                    for epsilon in [math.inf] if mechanism == "none" else own:
                        variant = ",".join(f"{key}={factors[key]}" for key in sorted(factors)) or "base"
                        stated = (arm.get("options", {}), trained, {**at.get("factors", {}), **factors})
                        found.setdefault((dataset, variant, mechanism, float(epsilon)), stated)
    return found


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", study_files())
def test_a_plan_is_what_the_study_says_arm_by_arm_and_reaches_its_jobs_as_it_is(name: str, scale: str) -> None:
    raw = {"method": "learning", **yaml.safe_load(study_files()[name].read_text())}
    made = plan(studies=[name], scale=scale)
    expected = as_stated(raw, scale)
    found = {(c.dataset, c.variant, c.mechanism, c.nominal_epsilon): c for c in made.cells}
    assert len(found) == len(made.cells) == len({c.path for c in made.cells})
    assert expected
    assert list(expected) == [key for key in found if key in expected]
    more = [cell for key, cell in found.items() if key not in expected]
    assert all(cell.mechanism == "none" and cell.plan.shares_models for cell in more)
    for key, (options, trained, factors) in expected.items():
        cell = found[key]
        assert (cell.options, cell.training) == (options, cell.plan.training(**trained)), cell
        assert cell.factors.named().items() <= factors.items(), cell
        assert [*cell.seeds, cell.release] == [*raw["scales"][scale]["seeds"], raw["release"]]
        assert cell.delta == raw.get("delta", NOMINAL_DELTA)
        words = {value for value in options.values() if isinstance(value, str)}
        assert {cell.method, cell.mechanism, cell.dataset, *words} <= cell.names()
    for cell in made.cells[:: max(1, len(made.cells) // 50)]:
        again = parse_cell(json.loads(json.dumps(cell.settings())))
        assert (vars(again), again.settings()) == (vars(cell), cell.settings())
        assert (type(again.training), type(again.factors)) == (cell.plan.training, cell.plan.factors)
        released = parse_release(json.loads(json.dumps(cell.release_settings())))
        assert vars(released) == {**vars(cell), "training": Training(limit=cell.training.limit)}
        if cell.plan.shares_models:
            assert (made.trainer(cell).path, made.trainer(cell).mechanism) == (cell.model_path, "none")
    batched = [(cell, key) for key, batch in made.batches().items() for cell in batch]
    assert sorted(cell.path for cell, _ in batched) == sorted(cell.path for cell in made.cells)
    assert all((cell.study, cell.dataset) == key[:2] for cell, key in batched)


@pytest.mark.parametrize("scale", SCALES)
def test_the_default_config_has_what_the_figures_of_its_studies_need(scale: str) -> None:
    made = make_plan(parse_settings({**CONFIG, "scale": scale}))
    assert {cell.study for cell in made.cells} == set(made.studies) == set(CONFIG["studies"])
    trained = {cell.path for cell in made.cells if "train" in cell.plan.rules}
    for eps, tau in itertools.product(("e1", "e2", "e3"), ("t1", "t2", "t3")):
        assert any(f"eps={eps}+" in p and f"tau={tau}/" in p and "participation" not in p for p in trained)
    assert not any("pldp_synthetic" in path for path in trained)
    assert sum("perturb" in cell.plan.rules for cell in made.of("latent")) >= 14
    attacks = {factor(cell, "attack") for cell in made.of("reconstruction") if "measure" in cell.plan.rules}
    assert attacks >= {"tensor", "sensitivity", "dlg", "idlg", "cosine", "analytic", "likelihood", "membership"}


def invented(*arms: Mapping[str, object], method: str = "learning", release: str = "data", **scale: object) -> Study:
    at = {"datasets": ["digits"], "epsilons": [1], "seeds": [0], **scale}
    words = {"study": "s", "title": "t", "source": "p", "figure": "f", "release": release, "method": method}
    whole = [{"mechanisms": ["none"], **arm} for arm in arms]
    return Study.model_validate({**words, "arms": whole, "scales": {"quick": at}})


def cells_of(study: Study, **raw: object) -> list[AnyCell]:
    return study_cells(study, parse_settings({"scale": "quick", "studies": ["s"], **raw}))


def test_arms_come_in_their_order_with_their_own_options_epsilons_and_factors() -> None:
    form = {"form": "table5"}
    study = invented(
        {"mechanisms": ["none", "laplace"], "options": {"delta_range": 2}},
        {"mechanisms": ["gaussian"], "factors": form, "options": form, "epsilons": {"quick": [3]}},
        {"mechanisms": ["laplace"], "options": {"delta_range": 9}, "epsilons": {"quick": [5]}},
        {"mechanisms": ["laplace"], "options": {"delta_range": 2}},
        {"mechanisms": ["tldp-l"], "scales": ["desk"]},
        {"mechanisms": ["tldp-g"], "datasets": ["mnist"]},
        factors={"model": ["linear"]},
    )
    assert [(c.mechanism, c.variant, c.epsilon, c.options) for c in cells_of(study)] == [
        ("none", "model=linear", "inf", {"delta_range": 2}),
        ("laplace", "model=linear", "1", {"delta_range": 2}),
        ("gaussian", "form=table5,model=linear", "3", form),
        ("laplace", "model=linear", "5", {"delta_range": 9}),
    ]
    assert {cell.factors for cell in cells_of(study)} == {LearningFactors(model="linear")}


def test_an_arms_training_is_for_its_cells_above_that_of_a_factor_and_below_the_configs() -> None:
    study = invented(
        {"mechanisms": ["none", "laplace"]},
        {"mechanisms": ["gaussian"], "training": {"learning_rate": 0.5, "epochs": 7}},
        factors={"model": ["linear"]},
        training={"learning_rate": 0.1},
        per_factor={"model=linear": {"learning_rate": 0.2, "batch_size": 9}},
    )

    def found(**raw: object) -> dict[str, tuple[Any, ...]]:
        cells = [(cell.mechanism, cell.training.model_dump()) for cell in cells_of(study, **raw)]
        return {name: (t["learning_rate"], t["epochs"], t["batch_size"]) for name, t in cells}

    assert found() == {"none": (0.2, 10, 9), "laplace": (0.2, 10, 9), "gaussian": (0.5, 7, 9)}
    assert found(training={"s": {"epochs": 3}})["gaussian"] == (0.5, 3, 9)
    with pytest.raises(InputError, match="training of s"):
        cells_of(invented({"training": {"colour": 3}}, factors={"model": ["linear"]}))


def test_arms_that_make_one_cell_of_two_kinds_are_one_sentence() -> None:
    arms = {"mechanisms": ["none", "laplace"]}, {"mechanisms": ["laplace"], "options": {"clip": True}}
    words = (
        "two arms of the study s make the cell digits/model=linear/laplace/epsilon~1, with options {} and "
        "{'clip': True}: tell them apart by a factor, or leave one out"
    )
    with pytest.raises(InputError, match=f"^{re.escape(words)}$"):
        cells_of(invented(*arms, factors={"model": ["linear"]}))


def test_cells_are_alike_that_differ_in_their_epsilon_alone() -> None:
    arms = [{"mechanisms": ["laplace", "tldp-l"], "epsilons": {"quick": [1, 2]}, "options": {"delta_range": 1}}]
    arms += [{"mechanisms": ["laplace"], "epsilons": {"quick": [3]}, "options": {"delta_range": 1.0}}]
    groups = [
        [(c.mechanism, c.epsilon) for c in group]
        for group in alike(cells_of(invented(*arms, factors={"model": ["mlp"]}))[::-1])
    ]
    assert groups == [[("laplace", "3")], [("tldp-l", "2"), ("tldp-l", "1")], [("laplace", "2"), ("laplace", "1")]]


def test_an_arms_list_of_factors_is_a_grid_of_its_own() -> None:
    own = {"mechanisms": ["pdpm"], "factors": {"eps": "e1", "tau": ["t1", 0.5], "model": "linear"}}
    cells = cells_of(invented({}, own, method="pldp_fl", release="parameters", factors={"model": ["mlp"]}))
    assert [(cell.mechanism, cell.variant) for cell in cells] == [
        ("none", "model=mlp"),
        ("pdpm", "eps=e1,model=linear,tau=t1"),
        ("pdpm", "eps=e1,model=linear,tau=0.5"),
    ]
    assert cells[2].factors.named()["tau"] == 0.5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"delta": None}, "the cell's settings: delta is missing"),
        ({"epsilonn": "1"}, "unknown key in the cell's settings 'epsilonn': did you mean 'epsilon'"),
        ({"method": "lerning"}, "unknown method 'lerning': did you mean 'learning'"),
        ({"training": {"epochs": "8"}}, "training.epochs = '8' is not valid"),
        ({"seeds": ["0"]}, "seeds.0 = '0' is not valid"),
        ({"factors": {}}, "factors.model is missing"),
    ],
)
def test_a_damaged_cell_is_one_sentence(change: dict[str, object], words: str) -> None:
    raw = {**plan().cells[0].settings(), **change}
    with pytest.raises(InputError, match=re.escape(words)):
        parse_cell({key: value for key, value in raw.items() if value is not None})


def test_the_same_grid_in_another_order_is_the_same_run() -> None:
    """Its settings are the text that jobs get, and its batches have the same cells in the same order."""
    lists: dict[str, list[Any]] = {
        "mechanisms": ["none", "laplace", "tldp-g", "gaussian"],
        "datasets": ["digits", "mnist"],
        "epsilons": [1, 10, "inf"],
    }
    factors, seeds = {"model": ["small_cnn", "mobilenet_v2"]}, [0, 1, 2]
    training = {"epochs": 1, "limit": 200}

    def made(order: Callable[[Any], Any]) -> tuple[str, Any]:
        own = {key: {"tldp_type1": order(values)} for key, values in lists.items()}
        own |= {"factors": {"tldp_type1": {key: order(values) for key, values in factors.items()}}}
        own |= {"training": {"tldp_type1": dict(order(training.items()))}, "seeds": order(seeds)}
        settings = parse_settings(
            {"scale": "desk", "studies": ["tldp_type1"], "cells_per_job": 3, **dict(order(own.items()))}
        )
        batches = make_plan(settings).batches()
        return settings.model_dump_json(), [
            (key, [cell.settings() for cell in cells]) for key, cells in batches.items()
        ]

    assert made(list) == made(lambda values: [*values][::-1]) == made(lambda values: [*values, *values])


def test_epsilons_replace_the_grid_of_their_study_alone() -> None:
    made = plan(studies=["tldp_type1", "tldp_type2"], epsilons={"tldp_type1": [3]})
    assert {(c.epsilon, c.mechanism == "none") for c in made.of("tldp_type1")} == {("3", False), ("inf", True)}
    assert {c.epsilon for c in made.of("tldp_type2")} > {"0.1", "inf"}


def test_one_more_epsilon_leaves_the_other_cells_settings_as_they_were() -> None:
    before = {c.path: c.settings() for c in plan(epsilons={"tldp_type1": [1, 2]}).cells}
    after = {c.path: c.settings() for c in plan(epsilons={"tldp_type1": [1, 2, 3]}).cells}
    assert {p: s for p, s in after.items() if p in before} == before
    assert all(path.endswith("~3") for path in set(after) - set(before))


def test_the_config_narrows_arms_adds_plain_ones_and_its_seeds_data_sets_training_and_batches_win() -> None:
    name = "tldp_type1"
    chosen = {"mechanisms": {name: ["tldp-l", "gaussian", "pdpm"]}, "datasets": {name: ["mnist"]}}
    given = {"epsilons": {name: [1]}, "training": {name: {"epochs": 3}}, "seeds": [7, 7, 8], "cells_per_job": 3}
    made = plan(**chosen, **given)
    plainly = [("gaussian", {}), ("tldp-l", {}), ("gaussian", {"form": "table5"}), ("pdpm", {})]
    assert [(c.mechanism, c.options) for c in made.cells] == plainly
    found = {(c.seeds, c.dataset, c.training.model_dump()["epochs"]) for c in made.cells}
    assert found == {((7, 8), "mnist", 3)}
    assert [len(batch) for batch in made.batches().values()] == [3, 1]
    made = plan(studies=["tvg_covariance"], mechanisms={"tvg_covariance": ["jl"]})
    assert {c.mechanism for c in made.cells} == {"jl"}


def test_factors_of_the_config_replace_those_of_the_study_and_choose_among_arms_that_have_them() -> None:
    made = plan(scale="desk", factors={"tldp_type1": {"model": ["small_cnn"]}}).cells
    assert {factor(cell, "model") for cell in made} == {"small_cnn"}
    made = plan(studies=["latent"], factors={"latent": {"reading": ["B"]}}).cells
    assert {factor(c, "reading") for c in made if c.mechanism == "latent"} == {"B"}
    assert {factor(c, "model") for c in made if c.mechanism == "none"} == {"ann", "cnn", "centroid"}
    shares = {"participation": [0.1, "without"], "eps": ["e3"], "tau": ["t1"], "limit": ["without"]}
    made = plan(studies=["pldp_fl"], scale="desk", datasets={"pldp_fl": ["mnist"]}, factors={"pldp_fl": shares}).cells
    found = {(c.mechanism, factor(c, "participation")) for c in made if c.mechanism in ("none", "pdpm")}
    assert found == {(name, share) for name in ("none", "pdpm") for share in (None, "0.1")}
    assert "privunit" not in {c.mechanism for c in made}  # which has another mode of epsilon
    chosen = {"mechanisms": {"tldp_type2": ["none"]}, "factors": {"tldp_type2": {"backbone": ["mobilenet_v2"]}}}
    (only,) = plan(studies=["tldp_type2"], scale="desk", **chosen).cells
    assert factor(only, "backbone") == "mobilenet_v2"


def test_a_factor_that_is_named_like_a_training_setting_sets_it_before_the_config_does() -> None:
    assert len(plan(studies=["latent_search"], scale="paper").cells) == 972  # Table 1 of LATENT for MNIST
    cells = plan(studies=["latent_search"], training={"latent_search": {"dropout": 0.1, "epochs": 2}}).cells
    for cell in cells:
        own, named = cell.training.model_dump(), variant_factors(cell.variant)
        assert own["epochs"] == 2
        assert "dropout" in named
        assert all(str(own[key]) == value for key, value in named.items() if key in own)
    for method in (METHODS[name] for name in METHODS.names()):
        assert set(method.factors.model_fields) & set(method.training.model_fields) == set()


@pytest.mark.parametrize(
    ("method", "release", "arm", "words"),
    [
        ("learning", "data", {"model": "linear", "unitt": "batch"}, "unknown factor of s 'unitt': did you mean 'unit'"),
        ("learning", "data", {"model": "linear", "unit": "user"}, "factors of s: unit = 'user' is not valid"),
        ("learning", "data", {}, "factors of s: model is missing"),
        ("learning", "features", {"model": "linear"}, "a factor backbone must name their extractor"),
        ("learning", "features", {"model": "linear", "backbone": "lenet_tahn"}, "did you mean 'lenet_tanh'"),
        ("federated", "data", {"model": "fcn", "where": "cloud"}, "where = 'cloud' is not valid"),
        ("pldp_synthetic", "data", {"tau": "t9"}, "tau = 't9' is not valid: unknown safe range mode"),
        ("pldp_synthetic", "data", {"tau": -1}, "tau = -1 is not valid"),
        ("pldp_synthetic", "data", {"eps": "e7"}, "eps = 'e7' is not valid"),
        ("attacks", "data", {"attack": "tensr"}, "attack = 'tensr' is not valid"),
        ("attacks", "data", {"attack": "tensor", "m": 2.5}, "m = 2.5 is not valid"),
        ("latent", "data", {"model": "an"}, "model = 'an' is not valid"),
    ],
)
def test_a_factor_that_a_method_cannot_read_is_one_sentence(method: str, release: str, arm: Any, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        cells_of(invented({"factors": arm}, method=method, release=release))
    assert len(str(caught.value).splitlines()) == 1


def test_a_factor_and_the_option_of_its_name_are_the_same() -> None:
    arm = {"factors": {"model": "linear", "form": "table5"}, "options": {"form": "theorem2"}}
    with pytest.raises(InputError, match="the factor form of s is 'table5', but the option of that name is 'theorem2'"):
        cells_of(invented(arm))


LATENT, ATTACKS = {"studies": ["latent"]}, {"studies": ["reconstruction"]}
ONE: dict[str, Any] = {  # a config with entries of its own, as the workflow's tests have
    "studies": ["tldp_type1", "tldp_type2", "tldp_type3"],
    "seeds": [0, 1],
    "mechanisms": {"tldp_type1": ["none", "tldp-l", "laplace"], "tldp_type2": ["none", "tldp-g"]},
    "epsilons": {"tldp_type1": [1, 5], "tldp_type2": [1], "tldp_type3": [100]},
    "training": {"tldp_type1": {"epochs": 1}, "tldp_type3": {"rounds": 2}},
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"studies": ["tldp_typ1"]}, ["unknown study 'tldp_typ1'", "did you mean 'tldp_type1'"]),
        ({"mechanisms": {"tldp_typ": ["none"]}}, ["did you mean 'tldp_type1', 'tldp_type2' or 'tldp_type3'?"]),
        ({"datasets": {"tldp_type1": ["mnst"]}}, ["unknown dataset 'mnst'", "did you mean 'mnist'"]),
        ({"mechanisms": {"tldp_type1": ["tldp-k"]}}, ["unknown mechanism 'tldp-k'", "did you mean 'tldp-"]),
        ({"epsilons": {"tldp_type1": ["inf"]}}, ["epsilons of tldp_type1 = [inf]: at least one must be finite"]),
        ({"epsilons": {"tldp_type9": [1]}}, ["unknown study under epsilons 'tldp_type9'", "did you mean 'tldp_type"]),
        ({"training": {"tldp_type1": {"epoch": 1}}}, ["training of tldp_type1", "'epoch'", "did you mean 'epochs'"]),
        ({"training": {"tldp_type1": {"epochs": 0}}}, ["training of tldp_type1: epochs = 0 is not valid"]),
        *(
            (
                {"studies": ["pldp_fl"], "training": {"pldp_fl": {key: value}}},
                ["training of pldp_fl", key, "is not valid"],
            )
            for key, value in (("participation", 2), ("client_epsilons", [1, -1]), ("client_ranges", [0.2, 0]))
        ),
        ({"factors": {"tldp_type1": {"modle": ["small_cnn"]}}}, ["unknown factor of tldp_type1 'modle'"]),
        ({"factors": {"tldp_type1": {"model": ["../x"]}}}, ["value of the factor model of tldp_type1 '../x'"]),
        ({"mechanisms": {"tldp_type1": ["jl"]}}, ["tldp_type1 cannot run 'jl'", "it releases a covariance matrix"]),
        ({"mechanisms": {"tldp_type2": ["k-rr"]}}, ["tldp_type2 cannot run 'k-rr'", "it takes whole numbers"]),
        ({**LATENT, "factors": {"latent": {"reading": ["C"]}}}, ["value of the factor reading of latent"]),
        (
            {**LATENT, "mechanisms": {"latent": ["laplace"]}},
            ["'laplace'", "factor model; it has latent, none, privunit"],
        ),
        *(
            ({"datasets": {"tldp_type1": ["digits", name]}}, ["tldp_type1 releases records", name, "no public range"])
            for name in ("breast_cancer", "adult")
        ),
        ({"datasets": {"tldp_type1": ["synthetic"]}}, ["tldp_type1 reads data, which 'synthetic' has not", "digits"]),
        (
            {"studies": ["pldp_synthetic"], "datasets": {"pldp_synthetic": ["mnist"]}},
            ["pldp_synthetic reads no data, not even 'mnist'", "name synthetic"],
        ),
        (
            {"studies": ["pldp_fl"], "training": {"pldp_fl": {"clients": 1438}}},
            ["pldp_fl deals 1,437 records of the dataset 'digits' to 1,438 clients", "fewer clients or more records"],
        ),
        ({**ATTACKS, "datasets": {"reconstruction": ["imdb"]}}, ["reconstruction has no cell for the dataset 'imdb'"]),
    ],
)
def test_a_mistake_in_the_config_is_one_sentence(changes: dict[str, Any], words: list[str]) -> None:
    told = refusal(**{**ONE, **changes})
    assert all(word in told for word in words), told


FACTOR = "mine.yaml: scales.desk.per_factor "


@pytest.mark.parametrize(
    ("study", "old", "new", "words"),
    [
        (
            "tldp_type1",
            "model: [small_cnn]",
            "model: [smal_cnn]",
            "model of mine 'smal_cnn': did you mean 'small_cnn'?",
        ),
        ("tldp_type1", "model=mobilenet_v2:", "model=mobilenet_v3:", f"{FACTOR}'model=mobilenet_v3': did you mean"),
        ("tldp_type1", "model=mobilenet_v2:", "modl=mobilenet_v2:", f"{FACTOR}'modl=mobilenet_v2': did you mean"),
        ("tvg_sgd", "datasets: [digits, mnist]", "datasets: [digits, mnits]", "of mine 'mnits': did you mean 'mnist'?"),
        (
            "tvg_covariance",
            "constant: 1.25",
            "constnat: 1.25",
            "option of matrix in mine 'constnat': did you mean 'constant'",
        ),
    ],
)
def test_a_misspelt_word_in_a_study_of_ones_own_is_refused_when_it_is_planned(
    study: str, old: str, new: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = study_files()[study].read_text()
    assert old in text
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "mine.yaml").write_text(text.replace(f"study: {study}", "study: mine").replace(old, new))
    told = refusal(studies=["mine"])
    assert told.startswith("unknown ")
    assert words in told


def test_a_study_file_that_is_broken_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("study: [")
    with pytest.raises(InputError, match=r"x\.yaml is not valid YAML"):
        load_study(tmp_path / "x.yaml")
    with pytest.raises(InputError, match=r"y\.yaml cannot be read"):
        load_study(tmp_path / "y.yaml")
    (tmp_path / "z.yaml").write_text(study_files()["tldp_type1"].read_text())
    with pytest.raises(InputError, match="says study: tldp_type1, but its name says z"):
        load_study(tmp_path / "z.yaml")


# The precision of networks: where it belongs to a cell, and where it must not


def test_a_precision_belongs_to_the_cells_whose_networks_it_changes_and_to_no_release_guarantee_or_audit() -> None:
    exact, reduced = plan(scale="desk").cells, plan("bfloat16", scale="desk").cells
    found = {cell.factors.named()["model"]: cell.precision for cell in reduced}
    assert found == {"small_cnn": "bfloat16", "mobilenet_v2": "float32"}
    for a, b in zip(exact, reduced, strict=True):
        assert a.path == b.path
        assert a.release_settings() == b.release_settings()
        assert a.private_settings() == b.private_settings() == a.settings()
        assert (a.settings() == b.settings()) == (b.precision == "float32")
        assert parse_cell(json.loads(json.dumps(b.settings()))).precision == b.precision
        assert parse_release(b.release_settings()).precision == "float32"


def test_only_networks_that_exist_are_named_for_a_precision() -> None:
    for method in (METHODS[name] for name in METHODS.names()):
        own = method.factors.model_fields.get("model")
        assert not (method.reduced or method.compiled) or own is not None
        for name in method.reduced | method.compiled:
            assert name in MODELS.names() or name in str(own)


def test_a_network_takes_the_first_that_it_may_compute_in() -> None:
    def found(*chosen: Precision, study: str) -> dict[str, str]:
        return {c.factors.named()["model"]: c.precision for c in plan(*chosen, scale="desk", studies=[study]).cells}

    assert found("compiled", "bfloat16", study="tldp_type1") == {"small_cnn": "compiled", "mobilenet_v2": "float32"}
    latent = {"cnn": "bfloat16", "ann": "bfloat16", "centroid": "float32"}
    assert found("compiled", "bfloat16", study="latent") == latent
    assert found("compiled", study="pldp_fl") == {"pldp_cnn": "compiled"}
    assert found("bfloat16", study="tldp_type3") == {"small_cnn": "float32"}  # its parameters are perturbed


def test_the_compiled_loop_takes_the_networks_that_name_it() -> None:
    for name in {name for key in METHODS.names() for name in METHODS[key].compiled}:
        shape = (1, 28, 28) if name in ("small_cnn", "pldp_cnn", "lenet", "lenet_wide") else (49,)
        task = Task(shape[1:] if len(shape) == 3 else shape, 10)
        assert len(Layout(build(name, task, torch.Generator()), shape).stages) > 1


def test_asking_for_a_precision_that_no_network_takes_is_a_mistake() -> None:
    chosen: tuple[Precision, Precision] = ("bfloat16", "compiled")
    for name, study in zip(chosen, ("tvg_covariance", "latent"), strict=True):
        assert any(cell.precision == name for cell in plan(name, precision=name).cells)
        with pytest.raises(
            InputError, match=f"precision is '{name}' but every network of the chosen studies computes in"
        ):
            plan(name, precision=name, studies=[study])


def test_ones_own_data_have_the_mechanisms_of_a_study_whose_arms_all_name_data_sets(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,b\n1,0\n2,1\n")
    own = {"own_datasets": {"mine": {"path": str(tmp_path / "mine.csv"), "label": "b", "range": [0, 9]}}}
    for study in ("tldp_type3", "tvg_sgd", "tvg_features"):
        asked = {"scale": "quick", "studies": [study], "datasets": {study: ["mine"]}, **own}
        plans = make_plan(parse_settings(asked)), make_plan(parse_settings({**asked, "datasets": {study: ["digits"]}}))
        of_mine, of_digits = ({(c.mechanism, c.variant, c.epsilon) for c in plan.cells} for plan in plans)
        assert of_mine == of_digits, study
    tables = {**asked, "studies": ["tldp_type3"], "datasets": {"tldp_type3": ["mine"]}}
    plan = make_plan(parse_settings({**tables, "factors": {"tldp_type3": {"model": ["mlp"]}}}))
    assert {variant_factors(cell.variant)["model"] for cell in plan.cells} == {"mlp"}
    assert len({cell.mechanism for cell in plan.cells}) > 5


def test_a_table_of_ones_own_has_the_arms_for_tables_and_images_those_of_digits(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,b,c,d,label\n1,2,3,4,0\n2,3,4,5,1\n")
    rows = {"path": str(tmp_path / "mine.csv"), "label": "label", "range": [0, 9]}
    for entry, backbone in ((rows, "columns"), ({**rows, "shape": [2, 2]}, "strokes")):
        asked = {"scale": "quick", "studies": ["frontier"], "datasets": {"frontier": ["mine"]}}
        cells = make_plan(parse_settings({**asked, "own_datasets": {"mine": entry}})).cells
        assert {variant_factors(cell.variant)["backbone"] for cell in cells} == {backbone}
        arms = {(cell.mechanism, variant_factors(cell.variant).get("private")) for cell in cells}
        assert {("privunit", "record"), ("privunit", None), ("none", None)} <= arms
        learners = {variant_factors(cell.variant).get("learner") for cell in cells if cell.mechanism == "none"}
        assert ("logistic" in learners) == (backbone == "columns"), "what the learner costs a table without privacy"
