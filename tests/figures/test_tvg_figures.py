"""TVG's figures: lines by mechanism and unit, panels, axes and the ceiling."""

import math

import numpy as np
import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp_papers.papers.tvg.figures import SMALLEST, draw_tvg


def table(study: str = "tvg_testing") -> pd.DataFrame:
    rows = []
    for mechanism, variant in (
        ("none", "model=m"),
        ("idn", "model=m,unit=batch"),
        ("idn", "model=m,unit=record"),
        ("idn", "model=m,subspace=identity,unit=record"),
    ):
        for epsilon in (math.inf,) if mechanism == "none" else (1.0, 10.0):
            shared = {
                "study": study,
                "dataset": "digits",
                "variant": variant,
                "mechanism": mechanism,
                "epsilon": epsilon,
                "guarantee_epsilon": epsilon * 1e-7 if epsilon == 1.0 else epsilon,
                "guarantee_unit": "record",
            }
            for seed in (0, 1):
                metrics = (
                    {"accuracy": 0.9}
                    if mechanism == "none"
                    else {"accuracy_perturbed_test": 0.1 + seed / 10, "accuracy_ceiling": 0.5}
                )
                rows += [{**shared, "seed": seed, "metric": key, "value": value} for key, value in metrics.items()]
    return pd.DataFrame(rows)


def test_units_stand_side_by_side_each_with_the_clean_reference_and_its_own_ceiling() -> None:
    figure = draw_tvg(table(), "tvg_testing", ["accuracy_perturbed_test"], ceiling=True)
    batch, record = figure.axes
    for ax, unit in ((batch, "batch"), (record, "record")):
        named = {line.get_label(): line for line in ax.get_lines() if not str(line.get_label()).startswith("_")}
        blank = {"IDN, W = E"} if unit == "record" else set()
        assert set(named) == {"no privacy", "IDN", f"ceiling of each ({unit})", *blank}
        assert f"noise for a {unit}" in ax.get_title()
        assert np.asarray(named["IDN"].get_xdata()).tolist() == [1.0, 10.0]
        assert np.asarray(named["IDN"].get_ydata()).tolist() == pytest.approx([0.15, 0.15])
        assert named[f"ceiling of each ({unit})"].get_linestyle() == ":"
        assert ax.get_xticks().tolist() == [1.0, 10.0]
    assert batch.get_ylabel() == "accuracy on private test features"
    assert any("prints no score of this figure" in text.get_text() for text in figure.texts)


def test_a_guarantee_too_small_for_the_axis_has_no_point() -> None:
    figure = draw_tvg(table(), "tvg_testing", ["accuracy_perturbed_test"], axis="guaranteed")
    xs = [
        x
        for line in figure.axes[0].get_lines()
        for x in np.asarray(line.get_xdata())
        if line.get_label() != "no privacy"
    ]
    assert min(xs) >= SMALLEST
    assert "record" in figure.axes[0].get_xlabel()
    assert "one ε" in [text.get_text() for text in figure.axes[0].texts]


def test_a_metric_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no rows of study tvg_testing with metric auc"):
        draw_tvg(table(), "tvg_testing", ["auc"])
