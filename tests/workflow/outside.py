"""What a user has beside config.yaml: mechanisms and a network as plug-ins, and tables of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

PLUGINS = r'''
import os
from pathlib import Path

from torch import nn

from tensorldp.curves.discrete import PureCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.mechanisms import Mechanism, register
from tensorldp.randomness import add_laplace
from tensorldp_papers.nets import register_model


@register
class HalfLaplace(Mechanism):
    """Lap(0, 2 I R / epsilon) for each of the I elements: half of the budget is thrown away."""

    name, label, domain_kind = "half-laplace", "Laplace at half its budget", "box"
    formula, source = r"x + \mathrm{Lap}(2 I R / \varepsilon)^I", "a test"

    @property
    def scale(self):
        return 2 * self.size * self.domain.width / self.epsilon

    def _randomize(self, x, generator):
        if self.epsilon == 5 and os.environ.get("TABLE"):
            Path(os.environ["TABLE"]).read_text()
        return add_laplace(x, self.scale, generator)

    def squared_error(self):
        return 2 * self.size * self.scale**2

    def curve(self):
        return LaplaceCurve(self.domain.width / self.scale, self.size)

    def worst_pair(self):
        return self.domain.constant(self.domain.low), self.domain.constant(self.domain.high)


@register
class Liar(HalfLaplace):
    """Laplace noise of a hundredth of the scale that its curve speaks of."""

    name, label = "liar", "Liar"

    @property
    def scale(self):
        return self.size * self.domain.width / self.epsilon / 100

    def squared_error(self):
        return None

    def curve(self):
        return PureCurve(self.epsilon)


@register_model("two_layers")
def two_layers(task):
    return nn.Sequential(nn.Flatten(), nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, task.classes))
'''
DIGITS = "my digits' $(touch pwned).csv"  # a name that a shell would run
OWN: dict[str, dict[str, Any]] = {
    "my_digits": {"path": DIGITS, "label": "digit", "range": [0, 16], "shape": [8, 8], "test": 0.25, "seed": 1},
    "people": {"path": "people.parquet", "label": "group", "range": {"age": [0, 120], "income": [0, 1_000_000]}},
}


def write_outside(folder: Path) -> None:
    """The plug-in `my_code`, and the files of `OWN`."""
    (folder / "my_code.py").write_text(PLUGINS)
    digits = load_digits()
    table = pd.DataFrame(digits.data[:240].astype(int)).assign(digit=digits.target[:240])
    table.to_csv(folder / DIGITS, index=False)
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.uniform(0, 120, 60), "income": rng.uniform(0, 1e6, 60)})
    people.assign(group=people["age"] > 60).to_parquet(folder / "people.parquet")
