"""Numbers, axes and sentences as people read them, in figures and on pages.

A user's own data are named as such, so that nobody takes them for what a paper shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from tensorldp.deltas import REPORT_DELTA
from tensorldp_papers.data.catalogue import ENTRIES
from tensorldp_papers.plots.names import PLURALS
from tensorldp_papers.plots.style import label, order
from tensorldp_papers.rooms import papers
from tensorldp_papers.run.audit_table import NOT_AUDITED, REFUTED
from tensorldp_papers.run.method_plan import SYNTHETIC

# numbers


DELTA_TEXT = f"{REPORT_DELTA:.0e}".replace("e-0", "e-")  # as it is written
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def axis_number(value: float) -> str:
    """Writes a number on an axis: plain below 100,000, with commas, then a power of ten."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    power = math.floor(math.log10(abs(value)) + 1e-9)
    lead = value / 10.0**power
    ten = f"10{str(power).translate(SUPERSCRIPTS)}"
    return ten if math.isclose(lead, 1.0) else f"{lead:.3g} × {ten}"


def whole_number(value: float) -> str:
    """Writes three digits, or all those of a large number before its point, with commas."""
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def short_number(value: float) -> str:
    """Writes three digits, thousands with a comma."""
    return whole_number(float(f"{value:.3g}"))


def exact_number(value: float) -> str:
    """Writes a whole number with all its digits, and any other with three."""
    near = float(f"{value:.9g}")
    return f"{near:,.0f}" if near.is_integer() else short_number(value)


def table_number(value: Any) -> str:
    """Writes a number to four digits, infinities as a sign, and a dash where there is none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float):
        return ("∞" if value > 0 else "-∞") if math.isinf(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def json_number(value: float, digits: int = 6) -> float | None:
    """Rounds a number to a given count of digits for JSON; None where it is not finite."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def percent(share: float, digits: int = 0) -> str:
    """Writes a share in percent."""
    return f"{100 * share:.{digits}f} %"


def counted(number: int, what: str) -> str:
    """Writes a number with a noun or a verdict, in the singular where it is 1."""
    return f"{number:,} {what if number == 1 else PLURALS.get(what, f'{what}s')}"


def span(low: object, high: object) -> str:
    """Writes two ends, or the one that both are."""
    return f"{low}" if low == high else f"{low} to {high}"


# lists, axes and standings


def listed(names: Sequence[str]) -> str:
    """Writes names in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


PRINTED_AXIS = "printed ε, of one record (nats)"  # of epsilons as a source prints them


def true_axis(unit: str) -> str:
    """Returns the title of an axis of epsilons that one whole unit is guaranteed, at `REPORT_DELTA`."""
    return f"guaranteed ε, of one whole {unit} (nats, δ = {DELTA_TEXT})"


STANDINGS = {NOT_AUDITED: "No audit has tried the guarantee of {}.", REFUTED: "An audit refutes the guarantee of {}."}


def standing_words(rows: pd.DataFrame, standings: Iterable[str] = tuple(STANDINGS)) -> str:
    """Returns a sentence for each of these standings of guarantees that some mechanisms have, with their names."""
    if "standing" not in rows:
        return ""
    found = {standing: order(set(rows[rows["standing"] == standing]["mechanism"])) for standing in standings}
    return " ".join(
        STANDINGS[standing].format(listed([label(name) for name in names]))
        for standing, names in found.items()
        if names
    )


def refuted_words(rows: pd.DataFrame) -> str:
    """Returns the sentence under a figure that names the mechanisms whose guarantee is refuted; empty where none is."""
    return standing_words(rows, (REFUTED,))


# data sets of a user's own

KNOWN = {SYNTHETIC, *(entry.name for entry in ENTRIES)}


def own_data(datasets: Iterable[str], source: str) -> list[str]:
    """Returns those of a study's data sets that do not come with this package, sorted; none without a known paper."""
    return sorted(set(map(str, datasets)) - KNOWN) if source in papers() else []


def with_own_data(source: str, datasets: Iterable[str], paper: str) -> str:
    """Returns what a figure repeats of a paper, such as "Figure 1", and notes which data are a user's own."""
    names = set(map(str, datasets))
    own = own_data(names, paper)
    if own and names == set(own):
        return f"Your data, as in {source}"
    return f"{source}; your own data: {listed(own)}" if own else source


def origin(figure: str, stated: str, datasets: Iterable[str], source: str) -> str:
    """Returns a sentence on what a study draws from its source, and whether it has a user's own data.

    Args:
        figure: the source's figure; empty where no source has it.
        stated: where the study's numbers come from, in words.
        datasets: those that are drawn.
        source: the key of the study's paper.
    """
    names = set(map(str, datasets))
    own = own_data(names, source)
    stated = stated.removesuffix(f", {figure}")  # which the sentence begins with
    if not figure:
        return f"In no source's figures ({stated})."
    if own and names == set(own):
        return f"Your data, {listed(own)}, by the method of {figure} of the source ({stated}), which lacks them."
    return f"{figure} of the source ({stated})" + (f", and by its method your data, {', '.join(own)}." if own else ".")
