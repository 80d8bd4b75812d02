"""What cells of one seed share: first weights and orders of records always, a draw over epsilons."""

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small import CPU, images, make_cell
from torch import Tensor

import tensorldp_papers
from tensorldp_papers.papers.latent.method import METHOD as LATENT
from tensorldp_papers.papers.pldp_fl.method import METHOD as PLDP
from tensorldp_papers.papers.tldp.federated import train_federated
from tensorldp_papers.papers.tldp.learning import train_heads_on_releases, train_on_releases
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.releases import perturb
from tensorldp_papers.run.streams import common_stream, noise_stream

NOISE = """covariance noise, defence, gradient noise, noise, parameter noise, purpose of noise, released victims,
releases, test feature noise, training defence, {split} noise"""
SHARED = """attack, attacked network, augmentation, batches, batches of user {user}, candidates, classifier, clients,
clusters, codewords, lots, member batches, member model, members, model, network, permuted labels, purpose of order,
selection, sensitivity, shuffled labels, starts, trained network, users, values"""


def uses() -> dict[str, set[str]]:
    """The purposes that each of the two functions is called for anywhere in the studies."""
    found: dict[str, set[str]] = {"common_stream": set(), "noise_stream": set()}
    for path in Path(tensorldp_papers.__file__).parent.rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        lambdas = [(k.arg, k.value) for node in calls for k in node.keywords if isinstance(k.value, ast.Lambda)]
        given = {id(inner): name for name, made in lambdas for inner in ast.walk(made)}
        for node in calls:
            if isinstance(node.func, ast.Name) and node.func.id in found:
                text = ast.unparse(node.args[2]).lstrip("f").strip("'\"")
                found[node.func.id].add(f"purpose of {given[id(node)]}" if text == "purpose" else text)
    return found


def test_every_stream_is_of_its_kind() -> None:
    found = {kind: ", ".join(sorted(purposes)) for kind, purposes in uses().items()}
    assert found == {"common_stream": SHARED.replace("\n", " "), "noise_stream": NOISE.replace("\n", " ")}


def learning(mechanism: str, epsilon: str, model: str = "small_cnn") -> Cell[Any, Any]:
    return make_cell("learning", mechanism, epsilon, training={"epochs": 2, "batch_size": 16}, factors={"model": model})


def test_keys() -> None:
    one = learning("laplace", "1")
    others = [replace(one, epsilon="2"), replace(one, variant="w"), replace(one, mechanism="gaussian")]

    def seeds(stream: Callable[..., torch.Generator], *cells: Cell[Any, Any], seed: int = 0) -> list[int]:
        return [stream(c, seed, "p").initial_seed() for c in cells]

    assert len(set(seeds(common_stream, one, *others))) == 1
    assert len(set(seeds(noise_stream, one, *others[:2]))) == 1
    assert len({*seeds(noise_stream, one, others[2]), *seeds(common_stream, one)}) == 3
    for stream in (common_stream, noise_stream):
        assert len({*seeds(stream, one), *seeds(stream, one, seed=1), *seeds(stream, replace(one, dataset="e"))}) == 3


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian-analytic"])
def test_two_epsilons_scale_one_draw_and_every_seed_and_split_has_its_own(mechanism: str) -> None:
    dark = replace(images(), x=torch.zeros(40, 8, 8, dtype=torch.uint8))
    one, two = (perturb(dark, learning(mechanism, epsilon), 0, "train", CPU) for epsilon in ("1", "2"))
    ratio = one / two
    assert torch.allclose(ratio, ratio.flatten()[0].expand_as(ratio), rtol=1e-5)
    if mechanism == "laplace":
        assert torch.equal(one, 2 * two)
    for seed, split in ((1, "train"), (0, "test")):
        assert not torch.isclose(one, perturb(dark, learning(mechanism, "1"), seed, split, CPU)).any()


def same(states: Iterable[dict[str, Any]], atol: float = 0.0) -> bool:
    """Whether all models have the same weights."""
    first, *others = [{key: torch.as_tensor(value) for key, value in state.items()} for state in states]
    return all(torch.allclose(first[key], other[key], 0.0, atol) for other in others for key in first)


def test_classifiers_start_and_read_alike() -> None:
    records = images()
    released: Tensor = records.x.float()
    cells = [("laplace", "1"), ("tldp-l", "2"), ("none", "inf")]
    assert same(train_on_releases(learning(*c), released, records.y, records, 0, CPU)[0].state_dict() for c in cells)
    arrays = {"train": released.numpy()}
    linear = [learning(*c, "linear") for c in cells]
    assert same(train_heads_on_releases(c, lambda _: arrays, records, CPU)[0][0].state_dict() for c in linear)


def test_users_and_clients_are_drawn_and_train_alike_but_for_the_noise() -> None:
    settings: dict[str, Any] = {"training": {"epochs": 2, "rounds": 2, "batch_size": 16}}
    settings["factors"] = {"model": "small_cnn", "where": "user"}
    cells = [make_cell("federated", *c, **settings) for c in (("none", "inf"), ("laplace", "1e+12"))]
    assert same((train_federated(c, images(), 0, CPU)[0].state_dict() for c in cells), 1e-4)
    settings = {"training": {"rounds": 4, "epochs": 2, "clients": 8, "learning_rate": 0.1, "every": 2}}
    settings["factors"] = {"model": "mlp", "eps": "same", "tau": 200.0}
    cells = [make_cell("pldp_fl", *c, **settings) for c in (("none", "inf"), ("plu-fedoa", "1e+9"))]
    quiet, faint = (PLDP.train(c, images(160, classes=10), 0, CPU).arrays for c in cells)
    assert (quiet["uploads"] == faint["uploads"]).all()
    assert abs(quiet["weights"] - faint["weights"]).max() < 1e-4


def test_bit_strings_are_learned_alike() -> None:
    settings: dict[str, Any] = {"training": {"epochs": 2, "width": 16, "batch_size": 16}, "factors": {"model": "ann"}}
    coded = {"options": {"reading": "A"}, **settings}
    cells = [make_cell("latent", **settings), *(make_cell("latent", "latent", epsilon, **coded) for epsilon in "28")]
    released = LATENT.release(cells[0], images(), 0, "train", CPU)
    assert same(LATENT.train(c, images(), released, 0, CPU).arrays for c in cells)
