"""From settings and studies to cells."""

import math
from pathlib import Path

import pytest

from tensorldp.config.grid import Plan, epsilon_text, make_plan, variant_text
from tensorldp.config.settings import parse_settings
from tensorldp.config.study import load_study
from tensorldp.data.catalogue import names
from tensorldp.errors import InputError
from tensorldp.registration.kinds import MECHANISMS

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "workflow" / "studies"
DATASETS = names()


def plan(**raw: object) -> Plan:
    raw.setdefault("studies", ["tldp_type1"])
    return make_plan(parse_settings(raw), STUDIES, mechanisms=MECHANISMS.names(), datasets=DATASETS)


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


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda p: p.stem)
@pytest.mark.parametrize("scale", ["quick", "desk", "paper"])
def test_every_study_has_a_valid_plan_at_every_scale(path: Path, scale: str) -> None:
    made = plan(studies=[path.stem], scale=scale)
    assert made.cells
    assert len({cell.path for cell in made.cells}) == len(made.cells)


def test_none_has_one_cell_at_infinity() -> None:
    cells = [c for c in plan().cells if c.mechanism == "none"]
    assert [c.epsilon for c in cells] == ["inf"]


def test_epsilons_replace_the_grid_of_their_study_alone() -> None:
    made = plan(studies=["tldp_type1", "tldp_type2"], epsilons={"tldp_type1": [3]})
    assert {c.epsilon for c in made.of("tldp_type1")} == {"3", "inf"}
    assert {c.epsilon for c in made.of("tldp_type2")} > {"0.1", "inf"}


def test_one_more_epsilon_leaves_the_other_cells_settings_as_they_were() -> None:
    before = {c.path: c.training_settings() for c in plan(epsilons={"tldp_type1": [1, 2]}).cells}
    after = {c.path: c.training_settings() for c in plan(epsilons={"tldp_type1": [1, 2, 3]}).cells}
    assert {p: s for p, s in after.items() if p in before} == before
    assert all(path.endswith("~3") for path in set(after) - set(before))


def test_chosen_mechanisms_narrow_the_arms_and_others_join_plainly() -> None:
    made = plan(mechanisms={"tldp_type1": ["tldp-l", "privunit"]}, epsilons={"tldp_type1": [1]})
    assert {c.mechanism for c in made.cells} == {"tldp-l", "privunit"}


def test_training_settings_of_the_config_win() -> None:
    assert {c.training["epochs"] for c in plan(training={"tldp_type1": {"epochs": 3}}).cells} == {3}


def test_factors_of_the_config_replace_those_of_the_study() -> None:
    made = plan(scale="desk", factors={"tldp_type1": {"model": ["small_cnn"]}})
    assert {cell.factors["model"] for cell in made.cells} == {"small_cnn"}
    with pytest.raises(InputError, match="unknown factor of tldp_type1 'modle'"):
        plan(factors={"tldp_type1": {"modle": ["small_cnn"]}})
    with pytest.raises(InputError, match=r"value of the factor model of tldp_type1 '\.\./x'"):
        plan(factors={"tldp_type1": {"model": ["../x"]}})


def test_a_factor_has_its_own_training_settings() -> None:
    cells = plan(scale="desk").cells
    mobile = next(c for c in cells if c.factors["model"] == "mobilenet_v2")
    small = next(c for c in cells if c.factors["model"] == "small_cnn")
    assert (mobile.training["pretrained"], mobile.limit) == (True, 4000)
    assert (small.training["pretrained"], small.limit) == (False, None)


def test_a_factor_that_is_named_like_a_training_setting_sets_it() -> None:
    cells = plan(studies=["latent_search"], scale="paper").cells
    assert len(cells) == 972  # Table 1 of LATENT for MNIST: 3 x 3 x 3 x 4 x 3 x 3 values
    for c in cells:
        assert all(c.training[key] == c.factors[key] for key in ("dropout", "batch_size", "activation", "optimizer"))


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
def test_unknown_names_are_told_with_the_nearest(raw: dict, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        plan(**raw)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_study_file_that_is_broken_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("study: [")
    with pytest.raises(InputError, match=r"x\.yaml is not valid YAML"):
        load_study(tmp_path / "x.yaml")
    with pytest.raises(InputError, match=r"y\.yaml cannot be read"):
        load_study(tmp_path / "y.yaml")
