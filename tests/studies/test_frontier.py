"""The method `frontier` on small made-up data sets in the form that the stage `represent` writes."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.files import write_arrays
from tensorldp.randomness import generator
from tensorldp_papers.papers.frontier import knowledge as frontier
from tensorldp_papers.papers.frontier.method import METHOD
from tensorldp_papers.public.projection import discriminant
from tensorldp_papers.run.cell import Cell, parse_cell

CPU = torch.device("cpu")
COLUMNS = 24


def blobs(count: int, *key: str) -> tuple[np.ndarray, np.ndarray]:
    centres = torch.randn(10, COLUMNS, generator=generator("centres"))
    y = torch.arange(count) % 10
    return (centres[y] + 0.6 * torch.randn(count, COLUMNS, generator=generator(*key))).numpy(), y.numpy()


def write_split(folder: Path, split: str, x: np.ndarray, y: np.ndarray) -> None:
    metadata = {"dataset": "made", "classes": "10", "low": "-inf", "high": "inf", "kind": "features"}
    write_arrays(folder / f"{split}.safetensors", {"x": x.astype(np.float16), "y": y}, metadata)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """With and without letters: the first has a fitted projection, the second public records of the same kind."""
    found = {}
    task_x, task_y = blobs(600, "task")
    fit = discriminant(torch.from_numpy(task_x), torch.from_numpy(task_y), 16)
    letters = {name: getattr(fit, name).contiguous().numpy() for name in ("centre", "directions", "scales")}
    named = {"named_x": task_x, "named_y": task_y, "named_source": np.arange(600) % 20 // 10}
    for backbone, extra in (("strokes", {**letters, **named}), ("gradients", {})):
        folder = tmp_path_factory.mktemp(backbone)
        write_split(folder, "train", *blobs(3000, "train"))
        write_split(folder, "test", *blobs(1000, "test"))
        write_arrays(folder / "public.safetensors", {"task_x": task_x, "task_y": task_y, **extra})
        found[backbone] = folder
    return found


def cell(backbone: str = "strokes", mechanism: str = "privunit", epsilon: str = "4", **factors: Any) -> Cell[Any, Any]:
    return parse_cell(
        {
            "study": "frontier",
            "dataset": "made",
            "variant": "x" + "".join(f"{k}{v}" for k, v in factors.items()) + backbone,
            "mechanism": mechanism,
            "epsilon": epsilon,
            "release": "data",
            "method": "frontier",
            "delta": 1e-5,
            "training": {"public_records": 500, "clients": 100},
            "factors": {"backbone": backbone, **factors},
            "options": {"whole": 0, "fraction": 1} if mechanism == "latent" else {},
            "seeds": [0, 1],
        }
    )


def value(found: Cell[Any, Any], folder: Path, seed: int = 0) -> float:
    rows = METHOD.measure(found, folder, seed, CPU)
    assert rows[1]["metric"] == "dimension"
    return float(rows[0]["value"])


@pytest.mark.parametrize("backbone", ["strokes", "gradients"])
def test_a_larger_epsilon_buys_accuracy_up_to_that_without_privacy(folders: dict[str, Path], backbone: str) -> None:
    folder = folders[backbone]
    low, high = (value(cell(backbone, epsilon=e), folder) for e in ("0.1", "8"))
    clean = value(cell(backbone, "none", "inf"), folder)
    assert low < 0.6
    assert high > 0.85
    assert clean > high - 0.02


def test_latents_bias_is_known_to_who_learns_from_its_releases(folders: dict[str, Path]) -> None:
    found = cell(mechanism="latent", epsilon="40")
    assert METHOD.guarantee(found, folders["strokes"])["pure_epsilon"] == pytest.approx(40.0)
    assert value(found, folders["strokes"]) > 0.6  # 0.1 by chance


def test_private_labels_cost_and_shuffled_labels_leave_nothing(folders: dict[str, Path]) -> None:
    folder = folders["strokes"]
    public, private = value(cell(), folder), value(cell(private="record"), folder)
    assert 0.3 < private <= public
    shuffled = np.mean([value(cell(control="shuffled"), folder, seed) for seed in range(4)])
    assert shuffled < 0.3


def test_the_public_control_reads_no_private_record(folders: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "strokes"
    other.mkdir()
    write_split(other, "train", np.zeros((3000, COLUMNS), dtype=np.float32), np.arange(3000) % 10)
    for name in ("test", "public"):
        (other / f"{name}.safetensors").write_bytes((folders["strokes"] / f"{name}.safetensors").read_bytes())
    control = cell(mechanism="none", epsilon="inf", control="public")
    expected = value(control, folders["strokes"])
    frontier.material.cache_clear()
    assert value(control, other) == expected
    assert METHOD.guarantee(control, other)["pure_epsilon"] == 0.0


def test_the_public_control_is_chosen_without_test_records(folders: dict[str, Path], tmp_path: Path) -> None:
    for name in ("train", "public"):
        (tmp_path / f"{name}.safetensors").write_bytes((folders["strokes"] / f"{name}.safetensors").read_bytes())
    x, y = blobs(1000, "test")
    write_split(tmp_path, "test", -x, (y + 1) % 10)
    control = cell(mechanism="none", epsilon="inf", control="public")
    rows, other = (METHOD.measure(control, folder, 0, CPU) for folder in (folders["strokes"], tmp_path))
    rule = [row for row in rows if row["metric"].startswith("across_sources_")]
    assert [row["metric"][15:] for row in rule] == ["nearest", "discriminant", "network", "sum"]
    assert rule == other[2:6]
    assert rows[0]["value"] > 0.8 > 0.2 > other[0]["value"]


def test_the_public_control_has_the_classes_of_the_data_set(folders: dict[str, Path], tmp_path: Path) -> None:
    for name in ("test", "public"):
        (tmp_path / f"{name}.safetensors").write_bytes((folders["strokes"] / f"{name}.safetensors").read_bytes())
    x, y = blobs(3000, "train")
    metadata = {"dataset": "made", "classes": "7", "low": "-inf", "high": "inf", "kind": "features"}
    write_arrays(tmp_path / "train.safetensors", {"x": x.astype(np.float16), "y": y % 7}, metadata)
    with pytest.raises(InputError, match="control: public has the ten digits, but made has 7 classes"):
        METHOD.measure(cell(mechanism="none", epsilon="inf", control="public"), tmp_path, 0, CPU)


@pytest.mark.parametrize("factors", [{}, {"private": "record"}, {"backbone": "gradients"}])
def test_the_plan_does_not_change_with_the_private_records(
    folders: dict[str, Path], tmp_path: Path, factors: dict[str, str]
) -> None:
    found = cell(**factors)
    folder, other = folders[found.factors.backbone], tmp_path / "other"
    other.mkdir()
    write_split(other, "train", np.full((3000, COLUMNS), 7.0, dtype=np.float32), np.arange(3000) % 10)
    (other / "public.safetensors").write_bytes((folder / "public.safetensors").read_bytes())
    # the other folder has no test split at all: the plan can have read none
    assert frontier.plan_of(found, folder) == frontier.plan_of(found, other)


@pytest.mark.parametrize(
    ("mechanism", "factors", "pure"),
    [
        ("privunit", {}, 4.0),
        ("privunit", {"private": "record"}, 4.0),
        ("privunit", {"private": "client"}, 4.0),
        ("privunit", {"private": "client", "rounds": 2}, 4.0),
        ("pdpm", {"private": "client"}, 4.0),
        ("privunit", {"private": "test"}, 4.0),
        ("k-rr", {"private": "answer"}, 4.0),
        ("tldp-l", {}, 4.0),
        ("laplace", {}, 4.0),
        ("gaussian-analytic", {}, math.inf),
    ],
)
def test_the_epsilon_of_a_cell_is_its_true_one_and_the_audited_mechanism_is_the_one_used(
    folders: dict[str, Path], mechanism: str, factors: dict[str, Any], pure: float
) -> None:
    found = cell(mechanism=mechanism, **factors)
    guarantee = METHOD.guarantee(found, folders["strokes"])
    assert guarantee["pure_epsilon"] == pytest.approx(pure, rel=1e-4)
    if math.isinf(pure):
        assert guarantee["epsilon"] == pytest.approx(4.0, rel=1e-4)
    assert ("labels are released unperturbed" in guarantee["note"]) == (not factors)
    audited, _ = METHOD.audited(found, folders["strokes"])
    assert audited is not None
    uploads = factors.get("rounds", 1)
    assert uploads * audited.curve().pure_epsilon == pytest.approx(pure, rel=1e-4)


def test_an_answer_by_randomised_response_has_the_accuracy_of_its_law(folders: dict[str, Path]) -> None:
    clean = value(cell(mechanism="k-rr", epsilon="50", private="answer"), folders["strokes"])
    at_two = np.mean(
        [value(cell(mechanism="k-rr", epsilon="2", private="answer"), folders["strokes"], s) for s in (0, 1, 2)]
    )
    keep = math.exp(2) / (math.exp(2) + 9)
    expected = clean * keep + (1 - clean) * (1 - keep) / 9
    assert abs(at_two - expected) < 5 * math.sqrt(0.25 / 3000)  # false alarms: 6e-7


def test_without_named_public_records_the_control_bounds_what_the_unlabelled_ones_know(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    other = tmp_path / "gradients"
    other.mkdir()
    for name in ("test", "public"):
        (other / f"{name}.safetensors").write_bytes((folders["gradients"] / f"{name}.safetensors").read_bytes())
    x, y = blobs(3000, "train")
    write_split(other, "train", np.concatenate((np.zeros_like(x[:2500]), x[2500:])), y)  # private records gone
    control = cell("gradients", "none", "inf", control="public")
    expected = value(control, folders["gradients"])
    frontier.material.cache_clear()
    assert value(control, other) == expected > 0.5  # these ten groups are clear; by chance 0.1
    assert METHOD.guarantee(control, other)["pure_epsilon"] == 0.0


@pytest.mark.parametrize("factors", [{"control": "public"}, {"learner": "logistic"}])
def test_what_no_mechanism_takes_part_in_refuses_one(folders: dict[str, Path], factors: dict[str, str]) -> None:
    with pytest.raises(InputError, match="takes no mechanism but none, got privunit"):
        METHOD.measure(cell("gradients", **factors), folders["gradients"], 0, CPU)


def test_every_learner_beats_chance_by_far(folders: dict[str, Path]) -> None:
    for learner in ("nearest", "least_squares", "covariance"):
        assert value(cell("gradients", epsilon="8", learner=learner), folders["gradients"]) > 0.8, learner
    assert value(cell("gradients", "none", "inf", learner="logistic"), folders["gradients"]) > 0.9


def test_rounds_share_a_clients_epsilon_and_belong_to_clients_alone(folders: dict[str, Path]) -> None:
    found = cell(epsilon="6", private="client", rounds=3)
    upload, note = METHOD.audited(found, folders["strokes"])
    assert upload is not None
    assert upload.guarantee(0.0).epsilon == pytest.approx(2.0)
    assert "3 uploads" in note
    described = METHOD.guarantee(found, folders["strokes"])
    assert described["pure_epsilon"] == pytest.approx(6.0)
    assert described["unit"] == "run"
    with pytest.raises(InputError, match="only clients upload in rounds"):
        cell(rounds=3)


def test_too_few_records_for_the_public_ones_are_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    write_split(tmp_path, "train", *blobs(400, "few"))
    with pytest.raises(InputError, match="too few for public_records: 500"):
        METHOD.guarantee(cell("gradients"), tmp_path)


def test_words_are_not_fitted_on_private_texts(folders: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="fitted on 5000 texts: public_records must be as many, got 500"):
        METHOD.guarantee(cell("words"), folders["gradients"])
