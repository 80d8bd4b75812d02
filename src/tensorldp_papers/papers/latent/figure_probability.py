"""LATENT's Figure 7 and its error of estimation (3.3), from closed forms."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from tensorldp.mechanisms import Box
from tensorldp.mechanisms.bit_estimation import mean_errors
from tensorldp.mechanisms.latent import Latent
from tensorldp_papers.plots.style import use_style

STRINGS = {"MNIST": (9216, 4, 5), "CIFAR-10": (2304, 2, 7)}
CODE_BITS = 10  # of one value, in both


def draw_probability(title: str = "") -> Figure:
    """Left, the probability that a released bit is true; right, the error of estimation, for values of 10 bits."""
    use_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.4), layout="constrained")
    grid = np.geomspace(0.1, 1e6, 80)
    for dashes, (name, (size, n, m)) in zip(("-", (0, (4, 1.5))), STRINGS.items(), strict=True):
        for reading, colour in (("A", "#D55E00"), ("B", "#0072B2")):
            box = Box(-(2.0**n), 2.0**n, (size,))
            true = [
                1.0 - Latent(epsilon=float(e), domain=box, whole=n, fraction=m, reading=reading).flip  # type: ignore[arg-type]
                for e in grid
            ]
            what = "A: p" if reading == "A" else "B: (1 + p) / 2"
            left.plot(grid, true, color=colour, linestyle=dashes, linewidth=1.4, label=f"{name}, {what}")
    left.axvspan(grid[0], 10.0, color="#000000", alpha=0.06, linewidth=0)
    left.text(1.0, 0.93, "the paper's ε", ha="center", fontsize=8.5)
    left.set_xscale("log")
    left.set_ylim(0.48, 1.02)
    left.set_xlabel("nominal ε of one record (nats)")
    left.set_ylabel("probability that a released bit is true")
    left.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    probabilities = np.linspace(0.5, 1.0, 26)[1:]
    for reading, colour in (("A", "#D55E00"), ("B", "#0072B2")):
        pairs = np.array([mean_errors(CODE_BITS, float(p), reading) for p in probabilities])  # type: ignore[arg-type]
        right.plot(
            probabilities, pairs[:, 1], color=colour, linewidth=1.4, label=f"reading {reading}: true error |x' - x|"
        )
        right.plot(
            probabilities,
            pairs[:, 0],
            color=colour,
            linewidth=1.4,
            linestyle=(0, (1, 1)),
            label=f"reading {reading}: estimated by Eq. 15",
        )
    right.set_xlabel("probability of randomization p")
    right.set_ylabel("mean error of a 10-bit value (last bits)")
    right.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure
