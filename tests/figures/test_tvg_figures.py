"""TVG's figures: lines by mechanism and unit, panels, axes and the ceiling."""

import math

import numpy as np
import pandas as pd
import pytest

from tensorldp.errors import InputError
from tensorldp.figures.tvg import SMALLEST, draw_tvg


def table(study: str = "tvg_testing") -> pd.DataFrame:
    rows = []
    for mechanism, variant in (("none", "model=m"), ("idn", "model=m,unit=batch"), ("idn", "model=m,unit=record")):
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


def test_lines_are_mechanisms_at_a_unit_with_the_clean_reference_and_the_ceiling() -> None:
    figure = draw_tvg(table(), "tvg_testing", ["accuracy_perturbed_test"], ceiling=True)
    (ax,) = figure.axes
    named = {line.get_label(): line for line in ax.get_lines() if not str(line.get_label()).startswith("_")}
    assert set(named) == {"no privacy", "IDN, noise for a batch", "IDN, noise for a record"}
    line = named["IDN, noise for a batch"]
    assert np.asarray(line.get_xdata()).tolist() == [1.0, 10.0]
    assert np.asarray(line.get_ydata()).tolist() == pytest.approx([0.15, 0.15])
    assert ax.get_ylabel() == "accuracy on private test features"
    assert any(line.get_linestyle() == ":" for line in ax.get_lines())


def test_a_guarantee_too_small_for_the_axis_has_no_point() -> None:
    figure = draw_tvg(table(), "tvg_testing", ["accuracy_perturbed_test"], axis="guaranteed")
    xs = [
        x
        for line in figure.axes[0].get_lines()
        for x in np.asarray(line.get_xdata())
        if line.get_label() != "no privacy"
    ]
    assert min(xs) >= SMALLEST
    assert "record" in figure._supxlabel.get_text()  # type: ignore[attr-defined]


def test_a_metric_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no rows of study tvg_testing with metric auc"):
        draw_tvg(table(), "tvg_testing", ["auc"])
