"""The columns of the grids of pictures, by the study's own epsilons."""

import math
from typing import Any

import pandas as pd
import pytest

from tensorldp import mechanisms
from tensorldp_papers.papers.lecture.attack_pictures import likelihood_cells
from tensorldp_papers.run.settings import Scale
from tensorldp_papers.run.study import load_study, study_files

COLOUR = mechanisms.Box(0, 255, (32, 96))
GREY = mechanisms.Box(0, 255, (28, 28))
SAME: dict[str, Any] = {"study": "reconstruction", "dataset": "d", "variant": "attack=likelihood"}
SAME |= {"metric": "identification", "value": 1}


@pytest.mark.parametrize(
    ("scale", "box"),
    [("quick", mechanisms.Box(0, 16, (8, 8))), ("desk", GREY), ("paper", GREY), ("desk", COLOUR)],
)
def test_every_column_of_the_guaranteed_pictures_is_at_one_guarantee(scale: Scale, box: mechanisms.Box) -> None:
    """The study's own epsilons, each put through its mechanism."""
    study, rows = load_study(study_files()["reconstruction"]), []
    for arm in study.arms:
        if arm.factors.get("attack") != "likelihood" or (arm.datasets == ["cifar10"]) != (box == COLOUR):
            continue
        for name in set(arm.mechanisms) - {"none"}:
            for epsilon in (arm.epsilons or {}).get(scale, study.scales[scale].epsilons):
                curve = mechanisms.make(name, epsilon=epsilon, domain=box, delta=study.delta).curve()
                found = {"guarantee_epsilon": curve.epsilon(study.delta), "guarantee_pure_epsilon": curve.pure_epsilon}
                rows.append(
                    {**SAME, **found, "value": 1.0, "mechanism": name, "epsilon": float(epsilon), "delta": study.delta}
                )
    cells = likelihood_cells(pd.DataFrame(rows), "d", "guaranteed")
    others = {"laplace", "gaussian-analytic", "privunit", "tldp-l"}
    for column, part in cells.groupby("column"):
        assert set(part["mechanism"]) == ({*others, "tldp-g"} if column or box == COLOUR else others)
        guarantees = part["guarantee_epsilon"]
        if column == 0 and scale == "quick":  # TLDP-L's atoms outweigh delta
            assert part[guarantees.map(math.isinf)]["mechanism"].tolist() == ["tldp-l"]
            guarantees = guarantees[guarantees.map(math.isfinite)]
            assert guarantees.mean() == pytest.approx(6.4, rel=1e-4)
        assert guarantees.max() / guarantees.min() < 1 + 1e-5
