"""The names of lines, written beside them where they cover nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import NDArray

from tensorldp_papers.plots.style import QUIET

STEP, TRIED = 6.0, 8.0  # pixels between the points of a line, and between places that are tried
GAP = 4.0  # pixels around a name
FAR = 16.0  # pixels: a name that is farther from its line has a thin line to it
WIDE = 0.6  # of the panel: the most that several names in one line take, if they can stand below each other
CROSSES = 100.0  # pixels that a name would rather be farther away than have its thin line cross another name
ON_A_WAY = 24  # points of such a line
COINCIDE = 0.012  # of the panel: the width of a line
Points = NDArray[np.float64]


@dataclass
class _Name:
    """The name of lines that lie on each other, and the points of these lines."""

    forms: list[str]  # what it can say: its words in one line, or in several
    text: Text
    own: Points
    others: list[Points]
    words: str = ""
    cost: float = 0.0
    box: Points = field(default_factory=lambda: np.zeros(4))
    way: Points | None = None  # of the thin line from the name, where that is far from its own lines


def name_lines(ax: Axes, size: float) -> list[Text]:
    """Writes each labelled line's name near it, nearer than to any other line, over no line, mark or text.

    Lines that lie on each other get one text with all their names. A line's label that begins with "_" is no name.
    The panel's layout is final; the size of the text is in points.
    """
    taken = [np.asarray(text.get_window_extent().extents) for text in ax.texts if text.get_text()]
    traces = [(line, _points(ax, line)) for line in ax.get_lines() if line.get_visible()]
    named = [(line, points) for line, points in traces if not str(line.get_label()).startswith("_") and len(points)]
    names = []
    for group in _together(ax, [line for line, _ in named]):
        first, labels = group[0], list(dict.fromkeys(str(line.get_label()) for line in group))
        is_reference = first.get_linestyle() not in ("-", "None")
        text = ax.text(0, 0, "", fontsize=size, va="bottom", gid="name")
        text.set(color=QUIET if is_reference else first.get_color(), weight="normal" if is_reference else "bold")
        own = np.concatenate([points for line, points in named if line in group])
        others = [points for line, points in traces if line not in group and len(points)]
        names.append(_Name([*dict.fromkeys([" = ".join(labels), "\n= ".join(labels)])], text, own, others))
    found = _placed(ax, names, taken)
    if any(name.way is not None for name in found):  # a wide name may have found its place taken
        widest = sorted(found, key=lambda name: name.box[0] - name.box[2])
        found = min(found, _placed(ax, widest, taken), key=lambda names: sum(name.cost for name in names))
    to_data = ax.transData.inverted().transform
    for name in found:
        name.text.set_text(name.words)
        x, y = to_data(name.box[:2])
        name.text.set_position((float(x), float(y)))
        if name.way is not None:
            ends, colour = to_data(name.way), str(name.text.get_color())
            ax.plot(ends[:, 0], ends[:, 1], color=colour, linewidth=0.7, label="_lead", marker="", zorder=1)
    return [name.text for name in names]


def _placed(ax: Axes, names: list[_Name], taken: list[Points]) -> list[_Name]:
    """Returns the names with their words and places, given in this order, each where it is cheapest."""
    window = np.asarray(ax.get_window_extent().extents)
    boxes, leads, made = list(taken), list[Points](), list[_Name]()
    for name in names:
        found = []
        for words in name.forms:
            name.text.set_text(words)
            extent = name.text.get_window_extent()
            others = name.others + leads
            cost, (x, y) = _place((extent.width, extent.height), window, name.own, others, boxes)
            too_wide = extent.width > WIDE * (window[2] - window[0])
            found.append((cost + 1e3 * too_wide, words, (x, y, x + extent.width, y + extent.height)))
        cost, words, corners = min(found)
        box = np.array(corners)
        way = _way(box, name.own)
        made.append(replace(name, words=words, cost=cost, box=box, way=way))
        boxes.append(box)
        if way is not None:
            leads.append(_along(way[:1], way[1:])[0])
    return made


def _points(ax: Axes, line: Line2D) -> Points:
    """Returns the points of a line and of its marks in pixels, within the panel."""
    xy = np.column_stack([np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)])
    with np.errstate(all="ignore"):
        at = line.get_transform().transform(xy)
    seen = np.isfinite(at).all(axis=1)
    pieces = [at[seen]]
    if line.get_linestyle() != "None":
        for i in np.flatnonzero(seen[:-1] & seen[1:]):  # nothing is drawn to or from a gap
            step = at[i + 1] - at[i]
            count = min(max(2, int(np.hypot(*step) / STEP)), 400)
            pieces.append(at[i] + np.linspace(0.0, 1.0, count)[:, None] * step)
    at = np.concatenate(pieces)
    x0, y0, x1, y1 = ax.get_window_extent().extents
    return at[(at[:, 0] >= x0 - 2) & (at[:, 0] <= x1 + 2) & (at[:, 1] >= y0 - 2) & (at[:, 1] <= y1 + 2)]


def _place(
    size: tuple[float, float], window: Points, own: Points, others: list[Points], boxes: list[Points]
) -> tuple[float, tuple[float, float]]:
    """Returns the lower left corner of a name of a size, in pixels, after what it costs."""
    width, height = size
    x = np.arange(window[0] + 3, max(window[2] - width, window[0] + 4), TRIED)
    y = np.arange(window[1] + 3, max(window[3] - height + 2, window[1] + 4), TRIED)
    corners = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    squares = _squared_distances(x, y, width, height, own)
    nearest = squares.argmin(axis=1)
    near = np.sqrt(squares[np.arange(len(squares)), nearest])
    far = np.full(len(corners), 1e3)
    if others:
        of_all = _squared_distances(x, y, width, height, np.concatenate(others))
        far = np.minimum(far, np.sqrt(of_all.min(axis=1)))
    free = np.ones(len(corners), dtype=bool)
    for box in boxes:
        apart = (
            (corners[:, 0] > box[2] + GAP)
            | (corners[:, 0] + width < box[0] - GAP)
            | (corners[:, 1] > box[3])
            | (corners[:, 1] + height < box[1])
        )
        free &= apart
    cost = near + 2.0 * np.maximum(near - far + 12.0, 0.0) - 0.01 * corners[:, 0]
    cost += 1e3 * (np.maximum(GAP - near, 0.0) + np.maximum(GAP - far, 0.0)) + 1e5 * ~free
    start, end = np.clip(own[nearest], corners, corners + size), own[nearest]
    cost += CROSSES * ((near > FAR) & _crosses(start, end, boxes))
    best = int(np.argmin(cost))
    return float(cost[best]), (float(corners[best, 0]), float(corners[best, 1]))


def _way(box: Points, own: Points) -> Points | None:
    """Returns the way from a name to its line, as two points; None if they are near."""
    start = np.clip(own, box[:2], box[2:])
    far = np.hypot(*(own - start).T)
    i = int(np.argmin(far))
    return np.array([start[i], own[i]]) if far[i] > FAR else None


def _along(start: Points, end: Points) -> Points:
    """Returns points on straight ways, shape (ways, points, 2)."""
    points: Points = start[:, None] + np.linspace(0.0, 1.0, ON_A_WAY)[:, None] * (end - start)[:, None]
    return points


def _crosses(start: Points, end: Points, boxes: list[Points]) -> NDArray[np.bool_]:
    """Returns whether straight ways lead through boxes."""
    at = _along(start, end)
    found = np.zeros(len(start), dtype=bool)
    for box in boxes:
        found |= np.any(np.all((at > box[:2]) & (at < box[2:]), axis=2), axis=1)
    return found


def _squared_distances(x: Points, y: Points, width: float, height: float, points: Points) -> Points:
    """Computes the squared ways from boxes with lower left corners at all of y and x to points: (boxes, points)."""
    across = np.maximum(x[:, None] - points[:, 0], points[:, 0] - x[:, None] - width).clip(0) ** 2
    along = np.maximum(y[:, None] - points[:, 1], points[:, 1] - y[:, None] - height).clip(0) ** 2
    squares: Points = (across[None] + along[:, None]).reshape(-1, len(points))
    return squares


def _together(ax: Axes, lines: list[Line2D]) -> list[list[Line2D]]:
    """Groups lines that lie on each other: nowhere more than a line's width apart, where both have points.

    Of two lines the shorter one has to have two points or more, all at places of the other. Parts of one line have one
    name and colour.
    """
    to_panel = ax.transData + ax.transAxes.inverted()
    groups: list[list[tuple[Line2D, dict[float, float]]]] = []
    for line in lines:
        xy = np.column_stack([np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)])
        with np.errstate(all="ignore"):
            at = {round(float(x), 4): float(y) for x, y in to_panel.transform(xy)}
        for group in groups:
            is_part = any((line.get_label(), line.get_color()) == (o.get_label(), o.get_color()) for o, _ in group)
            if is_part or (line.get_linestyle() == "-" and all(_same(at, other) for _, other in group)):
                group.append((line, at))
                break
        else:
            groups.append([(line, at)])
    return [[line for line, _ in group] for group in groups]


def _same(first: dict[float, float], second: dict[float, float]) -> bool:
    shared = first.keys() & second.keys()
    whole = min(len(first), len(second))  # lines that share only their beginnings may part later
    return len(shared) >= max(2, whole) and all(abs(first[x] - second[x]) <= COINCIDE for x in shared)
