"""The two pictures of the report's first screen, as SVG that follows the page's colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from tensorldp_papers.papers.frontier.figures import FEDERATED, frontier_rows, paper_rows
from tensorldp_papers.papers.frontier.figures import PAPERS as CHOSEN
from tensorldp_papers.papers.frontier.figures import STUDY as FRONTIER
from tensorldp_papers.plots.style import BLUE, DARK_PAGE, LIGHT_PAGE, PAPER_COLOURS, label, readable
from tensorldp_papers.plots.words import power_number, short_number
from tensorldp_papers.report.findings import picture_rows

WIDTH = 460
SHAPES = (  # told apart without colour too
    *("M4,0A4,4 0 1 1 -4,0A4,4 0 1 1 4,0Z", "M-3.5,-3.5H3.5V3.5H-3.5Z", "M0,-4.5L4.3,3.3H-4.3Z"),
    *("M0,-4.7L4.7,0L0,4.7L-4.7,0Z", "M0,4.5L4.3,-3.3H-4.3Z"),
)


def _style(colour: str) -> str:
    return f"--light: {readable(colour, LIGHT_PAGE)}; --dark: {readable(colour, DARK_PAGE)}"


def _mark(line: int, style: str, x: float, y: float) -> str:
    shape = SHAPES[line % len(SHAPES)]
    return f'<path class="true" style="{style}" d="{shape}" transform="translate({x:.1f},{y:.1f})"/>'


class _LogScale:
    """A logarithmic x axis of a picture, a little wider than its values, with lines and numbers at powers of ten."""

    def __init__(self, low: float, high: float, left: float) -> None:
        self.low, self.high, self.left, self.right = low, high, left, WIDTH - 12

    def __call__(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.left + (self.right - self.left) * share

    def ticks(self, top: float, bottom: float) -> list[str]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        parts = []
        for power in range(first, last + 1, 2 if last - first > 6 else 1):
            if self.low <= (value := 10.0**power) <= self.high:
                x = self(value)
                parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>')
                parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{power_number(value)}</text>')
        return parts

    def title(self, y: float, text: str) -> str:
        return f'<text x="{(self.left + self.right) / 2:.1f}" y="{y}" text-anchor="middle">{text}</text>'


def _svg(height: int, title: str, parts: Sequence[str]) -> Markup:
    return Markup(
        f'<svg class="finding" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )


def epsilons_picture(metrics: pd.DataFrame) -> Markup:
    """Printed epsilons (open) and what they guarantee (filled, a bar over data sets); empty without such rows."""
    rows = picture_rows(metrics)
    if not rows:
        return Markup("")
    values = [row[key] for row in rows for key in ("printed", "low", "high")]
    left, step, top = 172, 24, 8
    x = _LogScale(min(values) / 1.6, max(values) * 1.6, left)
    bottom = top + step * len(rows)
    parts = x.ticks(top, bottom)
    for i, row in enumerate(rows):
        y = top + step * (i + 0.5)
        ends = sorted((row["printed"], row["low"] if row["low"] > row["printed"] else row["high"]), key=x)
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(row["name"])}</text>')
        parts.append(
            f'<line class="way" x1="{x(ends[0]):.1f}" x2="{x(ends[1]):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<line class="range" style="{_style(BLUE)}" x1="{x(row["low"]):.1f}" x2="{x(row["high"]):.1f}" '
            f'y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        for value in {row["low"], row["high"]}:
            parts.append(f'<circle class="true" style="{_style(BLUE)}" cx="{x(value):.1f}" cy="{y:.1f}" r="4.5"/>')
        parts.append(f'<circle class="printed" cx="{x(row["printed"]):.1f}" cy="{y:.1f}" r="4.5"/>')
    parts.append(x.title(bottom + 36, "ε: ○ printed, ● guaranteed at δ = 1e-5"))
    words = "; ".join(f"{r['name']}: {short_number(r['printed'])} to {short_number(r['high'])}" for r in rows)
    return _svg(bottom + 44, f"Printed and guaranteed epsilon. {words}", parts)


def _lines(metrics: pd.DataFrame) -> tuple[str, list[dict[str, Any]]]:
    """A data set and its lines {name, colour, rows, joined}: the frontier's best and the papers' own."""
    papers = paper_rows(metrics)
    papers = papers[np.isfinite(papers["at"].astype(float)) & (papers["at"].astype(float) > 0)]
    best = frontier_rows(metrics) if (metrics["study"] == FRONTIER).any() else papers[:0]
    best = best[(best["line"] == "privunit") & np.isfinite(best["at"].astype(float))] if len(best) else best
    both = pd.concat([part for part in (papers, best) if len(part)]) if len(papers) + len(best) else papers
    if both.empty:
        return "", []
    dataset = str(both.groupby("dataset")["line"].nunique().sort_values(kind="stable").index[-1])
    lines = []
    for name, rows in best[best["dataset"] == dataset].groupby("line"):
        lines.append(
            {"name": f"{label(str(name))}, public representation", "colour": BLUE, "rows": rows, "joined": True}
        )
    for paper, study, mechanism, _ in CHOSEN:
        rows = papers[(papers["dataset"] == dataset) & (papers["line"] == paper)]
        if len(rows):
            joined = study != FEDERATED  # each of its points has settings of its own
            name, colour = f"{paper}: {label(mechanism)}", PAPER_COLOURS[paper]
            lines.append({"name": name, "colour": colour, "rows": rows, "joined": joined})
    return dataset, lines


def scores_picture(metrics: pd.DataFrame) -> Markup:
    """Scores against the true epsilon of a record: the frontier's mechanism and what the papers propose."""
    dataset, lines = _lines(metrics)
    if not lines:
        return Markup("")
    at = np.concatenate([line["rows"]["at"].to_numpy(dtype=float) for line in lines])
    left, top, bottom = 40, 10, 190
    x = _LogScale(float(at.min()) / 1.5, float(at.max()) * 1.5, left)

    def y(value: float) -> float:
        return bottom - (bottom - top) * value

    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(f'<line class="grid" x1="{left}" x2="{x.right}" y1="{y(share):.1f}" y2="{y(share):.1f}"/>')
        parts.append(f'<text x="{left - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{share:g}</text>')
    parts += x.ticks(top, bottom)
    for i, line in enumerate(lines):
        rows = line["rows"].sort_values("at")
        places = [(x(a), y(v)) for a, v in zip(rows["at"], rows["value"], strict=True)]
        path = "L".join(f"{a:.1f},{b:.1f}" for a, b in places)
        style = _style(line["colour"])
        if line["joined"]:
            parts.append(f'<path class="trace" style="{style}" d="M{path}"/>')
        parts += [_mark(i, style, a, b) for a, b in places]
        row, column = divmod(i, 2)
        at_x, at_y = left + 215 * column, bottom + 56 + 18 * row
        parts.append(_mark(i, style, at_x + 5, at_y - 4))
        parts.append(f'<text x="{at_x + 14}" y="{at_y}">{escape(line["name"])}</text>')
    parts.append(x.title(bottom + 36, f"true ε of a record or a run (nats); score on {escape(dataset)}"))
    words = "; ".join(
        f"{line['name']}: {line['rows']['value'].max():.3f} at its best, ε = "
        f"{short_number(float(line['rows'].sort_values('value')['at'].iloc[-1]))}"
        for line in lines
    )
    return _svg(bottom + 64 + 18 * math.ceil(len(lines) / 2), f"Scores at true epsilons on {dataset}. {words}", parts)
