"""What a page's number is: an entry of docs/quotes.yaml, computed from the kept results."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, get_args

import pandas as pd
import yaml
from pydantic import BaseModel, Field, ValidationError, model_validator

from tensorldp.errors import InputError, described, unknown
from tensorldp_papers.claim_registry import GROUPS
from tensorldp_papers.claims.base import ConditionKind
from tensorldp_papers.claims.criteria import changed
from tensorldp_papers.claims.statements import wrong_by_chance
from tensorldp_papers.claims.table import numbers_in
from tensorldp_papers.data import catalogue
from tensorldp_papers.kept.provenance import CLAIMS, METRICS, SERIES_TABLE
from tensorldp_papers.plots.means import adds_from
from tensorldp_papers.strict import Closed


def mnist_ceiling(epsilon: float | str) -> float:
    """Computes the most that a classifier can reach on eps-LDP releases of MNIST's test images (unequal classes)."""
    from tensorldp_papers.claims.laws import released_ceiling  # torch loads here

    return released_ceiling("mnist", float(epsilon))


def pdpm_upload(epsilon: float | str, weights: float | str, delta: float | str) -> float:
    """Computes a lower bound of the epsilon of one upload by PDPM, exact for models at opposite ends of all ranges."""
    from scipy.optimize import brentq

    from tensorldp.mechanisms.pldp_fl import PdpmCurve

    curve = PdpmCurve(float(epsilon), int(weights))
    return float(brentq(lambda e: curve.forward(e) - float(delta), 0.0, curve.pure_epsilon))


FUNCTIONS: dict[str, Callable[..., float]] = {"mnist_ceiling": mnist_ceiling, "pdpm_upload": pdpm_upload}


REWRITTEN = ("rewritten", "flipped")  # claims whose criterion was changed after data were seen; with another verdict


def _counted(claims: pd.DataFrame, what: str) -> float:
    """Counts the claims of a kind, as `Entry.count` says."""
    if what == "all":
        return float(len(claims))
    if what == "wrong_by_chance":
        return wrong_by_chance(claims)
    if what in REWRITTEN:
        verdicts = claims["verdict"].to_dict()
        lines = {id: lines for id, lines in changed().items() if id in verdicts}
        flipped = [id for id, made in lines.items() if any(line.was not in ("", verdicts[id]) for line in made)]
        return float(len(lines) if what == "rewritten" else len(flipped))
    column = "condition_is" if what in get_args(ConditionKind) else "verdict"
    return float((claims[column] == what.replace("_", " ")).sum())


ROW = ("dataset", "variant", "mechanism")
CELL = [*ROW, "epsilon"]
M = TypeVar("M", bound=BaseModel)


class Entry(Closed):
    """How to compute a number.

    One of four kinds: kept rows (`metric`), a number that a claim's check found (`claim`), the number of claims
    with a verdict (`count`), or one of `FUNCTIONS` (`function`).
    """

    arguments: tuple[str, ...] = ()  # keys of this entry that the template states, in this order
    format: str = ".3f"  # Python's format of the number
    scale: float = 1.0  # what it is multiplied by first, 100 for per cent
    study: str | None = None
    dataset: str | None = None
    variant: str | None = None
    mechanism: str | None = None  # all where it is not given, and the statistic picks one
    but: tuple[str, ...] = ()  # mechanisms that are left out
    metric: str | None = None
    round: int | None = None  # of a metric that was taken along the training
    epsilon: float | None = None
    cells: tuple[tuple[str, float], ...] = ()  # mechanisms with epsilons that have one law: their seeds count together
    up_to: float | None = None  # the largest nominal epsilon, instead of one
    column: Literal["value", "guarantee_epsilon", "guarantee_pure_epsilon"] = "value"
    statistic: Literal["mean", "lowest", "highest", "seeds", "adds_from"] = "mean"
    without: str | None = None  # for `adds_from`: the variant that reads no private record
    looks: int = 1  # for `adds_from`: comparisons that share its 5 %
    claim: str | None = None
    number: str | None = None  # its name among the numbers of the claim
    count: str | None = None  # a verdict, what a condition is, "all", "wrong_by_chance", or one of `REWRITTEN`
    group: Literal["theorem", "run", "description"] | None = None  # the claims that are counted, all without
    function: str | None = None
    values: tuple[float | str, ...] = ()  # what the function is given

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [key for key in ("metric", "claim", "count", "function") if getattr(self, key) is not None]
        if len(kinds) + len({"metric", "claim", "count"} & set(self.arguments)) != 1:
            raise ValueError("exactly one of metric, claim, count and function")
        return self


class Page(Closed):
    """What a template whose numbers need values says without one."""

    sections: dict[str, str] = Field(default_factory=dict)  # headings, with the reason
    phrases: dict[str, tuple[str, ...]] = Field(default_factory=dict)  # phrases by reason


class Table(Closed):
    """docs/quotes.yaml."""

    entries: dict[str, Entry]
    unmarked: dict[str, Page] = Field(default_factory=dict)  # by the page's path


def read_as(path: Path, model: type[M]) -> M:
    """Reads a YAML file as a pydantic model.

    Raises:
        InputError: naming the file and the first wrong key.
    """
    try:
        return model.model_validate(yaml.safe_load(path.read_text()))
    except FileNotFoundError:
        raise InputError(f"{path} is missing") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not YAML: {described(error)}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{path}, {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def written(number: float, form: str) -> str:
    """Writes a number as the pages do: 1e+07 is 1e7, infinity ∞."""
    if math.isinf(number):
        return "∞"
    digits, _, power = format(number, form).partition("e")
    return f"{digits}e{int(power)}" if power else digits


class Quotes:
    """The numbers of pages, from a table and a folder of kept results.

    Args:
        table: what each name means.
        reference: the folder with metrics.parquet and claims.csv.
    """

    def __init__(self, table: Table, reference: Path) -> None:
        self.table, self.reference = table, reference
        self.used: set[str] = set()

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """Returns the kept rows."""
        return pd.read_parquet(self.reference / METRICS)

    @cached_property
    def _parts(self) -> dict[Any, pd.DataFrame]:
        """Returns the kept rows by study and metric: each number would search them all otherwise."""
        parts: Any = self.metrics.groupby(["study", "metric"])
        return dict(iter(parts))

    @cached_property
    def _along(self) -> dict[Any, pd.DataFrame]:
        """Returns the kept rows that were taken along the training, by study, metric and round."""
        parts: Any = pd.read_parquet(self.reference / SERIES_TABLE).groupby(["study", "metric", "round"])
        return dict(iter(parts))

    @cached_property
    def claims(self) -> pd.DataFrame:
        """Returns the kept verdicts, by id."""
        return pd.read_csv(self.reference / CLAIMS).set_index("id")

    def __call__(self, mark: str) -> str:
        """Writes a number: a name of the table and its arguments; epsilons a,b,c make cells "x | y | z".

        Raises:
            InputError: if the name is unknown, arguments are wrong, or the kept results lack what it needs.
        """
        name, *given = mark.split()
        if name not in self.table.entries:
            raise unknown("quote", name, self.table.entries)
        self.used.add(name)
        entry = self.table.entries[name]
        if len(given) < len(entry.arguments) or (len(given) > len(entry.arguments) and not entry.function):
            raise InputError(f"the quote {mark!r} needs the arguments {', '.join(entry.arguments) or 'none'}")
        if entry.arguments[-1:] != ("epsilon",):
            return self._one(mark, entry, given)
        return " | ".join(self._one(mark, entry, [*given[:-1], item]) for item in given[-1].split(","))

    def _one(self, mark: str, entry: Entry, given: list[str]) -> str:
        count = len(entry.arguments)
        stated: dict[str, Any] = dict(zip(entry.arguments, given[:count], strict=True))
        if entry.function:
            stated["values"] = (*entry.values, *given[count:])
        try:
            entry = Entry.model_validate({**entry.model_dump(), "arguments": (), **stated})
        except ValidationError as error:
            raise InputError(f"the quote {mark!r}: {error.errors()[0]['msg']}") from None
        return written(self._number(mark, entry) * entry.scale, entry.format)

    def _number(self, mark: str, entry: Entry) -> float:
        if entry.claim is not None:
            return self.stated(mark, entry)
        if entry.count is not None:
            claims = self.claims
            if entry.group is not None:
                claims = claims[claims["kind"].isin(GROUPS[entry.group])]
            return _counted(claims, entry.count)
        if entry.function is not None:
            if entry.function not in FUNCTIONS:
                raise unknown("function of quotes", entry.function, FUNCTIONS)
            return FUNCTIONS[entry.function](*entry.values)
        return self._kept(mark, entry)

    def stated(self, mark: str, entry: Entry) -> float:
        """Returns the number of a claim that has a name."""
        if entry.claim not in self.claims.index:
            raise InputError(f"the quote {mark!r}: no kept claim {entry.claim!r}")
        found = numbers_in(self.claims["numbers"][str(entry.claim)])
        if entry.number not in found:
            raise unknown(f"number of {entry.claim}", str(entry.number), found)
        return found[entry.number]

    def rows(self, mark: str, entry: Entry) -> pd.DataFrame:
        """Returns the kept rows that an entry names, one for each cell and seed.

        Raises:
            InputError: if there are none, or more than one for a cell and seed; `mark` names the entry.
        """
        at = (entry.study, entry.metric)
        rows = self._parts.get(at) if entry.round is None else self._along.get((*at, entry.round))
        if rows is None:
            raise InputError(f"the quote {mark!r}: no kept rows of {entry.study} have the metric {entry.metric}")
        for key in ROW:
            if getattr(entry, key) is not None:
                rows = rows[rows[key] == getattr(entry, key)]
        rows = rows[~rows["mechanism"].isin(entry.but)]
        if entry.epsilon is not None:
            rows = rows[rows["epsilon"] == entry.epsilon]
        if entry.cells:
            rows = rows[[cell in entry.cells for cell in zip(rows["mechanism"], rows["epsilon"], strict=True)]]
            if len(rows[["mechanism", "epsilon"]].drop_duplicates()) < len(entry.cells):
                raise InputError(f"the quote {mark!r}: the kept results lack one of its cells")
        if entry.up_to is not None:
            rows = rows[rows["epsilon"] <= entry.up_to]
        if rows.empty:
            raise InputError(f"the quote {mark!r}: the kept results have no such rows")
        if rows.duplicated([*CELL, "seed"]).any():
            raise InputError(f"the quote {mark!r}: more than one value for a seed")
        return rows

    def _kept(self, mark: str, entry: Entry) -> float:
        """Computes a statistic of the means over seeds, of the kept rows that the entry names."""
        rows = self.rows(mark, entry)
        if entry.statistic == "seeds":
            return float(rows["seed"].nunique())
        if entry.statistic == "adds_from":
            known = entry.model_copy(update={"variant": entry.without, "mechanism": "none"})
            records = catalogue.get(str(entry.dataset)).sizes[1]
            return adds_from(rows, self.rows(mark, known), records=records, looks=entry.looks)
        if entry.cells:
            return float(rows[entry.column].mean())
        means = rows.groupby(CELL)[entry.column].mean()
        if entry.statistic == "mean":
            if len(means) > 1:
                raise InputError(f"the quote {mark!r}: {len(means)} cells, but a mean over seeds covers one")
            return float(means.iloc[0])
        return float(means.min() if entry.statistic == "lowest" else means.max())
