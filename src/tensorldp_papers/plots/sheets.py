"""Where figures are shown, a page or a phone: panels of its width, the words around them, and files for both themes."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tensorldp.files import replacing, write_text
from tensorldp_papers.plots.labels import name_lines
from tensorldp_papers.plots.style import INK, PALE, PAPER, QUIET, in_the_dark
from tensorldp_papers.plots.words import with_own_data

mpl.use("Agg")
PIXEL = 72 / 96  # points of a pixel on a page
SMALLEST = 10 * PIXEL  # points: no text of a figure is smaller
TEXT, PANEL, TITLE = 11 * PIXEL, 12.5 * PIXEL, 17 * PIXEL
LINE = 1.32  # of a text's size, from one line to the next
STYLE: dict[str, Any] = {
    **dict.fromkeys(("font.size", "axes.labelsize", "figure.labelsize", "legend.fontsize"), TEXT),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), SMALLEST),
    **dict.fromkeys(("text.color", "axes.titlecolor"), INK),
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), QUIET),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 3.0),
    **dict.fromkeys(("xtick.minor.size", "ytick.minor.size"), 0.0),
    **{"axes.titlesize": PANEL, "axes.titlelocation": "left", "axes.titleweight": "bold", "axes.titlepad": 7.0},
    **{"axes.grid": True, "axes.axisbelow": True, "grid.color": PALE, "grid.linewidth": 0.7, "axes.linewidth": 0.8},
    **{"lines.linewidth": 1.8, "lines.markersize": 5.0, "lines.markeredgewidth": 0.0, "figure.facecolor": PAPER},
    **{"axes.facecolor": "none", "savefig.facecolor": "auto", "font.family": "DejaVu Sans", "figure.dpi": 96},
    **{"svg.hashsalt": "tensorldp", "svg.fonttype": "none", "axes.unicode_minus": True},
}


@dataclass(frozen=True)
class Sheet:
    """Where a figure is shown.

    Attributes:
        ending: of its files, behind the figure's name.
        pixels: its width.
        narrow: whether it has a single column of panels.
    """

    ending: str
    pixels: int
    narrow: bool = False

    @property
    def inches(self) -> float:
        """Returns the width in inches."""
        return self.pixels / 96


DOUBLE = 192  # dots of a PNG in an inch: two for a pixel of the page
PAGE, PHONE = Sheet("", 830), Sheet("_phone", 360, narrow=True)
_sheet: ContextVar[Sheet] = ContextVar("sheet", default=PAGE)


@contextmanager
def on(sheet: Sheet) -> Iterator[None]:
    """Makes figures for the sheet within its context."""
    before = _sheet.set(sheet)
    try:
        yield
    finally:
        _sheet.reset(before)


def narrow() -> bool:
    """Returns whether figures are now made for a single column."""
    return _sheet.get().narrow


def panels(
    count: int, *, columns: int = 1, height: float = 2.5, sharex: bool = False, sharey: bool = False, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Makes a figure of the sheet's width with panels in rows, one below the other on a phone.

    Args:
        count: of the panels.
        columns: on a page.
        height: of a panel in inches, on a page; with what is written around it.
        sharex: one range for all horizontal axes.
        sharey: one range for all vertical axes.
        options: of `matplotlib.figure.Figure.subplots`.
    """
    mpl.rcParams.update(STYLE)  # type: ignore[arg-type]
    sheet = _sheet.get()
    if sheet.narrow and columns > 1:
        columns, height = 1, min(height, 2.6)
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(sheet.inches, rows * height), layout="constrained")
    FigureCanvasAgg(figure)  # keeps its renderer, where the base class makes one for every text that is measured
    axes = figure.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey, **options)
    _layout(figure, w_pad=0.06, h_pad=0.06, wspace=0.03, hspace=0.05)
    for ax in axes.flat:
        ax.tick_params(labelleft=True, labelbottom=True)
        ax.set_visible(False)
    for ax in axes.flat[:count]:
        ax.set_visible(True)
    return figure, list(axes.flat[:count])


@contextmanager
def undrawn(figure: Figure) -> Iterator[None]:
    """Draws nothing within its context: seaborn's heat maps draw their whole figure to see whether labels overlap."""
    canvas = figure.canvas
    FigureCanvasBase(figure)
    try:
        yield
    finally:
        figure.set_canvas(canvas)


def _layout(figure: Figure, **options: Any) -> None:
    engine: Any = figure.get_layout_engine()
    engine.set(**options)


def finish(
    figure: Figure,
    title: str,
    *,
    source: str = "",
    paper: str = "",
    datasets: Iterable[str] = (),
    note: str = "",
    names: bool = True,
) -> Figure:
    """Writes a figure's words around its panels, and the names of lines beside them; nothing may be drawn after.

    Args:
        figure: of `panels`.
        title: a sentence that answers the figure's question.
        source: what it repeats, such as a paper's "Figure 1"; above the title.
        paper: the key of the paper that it repeats, so that it says where data are a user's own.
        datasets: that are drawn.
        note: what a reader has to know, below.
        names: whether lines are named; otherwise they are named already.
    """
    _drop_repeated_labels(figure)
    for ax in figure.axes:
        if ax.get_xlabel():
            across = ax.get_gridspec().ncols if ax.get_subplotspec() is not None else 1  # type: ignore[union-attr]
            ax.set_xlabel(wrapped(ax.get_xlabel(), 72 * figure.get_figwidth() / across - 40))
    width, height = figure.get_size_inches()
    room = 72 * width - 8
    source = with_own_data(source, datasets, paper)
    heading = _wrapped(title, TITLE, room, bold=True)
    above, below = _wrapped(source, TEXT, room), _wrapped(note[:1].upper() + note[1:], SMALLEST, room)
    head = 4 + LINE * (TEXT * len(above) + TITLE * len(heading)) + 5
    foot = (6 + LINE * SMALLEST * len(below)) if below else 2
    whole = height + (head + foot) / 72
    figure.set_size_inches(width, whole)
    points = 72 * whole
    _layout(figure, rect=(0, foot / points, 1, 1 - (head + foot) / points))
    top = points - 4
    options: dict[str, Any] = {"transform": None, "ha": "left", "va": "top", "linespacing": LINE / 1.2}
    for lines, size, colour, weight in ((above, TEXT, QUIET, "normal"), (heading, TITLE, INK, "bold")):
        for line in lines:
            options["transform"] = figure.transFigure
            figure.text(4 / room, top / points, line, fontsize=size, color=colour, weight=weight, **options)
            top -= LINE * size
    for i, line in enumerate(below):
        y = (foot - 3 - LINE * SMALLEST * i) / points
        figure.text(4 / room, y, line, fontsize=SMALLEST, color=QUIET, **options)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    if names:
        for ax in figure.axes:
            if ax.get_visible():
                name_lines(ax, TEXT)
    return figure


def _drop_repeated_labels(figure: Figure) -> None:
    """Leaves words on axes only at the left end of a row and the lower end of a column."""
    shown = [ax for ax in figure.axes if ax.get_visible() and ax.get_subplotspec() is not None]
    for ax in shown:
        place = ax.get_subplotspec()
        below = [o for o in shown if _column(o) == _column(ax) and _row(o) > _row(ax)]
        if any(o.get_xlabel() == ax.get_xlabel() for o in sorted(below, key=_row)[:1]):
            ax.set_xlabel("")
        beside = [o for o in shown if _row(o) == _row(ax) and _column(o) < _column(ax)]
        if place is not None and any(o.get_ylabel() == ax.get_ylabel() != "" for o in beside):
            ax.yaxis.label.set_visible(False)


def _row(ax: Axes) -> int:
    return ax.get_subplotspec().rowspan.start  # type: ignore[union-attr]


def _column(ax: Axes) -> int:
    return ax.get_subplotspec().colspan.start  # type: ignore[union-attr]


def _wrapped(text: str, size: float, width: float, bold: bool = False) -> list[str]:
    """Returns a text in lines of a width in points."""
    lines: list[str] = []
    for part in filter(None, text.split("\n")):
        line = ""
        for word in re.split(r"(?<!=) (?![%=])", part):  # "95 %" and "ε = 1" stay together
            longer = f"{line} {word}".strip()
            if line and text_width(longer, size, bold) > width:
                lines.append(line)
                line = word
            else:
                line = longer
        lines.append(line)
    return lines


@cache
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Computes the width of one line of text in points."""
    font = font_manager.get_font(
        font_manager.findfont(font_manager.FontProperties("DejaVu Sans", weight="bold" if bold else "normal"))
    )
    font.set_size(size, 72)
    font.set_text(text)
    return float(font.get_width_height()[0]) / 64


def wrapped(text: str, width: float, size: float = TEXT) -> str:
    """Returns a text with line breaks, for a width in points."""
    return "\n".join(_wrapped(text, size, width))


def save(draw: Callable[[], Figure], stem: Path) -> None:
    """Draws a figure for the page and for phones, and writes its files, whole and without timestamps.

    These are stem.svg and stem_phone.svg, which follow the theme of the page that shows them, and stem.png and
    stem_dark.png (two pixels for one of the page). Not by `Figure.savefig`, which draws everything twice.

    Args:
        draw: makes the figure; called once for each sheet.
        stem: the files' path without its ending.
    """
    for sheet in (PAGE, PHONE):
        with on(sheet):
            figure = draw()
        name = f"{stem.name}{sheet.ending}"
        write_text(stem.with_name(f"{name}.svg"), as_svg(figure))
        if sheet is PAGE:
            figure.set_dpi(DOUBLE)
            for theme in ("", "_dark"):
                if theme:
                    darken(figure)
                with replacing(stem.with_name(f"{name}{theme}.png")) as temporary:
                    _canvas(FigureCanvasAgg, figure).print_png(temporary, metadata={"Software": None})


def as_svg(figure: Figure) -> str:
    """Writes a figure as an SVG that follows the theme of the page that shows it."""
    written = io.StringIO()
    _canvas(FigureCanvasSVG, figure).print_svg(written, metadata={"Date": None})
    return for_both_themes(written.getvalue())


def _canvas(kind: Any, figure: Figure) -> Any:  # whose ways of writing have no types
    return kind(figure)


COLOUR = re.compile(r"(fill|stroke): (#[0-9a-f]{6})")
TAG, DIGITS = re.compile(r"<[^<>]*>"), re.compile(r"(\d+\.\d\d)\d+")
CLIP = re.compile(r'<clipPath id="(\w+)">(.*?)</clipPath>', re.DOTALL)
SHORTER = (  # what matplotlib writes at length
    (re.compile(r"<metadata>.*?</metadata>", re.DOTALL), ""),
    (re.compile(r' transform="rotate\(-0 [^"]*"'), ""),
    (re.compile(r"font-family: [^;\"]*; ?"), ""),
    (re.compile(r' id="(?!name)[a-z0-9.]+_\d+"'), ""),
    (re.compile(r"\n *"), " "),
    (re.compile(r"> <"), "><"),
    (re.compile(r"<defs></defs>|<g></g>"), ""),
)


def for_both_themes(svg: str) -> str:
    """Rewrites an SVG of matplotlib, shorter, with fonts that every reader has and colours for pages that are dark."""
    svg = TAG.sub(lambda tag: DIGITS.sub(r"\1", tag.group()), svg)  # and not the numbers that people read
    for clip, shape in CLIP.findall(svg):  # matplotlib's names have the last bits of a layout, which differ by run
        svg = svg.replace(clip, f"p{hashlib.sha256(shape.encode()).hexdigest()[:10]}")
    for pattern, short in SHORTER:
        svg = pattern.sub(short, svg)
    rules = "".join(
        f'[style*="{what}: {colour}"]{{{what}:{in_the_dark(colour)}!important}}'
        for what, colour in sorted(set(COLOUR.findall(svg)))
    )
    font = 'text{font-family:"DejaVu Sans",Verdana,system-ui,sans-serif}'
    style = f"<style>{font}@media (prefers-color-scheme: dark){{{rules}}}</style>"
    return svg.replace("<defs>", f"{style}<defs>", 1)


def darken(figure: Figure) -> None:
    """Gives every artist of a figure the colour that it has on a dark page."""
    for artist in figure.findobj(lambda artist: not isinstance(artist, Figure | Axes)):  # they repeat their patches
        for name in ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor"):
            _recolour(artist, name)


def _recolour(artist: Artist, name: str) -> None:
    get, put = getattr(artist, f"get_{name}", None), getattr(artist, f"set_{name}", None)
    if get is None or put is None:
        return
    colour = get()
    if isinstance(colour, str):
        if colour not in ("none", "auto"):
            put(in_the_dark(to_hex(colour)))
        return
    rows: Any = mpl.colors.to_rgba_array(colour) if colour is not None and len(colour) else ()
    shown = [(*mpl.colors.to_rgb(in_the_dark(to_hex(row[:3]))), row[3]) for row in rows]
    if shown:
        put(shown[0] if len(shown) == 1 else shown)
