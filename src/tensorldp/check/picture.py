"""A picture of two records' laws on an event, as SVG that needs nothing else and follows a reader's theme."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from tensorldp.check.finding import Finding

WIDTH, LEFT, RIGHT = 640, 64, 20  # the margins hold the numbers of the axes
ROW, GAP = 22, 8  # of the two frequencies
PLOT = 170  # height of the histograms
TICKS = 5  # of an axis, about
NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'


def picture(finding: Finding, *, alone: bool = True) -> str:
    """Draws how often an event comes up under x and under x', what the claim allows, and its statistic's histograms.

    Args:
        finding: one with an event.
        alone: whether it is a file of its own, and no part of a page.

    Returns:
        The text of an SVG.
    """
    shapes, height = _frequencies(finding)
    if finding.histogram:
        more, height = _histograms(finding, finding.histogram, height)
        shapes += more
    style = files("tensorldp.check").joinpath("picture.css").read_text(encoding="utf-8")
    label = escape(f"How often it comes up that {finding.in_words}, under both records", quote=True)
    return "\n".join(
        [
            f'<svg{NAMESPACE if alone else ""} class="laws" viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-label="{label}">',
            f"<style>\n{style}</style>",
            f'<rect class="paper" width="{WIDTH}" height="{height}"/>',
            *shapes,
            "</svg>",
        ]
    )


def ticks(low: float, high: float) -> list[float]:
    """Computes round numbers from `low` to `high`, about `TICKS` of them: steps are 1, 2 or 5 times a power of ten."""
    span = high - low
    if not 0.0 < span < math.inf:
        return [low]
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power * TICKS >= span * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def _number(value: float) -> str:
    return f"{value + 0.0:.6g}"


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _box(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{x:.2f}" y="{y:.2f}" width="{max(0.0, width):.2f}" height="{height:.2f}"/>'


def _mark(x: float, top: float, bottom: float) -> str:
    return f'<line class="mark" x1="{x:.2f}" x2="{x:.2f}" y1="{top:.1f}" y2="{bottom:.1f}"/>'


def _axis(places: Sequence[tuple[float, float]], y: float) -> list[str]:
    """Draws a horizontal axis with numbers: (place, number) for each."""
    marks = "".join(f"M{place:.1f} {y:.1f}v5" for place, _ in places)
    return [
        f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}{marks}"/>',
        *(_text(place, y + 19, _number(value), "middle") for place, value in places),
    ]


def _frequencies(finding: Finding) -> tuple[list[str], float]:
    """Draws two bars on an axis of frequencies, and the most that the claim allows; returns where it ends below."""
    shares, limit = finding.shares, finding.limit
    top = max(*shares.values(), 0.0 if limit is None else limit)
    marks = ticks(0.0, 1.0 if top == 0.0 else min(1.0, 1.09 * top))
    high = top if top > 0.0 else 1.0
    scale = (WIDTH - LEFT - RIGHT - 60) / high  # the rest is for a number beside the longest bar
    shapes, y = [_text(LEFT, 16, f"Frequency of the event, {finding.trials} releases of each record")], 26.0
    for (name, share), kind in zip(shares.items(), ("first", "second"), strict=True):
        shapes += [
            _text(LEFT - 8, y + ROW - 6, name, "end"),
            _box(kind, LEFT, y, share * scale, ROW),
        ]
        most = limit if limit is not None and name == finding.likelier else 0.0
        shapes.append(_text(LEFT + max(share, most) * scale + 6, y + ROW - 6, f"{share:.4g}"))
        if limit is not None and name == finding.likelier:
            shapes.append(_mark(LEFT + limit * scale, y - 3, y + ROW + 3))
        y += ROW + GAP
    shapes += _axis([(LEFT + mark * scale, mark) for mark in marks], y)
    y += 24.0
    if limit is not None:
        y += 18.0
        shapes.append(
            _text(
                LEFT,
                y,
                f"dashed: what the claim allows under {finding.likelier} if the other frequency is exact, {limit:.4g}",
            )
        )
    return shapes, y + 8.0


def _histograms(finding: Finding, histogram: dict[str, list[float]], top: float) -> tuple[list[str], float]:
    """Draws both histograms of the statistic over each other, the event's side shaded; returns where it ends below."""
    edges, threshold = histogram["edges"], histogram["threshold"][0]
    counts = {name: histogram[name] for name in ("x", "x'")}
    total = max(1.0, *(sum(side) for side in counts.values()))
    most = max(1.0, *(max(side) for side in counts.values())) / total
    wide, low, span = WIDTH - LEFT - RIGHT, edges[0], edges[-1] - edges[0]
    title = top + 18.0
    begin = title + 12.0
    base = begin + PLOT

    def across(value: float) -> float:
        return LEFT + min(max((value - low) / span, 0.0), 1.0) * wide

    at = across(threshold)
    shapes = [_text(LEFT, title, f"Share of releases by {finding.statistic or 'the statistic of the event'}")]
    shapes.append(
        _box("event", at, begin, WIDTH - RIGHT - at, PLOT)
        if finding.above
        else _box("event", LEFT, begin, at - LEFT, PLOT)
    )
    for value in ticks(0.0, most):
        y = base - value / most * PLOT
        shapes.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        shapes.append(_text(LEFT - 8, y + 4, _number(value), "end"))
    for kind, side in zip(("first", "second"), counts.values(), strict=True):
        for left, right, count in zip(edges, edges[1:], side, strict=False):
            high = count / total / most * PLOT
            if high > 0.0:
                shapes.append(_box(kind, across(left), base - high, across(right) - across(left), high))
    shapes.append(_mark(at, begin, base))
    shapes += _axis([(across(value), value) for value in ticks(low, edges[-1])], base)
    legend, x = base + 44.0, float(LEFT)
    for name, kind in (("x", "first"), ("x'", "second")):
        shapes += [_box(kind, x, legend - 11, 14, 12), _text(x + 20, legend, name)]
        x += 52.0
    shapes.append(_text(x, legend, f"shaded: the event, {'from' if finding.above else 'up to'} {threshold:.6g}"))
    shapes.append(_text(LEFT, legend + 20.0, "The outermost bars hold what lies beyond, too."))
    return shapes, legend + 32.0
