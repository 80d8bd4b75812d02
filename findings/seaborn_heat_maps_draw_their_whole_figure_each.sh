#!/usr/bin/env bash
# seaborn 0.13.2 with matplotlib 3.11.2, heatmap(data, ax=ax) for each panel of a figure. Guessed: a call adds its cells,
# and the figure is drawn when it is saved. Each call draws the whole figure, with its layout and all panels there are by
# then, to see whether tick labels overlap, also where xticklabels=False and yticklabels=False leave none. So n panels
# are drawn n(n + 1) / 2 times before the figure is saved.
# Seen: 1, 2, 4, 8 panels: 1, 2, 4, 8 draws of the figure, and 1, 3, 10, 36 of panels with cells. A canvas that draws
# nothing (FigureCanvasBase) while heatmap runs takes them all away.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "seaborn==0.13.2" "matplotlib==3.11.2"
cat > "$folder/seen.py" << 'CODE'
import matplotlib

matplotlib.use("Agg")
import numpy as np
import seaborn
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def draws(panels, silent):
    figure = Figure()
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots(1, panels, squeeze=False)[0]
    whole, drawn = [], []
    canvas.mpl_connect("draw_event", lambda event: whole.append(drawn.extend(ax for ax in axes if ax.collections)))
    for ax in axes:
        if silent:
            FigureCanvasBase(figure)
        seaborn.heatmap(np.eye(3), ax=ax, cbar=False, xticklabels=False, yticklabels=False)
        figure.set_canvas(canvas)
    return len(whole), len(drawn)


for panels in (1, 2, 4, 8):
    seen = draws(panels, silent=False)
    print(f"{panels} panels: {seen[0]} draws of the figure, {seen[1]} of panels with cells")
    assert seen == (panels, panels * (panels + 1) // 2), "changed"
    assert draws(panels, silent=True) == (0, 0), "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
