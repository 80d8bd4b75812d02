"""The columns of the grids of pictures, by the study's own epsilons."""

import math

import pandas as pd
import pytest

from tensorldp import mechanisms
from tensorldp.mechanisms import Box
from tensorldp_papers.papers.lecture.attack_pictures import likelihood_cells
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.settings import Scale
from tensorldp_papers.run.study import load_study, study_files

STUDY_FILE = study_files()["reconstruction"]


@pytest.mark.parametrize(
    ("scale", "box"),
    [
        ("quick", Box(0, 16, (8, 8))),
        ("desk", Box(0, 255, (28, 28))),
        ("paper", Box(0, 255, (28, 28))),
        ("desk", Box(0, 255, (32, 96))),
    ],
)
def test_every_column_of_the_guaranteed_pictures_is_at_one_guarantee(scale: Scale, box: Box) -> None:
    """The study's own epsilons, each put through its mechanism."""
    study = load_study(STUDY_FILE)
    rows = []
    for arm in study.arms:
        if arm.factors.get("attack") != "likelihood" or (arm.datasets == ["cifar10"]) != (box.shape == (32, 96)):
            continue
        for name in set(arm.mechanisms) - {"none"}:
            for epsilon in (arm.epsilons or {}).get(scale, study.scales[scale].epsilons):
                found = describe(mechanisms.make(name, epsilon=epsilon, domain=box, delta=study.delta).curve(), "", [])
                rows.append(
                    {
                        "study": "reconstruction",
                        "metric": "identification",
                        "dataset": "d",
                        "value": 1.0,
                        "variant": "attack=likelihood",
                        "delta": study.delta,
                        "mechanism": name,
                        "epsilon": float(epsilon),
                        "guarantee_epsilon": found["epsilon"],
                        "guarantee_pure_epsilon": found["pure_epsilon"],
                    }
                )
    cells = likelihood_cells(pd.DataFrame(rows), "d", "guaranteed")
    colour = box.shape == (32, 96)
    others = {"laplace", "gaussian-analytic", "privunit", "tldp-l"}
    for column, part in cells.groupby("column"):
        assert set(part["mechanism"]) == ({*others, "tldp-g"} if column or colour else others)
        guarantees = part["guarantee_epsilon"]
        if column == 0 and scale == "quick":  # TLDP-L's atoms outweigh delta
            assert part[guarantees.map(math.isinf)]["mechanism"].tolist() == ["tldp-l"]
            guarantees = guarantees[guarantees.map(math.isfinite)]
            assert guarantees.mean() == pytest.approx(6.4, rel=1e-4)
        assert guarantees.max() / guarantees.min() < 1 + 1e-5
