"""Networks that are noise: what is measured of them, and that no record is in them."""

import math
from pathlib import Path

import pytest
import torch
from small import CPU, images, make_cell, save

from tensorldp.mechanisms import Box, make
from tensorldp_papers.nets import build
from tensorldp_papers.nets.federated import get_vector
from tensorldp_papers.papers.tldp.federated import parameter_release
from tensorldp_papers.papers.tldp.noise_networks import METHOD
from tensorldp_papers.papers.tldp.rounds import average
from tensorldp_papers.papers.tldp.settings import NoiseCell
from tensorldp_papers.run.records import Records

CLIP, USERS = 0.5, 3


def noise_cell(mechanism: str = "laplace", epsilon: str = "1", where: str = "user", rounds: int = 20) -> NoiseCell:
    training = {"rounds": rounds, "users": USERS, "clip": CLIP}
    return make_cell("noise_networks", mechanism, epsilon, training=training, factors={"model": "mlp", "where": where})


def measured(folder: Path, cell: NoiseCell, records: Records, seed: int = 0) -> dict[str, float]:
    data = save(folder, records, "test")  # there is no training split to read
    return {row["metric"]: row["value"] for row in METHOD.measure(cell, data, seed, CPU)}


@pytest.mark.parametrize(("where", "share"), [("user", 1 / USERS), ("server", 1.0)])
def test_the_noise_is_that_of_the_mechanism_in_units_of_the_clip(where: str, share: float, tmp_path: Path) -> None:
    records = images()
    size = len(get_vector(build("mlp", records.task, torch.Generator())))
    law = make("laplace", epsilon=1.0, domain=Box(-CLIP, CLIP, (size,)))
    expected = math.sqrt((law.squared_error() or 0.0) / size * share) / CLIP
    found = measured(tmp_path, noise_cell(where=where), records)["noise"]
    # 20 rounds of 2,212 squares, whose relative deviation is sqrt(5): 5 standard errors of a root mean square
    assert found == pytest.approx(expected, rel=5 * math.sqrt(5 / (20 * size)) / 2)


def test_without_noise_the_network_stays_as_it_began(tmp_path: Path) -> None:
    short, long = (measured(tmp_path / str(n), noise_cell("none", "inf", rounds=n), images()) for n in (1, 5))
    assert short == pytest.approx(long, abs=1e-7)
    assert short["noise"] == pytest.approx(0.0, abs=1e-6)


def test_more_epsilon_that_leaves_nothing_but_noise_changes_no_score(tmp_path: Path) -> None:
    little, more = (measured(tmp_path / e, noise_cell(epsilon=e, rounds=50), images()) for e in ("0.0001", "0.0002"))
    assert little["noise"] == pytest.approx(2 * more["noise"], rel=0.01)
    assert little["weighted_f1"] == pytest.approx(more["weighted_f1"], abs=0.01)  # of one draw, scaled


def test_users_send_on_what_came_last_with_their_own_noise() -> None:
    model = build("mlp", images().task, torch.Generator())
    shared = [get_vector(model).clamp(-CLIP, CLIP)] * USERS
    by_user, by_server = (
        average(shared, parameter_release(noise_cell(where=where), model), 0, torch.Generator().manual_seed(1))
        for where in ("user", "server")
    )
    ratio = float((by_user - shared[0]).square().mean() / (by_server - shared[0]).square().mean())
    assert ratio == pytest.approx(1 / USERS, rel=0.3)
