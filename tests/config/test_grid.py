"""From settings and studies to cells."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.data.catalogue import names
from tensorldp_papers.papers.latent.settings import LatentTraining
from tensorldp_papers.papers.tldp.settings import LearningFactors, LearningTraining
from tensorldp_papers.registries import METHODS
from tensorldp_papers.run.cell import AnyCell, epsilon_text, parse_cell, parse_release, variant_factors, variant_text
from tensorldp_papers.run.grid import Plan, make_plan, study_cells
from tensorldp_papers.run.method_plan import Training
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import Study, load_study, study_files

ROOT = Path(__file__).parents[2]
DATASETS = names()


def plan(**raw: object) -> Plan:
    raw.setdefault("studies", ["tldp_type1"])
    return make_plan(parse_settings(raw))


def learning(cell: AnyCell) -> LearningTraining:
    assert isinstance(cell.training, LearningTraining)
    return cell.training


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [(1, "1"), (0.5, "0.5"), (1.0, "1"), (100, "100"), (1e-5, "1e-05"), (math.inf, "inf"), (0.1, "0.1")],
)
def test_epsilon_has_one_canonical_text_that_reads_back(epsilon: float, text: str) -> None:
    assert epsilon_text(epsilon) == text
    assert float(text) == epsilon


def test_variants_are_canonical() -> None:
    assert variant_text({}) == "base"
    assert variant_text({"where": "user", "model": "fcn"}) == variant_text({"model": "fcn", "where": "user"})
    assert variant_text({"where": "user", "model": "fcn"}) == "model=fcn,where=user"
    assert variant_factors("model=fcn,where=user") == {"model": "fcn", "where": "user"}
    assert variant_factors("base") == {}


@pytest.mark.parametrize("path", study_files().values(), ids=lambda p: p.stem)
@pytest.mark.parametrize("scale", ["quick", "desk", "paper"])
def test_every_study_has_a_valid_plan_whose_cells_reach_their_jobs_as_they_are(path: Path, scale: str) -> None:
    made = plan(studies=[path.stem], scale=scale)
    assert made.cells
    assert len({cell.path for cell in made.cells}) == len(made.cells)
    for cell in made.cells[:: max(1, len(made.cells) // 50)]:
        again = parse_cell(json.loads(json.dumps(cell.settings())))
        assert vars(again) == vars(cell)
        assert (type(again.training), type(again.factors)) == (cell.plan.training, cell.plan.factors)
        assert again.settings() == cell.settings()
        released = parse_release(json.loads(json.dumps(cell.release_settings())))
        assert vars(released) == {**vars(cell), "training": Training(limit=cell.training.limit)}


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


def test_none_has_one_cell_at_infinity() -> None:
    cells = [c for c in plan().cells if c.mechanism == "none"]
    assert [c.epsilon for c in cells] == ["inf"]


def test_epsilons_replace_the_grid_of_their_study_alone() -> None:
    made = plan(studies=["tldp_type1", "tldp_type2"], epsilons={"tldp_type1": [3]})
    assert {c.epsilon for c in made.of("tldp_type1")} == {"3", "inf"}
    assert {c.epsilon for c in made.of("tldp_type2")} > {"0.1", "inf"}


def test_one_more_epsilon_leaves_the_other_cells_settings_as_they_were() -> None:
    before = {c.path: c.settings() for c in plan(epsilons={"tldp_type1": [1, 2]}).cells}
    after = {c.path: c.settings() for c in plan(epsilons={"tldp_type1": [1, 2, 3]}).cells}
    assert {p: s for p, s in after.items() if p in before} == before
    assert all(path.endswith("~3") for path in set(after) - set(before))


def test_chosen_mechanisms_narrow_the_arms_and_others_join_plainly() -> None:
    made = plan(mechanisms={"tldp_type1": ["tldp-l", "privunit"]}, epsilons={"tldp_type1": [1]})
    assert {c.mechanism for c in made.cells} == {"tldp-l", "privunit"}


def test_training_settings_of_the_config_win() -> None:
    assert {learning(c).epochs for c in plan(training={"tldp_type1": {"epochs": 3}}).cells} == {3}


def test_factors_of_the_config_replace_those_of_the_study() -> None:
    made = plan(scale="desk", factors={"tldp_type1": {"model": ["small_cnn"]}})
    assert {variant_factors(cell.variant)["model"] for cell in made.cells} == {"small_cnn"}
    with pytest.raises(InputError, match="unknown factor of tldp_type1 'modle'"):
        plan(factors={"tldp_type1": {"modle": ["small_cnn"]}})
    with pytest.raises(InputError, match=r"value of the factor model of tldp_type1 '\.\./x'"):
        plan(factors={"tldp_type1": {"model": ["../x"]}})


def test_factors_of_the_config_choose_among_arms_that_have_them() -> None:
    made = plan(studies=["latent"], factors={"latent": {"reading": ["B"]}}).cells
    assert {variant_factors(c.variant).get("reading") for c in made if c.mechanism == "latent"} == {"B"}
    assert {variant_factors(c.variant)["model"] for c in made if c.mechanism == "none"} == {"ann", "cnn", "centroid"}
    (only,) = plan(
        studies=["tldp_type2"],
        scale="desk",
        mechanisms={"tldp_type2": ["none"]},
        factors={"tldp_type2": {"backbone": ["mobilenet_v2"]}},
    ).cells
    assert variant_factors(only.variant)["backbone"] == "mobilenet_v2"
    with pytest.raises(InputError, match="value of the factor reading of latent"):
        plan(studies=["latent"], factors={"latent": {"reading": ["C"]}})


def test_a_factor_has_its_own_training_settings() -> None:
    cells = plan(scale="desk").cells
    mobile, small = (
        next(learning(c) for c in cells if variant_factors(c.variant)["model"] == name)
        for name in ("mobilenet_v2", "small_cnn")
    )
    assert (mobile.pretrained, mobile.limit) == (True, 4000)
    assert (small.pretrained, small.limit) == (False, None)


def test_a_factor_that_is_named_like_a_training_setting_sets_it() -> None:
    cells = plan(studies=["latent_search"], scale="paper").cells
    assert len(cells) == 972  # Table 1 of LATENT for MNIST: 3 x 3 x 3 x 4 x 3 x 3 values
    for c in cells:
        named = variant_factors(c.variant)
        settings = c.training.model_dump()
        assert all(str(settings[key]) == named[key] for key in ("dropout", "batch_size", "activation", "optimizer"))


def test_no_factor_of_a_method_is_named_like_one_of_its_training_settings() -> None:
    for method in (METHODS[name] for name in METHODS.names()):
        assert set(method.factors.model_fields) & set(method.training.model_fields) == set()


def test_a_factor_that_is_a_training_setting_goes_before_the_config() -> None:
    cells = plan(studies=["latent_search"], training={"latent_search": {"dropout": 0.1, "epochs": 2}}).cells
    for c in cells:
        assert isinstance(c.training, LatentTraining)
        assert (str(c.training.dropout), c.training.epochs) == (variant_factors(c.variant)["dropout"], 2)


def invented(method: str = "learning", release: str = "data", **arm: object) -> Study:
    return Study.model_validate(
        {
            "study": "s",
            "title": "t",
            "source": "p",
            "release": release,
            "figure": "f",
            "method": method,
            "arms": [{"mechanisms": ["none"], **arm}],
            "scales": {"quick": {"datasets": ["digits"], "epsilons": [1], "seeds": [0]}},
        }
    )


@pytest.mark.parametrize(
    ("study", "words"),
    [
        (invented(factors={"model": "linear", "unitt": "batch"}), "unknown factor of s 'unitt': did you mean 'unit'"),
        (invented(factors={"model": "linear", "unit": "user"}), "factors of s: unit = 'user' is not valid"),
        (invented(), "factors of s: model is missing"),
        (invented(factors={"model": "linear"}, release="features"), "a factor backbone must name their extractor"),
        (
            invented(factors={"model": "linear", "form": "table5"}, options={"form": "theorem2"}),
            "the factor form of s is 'table5', but the option of that name is 'theorem2'",
        ),
        (invented("federated", factors={"model": "fcn", "where": "cloud"}), "where = 'cloud' is not valid"),
        (invented("pldp_synthetic", factors={"tau": "t9"}), "tau = 't9' is not valid: unknown safe range mode"),
        (invented("pldp_synthetic", factors={"tau": -1}), "tau = -1 is not valid"),
        (invented("pldp_synthetic", factors={"eps": "e7"}), "eps = 'e7' is not valid"),
        (invented("attacks", factors={"attack": "tensr"}), "attack = 'tensr' is not valid"),
        (invented("attacks", factors={"attack": "tensor", "m": 2.5}), "m = 2.5 is not valid"),
        (invented("latent", factors={"model": "an"}), "model = 'an' is not valid"),
    ],
)
def test_a_factor_that_a_method_cannot_read_is_one_sentence(study: Study, words: str) -> None:
    with pytest.raises(InputError) as caught:
        study_cells(study, parse_settings({"scale": "quick", "studies": ["s"]}))
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_an_option_may_name_an_arm() -> None:
    (cell,) = study_cells(
        invented(factors={"model": "linear", "form": "table5"}, options={"form": "table5"}),
        parse_settings({"scale": "quick", "studies": ["s"]}),
    )
    assert cell.variant == "form=table5,model=linear"
    assert cell.factors == LearningFactors(model="linear")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"studies": ["tldp_typ1"]}, ["study", "'tldp_typ1'", "did you mean 'tldp_type1'"]),
        ({"mechanisms": {"tldp_type1": ["tldp_l"]}}, ["mechanism", "'tldp_l'", "did you mean 'tldp-l"]),
        ({"datasets": {"tldp_type1": ["mnis"]}}, ["dataset", "mnis"]),
        ({"epsilons": {"tldp_type9": [1]}}, ["study", "epsilons", "'tldp_type9'"]),
        ({"training": {"tldp_type1": {"epoch": 1}}}, ["'epoch'", "did you mean 'epochs'"]),
        ({"training": {"tldp_type1": {"epochs": 0}}}, ["epochs", "0"]),
    ],
)
def test_unknown_names_are_told_with_the_nearest(raw: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        plan(**raw)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_study_file_that_is_broken_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("study: [")
    with pytest.raises(InputError, match=r"x\.yaml is not valid YAML"):
        load_study(tmp_path / "x.yaml")
    with pytest.raises(InputError, match=r"y\.yaml cannot be read"):
        load_study(tmp_path / "y.yaml")


def test_a_grid_without_a_finite_epsilon_is_refused() -> None:
    with pytest.raises(InputError, match=r"epsilons of tldp_type1 = \[inf\]: at least one must be finite"):
        plan(epsilons={"tldp_type1": ["inf"]})


@pytest.mark.parametrize(
    ("study", "mechanism", "words"),
    [
        ("tldp_type1", "jl", "it releases a covariance matrix"),
        ("tldp_type2", "k-rr", "it takes whole numbers"),
        ("latent", "laplace", "with a factor model; it has latent, none, privunit"),
    ],
)
def test_a_mechanism_that_a_study_cannot_use_is_refused_at_planning(study: str, mechanism: str, words: str) -> None:
    with pytest.raises(InputError, match=f"the study {study} cannot run '{mechanism}'") as refused:
        plan(studies=[study], mechanisms={study: [mechanism]})
    assert words in str(refused.value)
    assert plan(studies=["tvg_covariance"], mechanisms={"tvg_covariance": ["jl"]}).cells
