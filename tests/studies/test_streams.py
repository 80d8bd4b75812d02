"""What cells of one seed share: first weights and orders of records always, a draw over epsilons."""

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from test_latent_method import cell as latent_cell
from test_latent_method import images as latent_images
from test_pldp_methods import learning as pldp_cell
from test_stages import cell, federated, images

import tensorldp_papers
from tensorldp_papers.nets.train import train_federated, train_heads_on_releases, train_on_releases
from tensorldp_papers.papers.latent.method import METHOD as LATENT
from tensorldp_papers.papers.pldp_fl.method import METHOD as PLDP
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.releases import perturb
from tensorldp_papers.run.streams import common_stream, noise_stream

CPU = torch.device("cpu")
SOURCES = Path(tensorldp_papers.__file__).parent
NOISE = {
    "{split} noise",
    "covariance noise",
    "defence",
    "gradient noise",
    "noise",
    "parameter noise",
    "purpose of noise",
    "released victims",
    "releases",
    "test feature noise",
    "training defence",
}
SHARED = {
    "attack",
    "attacked network",
    "augmentation",
    "batches",
    "batches of user {user}",
    "candidates",
    "classifier",
    "clients",
    "clusters",
    "lots",
    "member batches",
    "member model",
    "members",
    "model",
    "network",
    "permuted labels",
    "purpose of order",
    "selection",
    "sensitivity",
    "shuffled labels",
    "starts",
    "trained network",
    "users",
    "values",
}


def uses() -> dict[str, set[str]]:
    """The purposes that each of the two functions is called for anywhere in the studies."""
    found: dict[str, set[str]] = {"common_stream": set(), "noise_stream": set()}
    for path in SOURCES.rglob("*.py"):
        tree = ast.parse(path.read_text())
        named = {id(k.value): k.arg for node in ast.walk(tree) if isinstance(node, ast.Call) for k in node.keywords}
        given = {
            id(inner): named[id(node)]
            for node in ast.walk(tree)
            if isinstance(node, ast.Lambda) and id(node) in named
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in found:
                purpose = node.args[2]
                text = ast.unparse(purpose).lstrip("f").strip("'\"")
                found[node.func.id].add(f"purpose of {given[id(node)]}" if text == "purpose" else text)
    return found


def test_every_stream_is_of_its_kind() -> None:
    assert uses() == {"common_stream": SHARED, "noise_stream": NOISE}


def test_keys() -> None:
    one = cell("laplace", "1")
    others: list[AnyCell] = [replace(one, epsilon="2"), replace(one, variant="w"), replace(one, mechanism="gaussian")]

    def seeds(stream: Callable[..., torch.Generator], *cells: AnyCell, seed: int = 0) -> list[int]:
        return [stream(c, seed, "p").initial_seed() for c in cells]

    assert len(set(seeds(common_stream, one, *others))) == 1
    assert len(set(seeds(noise_stream, one, *others[:2]))) == 1
    assert len({*seeds(noise_stream, one, others[2]), *seeds(common_stream, one)}) == 3
    for stream in (common_stream, noise_stream):
        assert len({*seeds(stream, one), *seeds(stream, one, seed=1), *seeds(stream, replace(one, dataset="e"))}) == 3


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian-analytic"])
def test_two_epsilons_scale_one_draw(mechanism: str) -> None:
    dark = replace(images(), x=torch.zeros(40, 8, 8, dtype=torch.uint8))
    one, two = (perturb(dark, cell(mechanism, epsilon), 0, "train", CPU) for epsilon in ("1", "2"))
    ratio = one / two
    assert torch.allclose(ratio, ratio.flatten()[0].expand_as(ratio), rtol=1e-5)
    if mechanism == "laplace":
        assert torch.equal(one, 2 * two)
    assert not torch.equal(one, perturb(dark, cell(mechanism, "1"), 1, "train", CPU))


def test_classifiers_start_and_read_alike() -> None:
    records = images()
    released = records.x.float()
    cells = [cell("laplace", "1"), cell("tldp-l", "2"), cell("none", "inf")]
    made = [train_on_releases(c, released, records.y, records, 0, CPU)[0].state_dict() for c in cells]
    assert all(torch.equal(made[0][key], other[key]) for other in made[1:] for key in other)
    arrays = {"train": released.numpy()}
    linear = [replace(c, factors=c.factors.model_copy(update={"model": "linear"})) for c in cells]
    heads = [train_heads_on_releases(c, lambda _: arrays, records, CPU)[0][0].state_dict() for c in linear]
    assert all(torch.equal(heads[0][key], other[key]) for other in heads[1:] for key in other)


def test_users_train_alike_but_for_the_noise() -> None:
    records = images()
    quiet, faint = (
        train_federated(federated(name, epsilon, "user"), records, 0, CPU)[0].state_dict()
        for name, epsilon in (("none", "inf"), ("laplace", "1e+12"))
    )
    assert all(torch.allclose(quiet[key], faint[key], atol=1e-4) for key in quiet)


def test_clients_are_drawn_and_train_alike_but_for_the_noise() -> None:
    y = torch.arange(160) % 10
    records = replace(
        images(), x=torch.randint(0, 17, (160, 8, 8), dtype=torch.uint8, generator=_fixed()), y=y, classes=10
    )
    cells = [pldp_cell("none", "inf"), pldp_cell("plu-fedoa", "1e+9", eps="same", tau=200.0)]
    quiet, faint = (PLDP.train(c, records, 0, CPU).arrays for c in cells)
    assert (quiet["uploads"] == faint["uploads"]).all()
    assert abs(quiet["weights"] - faint["weights"]).max() < 1e-4


def test_bit_strings_are_learned_alike() -> None:
    records = latent_images()
    cells: list[Any] = [latent_cell("latent", "2"), latent_cell("latent", "8"), latent_cell("none", "inf")]
    released = LATENT.release(cells[2], records, 0, "train", CPU)
    made = [LATENT.train(c, records, released, 0, CPU).arrays for c in cells]
    assert all((made[0][key] == other[key]).all() for other in made[1:] for key in other)


def _fixed() -> torch.Generator:
    return torch.Generator().manual_seed(0)
