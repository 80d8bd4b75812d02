"""The scores behind TLDP's figures: of which network, on how much of the data, and what is compared with what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, wraps
from itertools import combinations

import numpy as np
import pandas as pd

from tensorldp.kinds import NO_PRIVACY
from tensorldp_papers.claims.base import Check, Finding, NotRun
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.fairness import is_papers, shortfall
from tensorldp_papers.claims.statements import (
    Estimate,
    Every,
    Inside,
    Shared,
    Some,
    Statement,
    finding,
    joined,
    minus,
    per_epsilon,
    per_seed,
)
from tensorldp_papers.data.catalogue import get
from tensorldp_papers.run.cell import AnyCell

IMAGES = ("mnist", "cifar10", "svhn")
TYPE1 = "tldp_type1"
TLDP = ("tldp-l", "tldp-g")
BASELINES = ("laplace", "gaussian", "mvg", "idn")
F1 = "weighted_f1"
AT_CHANCE = 0.05  # above one over the number of classes: what imbalance and a lucky guess of labels can add


@dataclass(frozen=True)
class Runs:
    """The rows of one data set and one arm, of the paper's network where it was run.

    Attributes:
        name: the data set, and the arm where there are several.
        rows: of the grid that the paper has; baselines in another form have `form` in their variant.
        weak: how the runs fall short of the paper's, see `fairness`.
        ways: how many choices of runs a claim is tried on, of which this is one.
    """

    name: str
    rows: pd.DataFrame
    weak: str
    ways: int = 1

    def inside(self, name: str, value: Estimate, low: float = -np.inf, high: float = np.inf, void: str = "") -> Inside:
        """A comparison of these runs."""
        return Inside(name, value, low, high, void, self.weak)

    def of(self, mechanism: str, form: str = "") -> pd.DataFrame:
        """The rows of one mechanism; of a baseline in its other form with `form`."""
        rows = self.rows[self.rows["mechanism"] == mechanism]
        own: pd.DataFrame = rows[np.array(["form=" in name for name in rows["variant"]], dtype=bool) == bool(form)]
        return own

    def points(self, mechanism: str, form: str = "") -> dict[float, Estimate]:
        """The mean score at each epsilon, rising."""
        return per_epsilon(self.of(mechanism, form))

    def clean(self) -> Estimate:
        """The mean score without perturbation, of the networks that TLDP's releases were given to."""
        rows = self.of(NO_PRIVACY)
        ours = self.rows[self.rows["mechanism"].isin(TLDP)]["variant"]
        return per_seed(rows[rows["variant"].isin(set(ours))])

    def gap(self, first: str, second: str, epsilons: Iterable[float] | None = None, form: str = "") -> Inside:
        """first - second on average over the epsilons of both, with no limits yet; `form` is the second's."""
        rows = self.of(first), self.of(second, form)
        shared = set(rows[0]["epsilon"]) & set(rows[1]["epsilon"])
        shared = shared if epsilons is None else shared & set(epsilons)
        if not shared:
            raise NotRun(f"needs {first} and {second} on {self.name} at the same epsilon")
        rows = rows[0][rows[0]["epsilon"].isin(shared)], rows[1][rows[1]["epsilon"].isin(shared)]
        means = [per_seed(own) for own in rows]
        seen = max(point.mean for own in rows for point in per_epsilon(own).values())
        limit = 1 / get(self.dataset).classes + AT_CHANCE
        void = "" if seen > limit else "both at chance at every epsilon"
        return self.inside(f"{first} minus {second} on {self.name}", minus(means[0], means[1]), void=void)

    @property
    def dataset(self) -> str:
        """The data set."""
        return str(self.rows["dataset"].iloc[0])


def _printed(rows: pd.DataFrame) -> pd.DataFrame:
    """Without arms that the paper does not have: another range, a wider grid of epsilons."""
    own = rows[~rows["variant"].str.contains("range=")]
    grid = own[own["mechanism"].isin(TLDP)]["epsilon"].unique()
    return own[own["epsilon"].isin(grid) | (own["mechanism"] == NO_PRIVACY)]


def runs(found: Evidence, study: str, dataset: str, mechanisms: Iterable[str], where: str = "") -> Runs:
    """The scores of some mechanisms, TLDP and no perturbation on one data set, all of one network.

    Raises:
        NotRun: if the data set is not planned, a result is missing or no network was run with all of them.
    """
    if not found.cells(study, dataset=dataset):
        raise NotRun(f"needs {study} on {dataset}, which the {found.scale} grid does not have")
    wanted = {*mechanisms, *TLDP, NO_PRIVACY}
    rows = _printed(found.rows(study, F1, dataset=dataset, mechanism=wanted))
    if where:
        rows = rows[rows["variant"].str.contains(f"where={where}")]
    papers = rows["variant"].isin([name for name in set(rows["variant"]) if is_papers(study, dataset, name)])
    own = wanted <= set(rows[papers]["mechanism"])
    rows = rows[papers] if own else rows[~papers]
    if lacking := wanted - set(rows["mechanism"]):
        raise NotRun(f"needs {' and '.join(sorted(lacking))} of {study} on {dataset} with the network of the others")
    variants = set(rows["variant"])
    cells = [cell for cell in found.cells(study, dataset=dataset, mechanism=wanted) if cell.variant in variants]
    return Runs(f"{dataset} ({where})" if where else dataset, rows, shortfall(cells), found.ways)


def as_printed(found: Evidence, study: str, made: Iterable[Runs], where: str = "") -> str:
    """What the same runs have with the printed Delta at the largest epsilon of theirs, in words; it decides nothing."""
    texts = []
    for dataset in dict.fromkeys(own.dataset for own in made):
        factors = {"range": "printed", **({"where": where} if where else {})}
        if not found.cells(study, dataset=dataset, mechanism=TLDP, **factors):
            continue
        rows = found.rows(study, F1, dataset=dataset, mechanism=TLDP, **factors)
        for name in TLDP:
            epsilon, value = max(per_epsilon(rows[rows["mechanism"] == name]).items())
            texts.append(f"{name} {value.mean:.2f} on {dataset} at epsilon {epsilon:g}")
    return f"with the printed Delta of 256: {', '.join(texts)}" if texts else ""


def each(
    found: Evidence, study: str, datasets: Iterable[str], mechanisms: Iterable[str], where: str = ""
) -> list[Runs]:
    """The scores on every one of some data sets that is planned with all of these mechanisms.

    Raises:
        NotRun: if none is planned, or none with all of them.
    """
    names = list(datasets)
    planned = [name for name in names if found.cells(study, dataset=name)]
    if not planned:
        raise NotRun(f"needs {study} on {' or '.join(names)}, which the {found.scale} grid does not have")
    wanted = {*mechanisms, *TLDP, NO_PRIVACY}
    whole = [name for name in planned if all(found.cells(study, dataset=name, mechanism=one) for one in wanted)]
    return [runs(found, study, name, mechanisms, where) for name in whole or planned]


def either_network(check: Check) -> Check:
    """Decide a claim about Type I by a stand-in too, where the paper's network was run on a part of the records alone.

    The paper has its network on all records. Where that was not run, but its network on a part of them and another one
    on all, a claim that holds of either holds, with what is reduced as its condition; they share the chance of a wrong
    yes. Where it holds of neither, the finding is that of the paper's network.

    Args:
        check: it takes the paper's network where `runs` finds it.
    """

    @wraps(check)
    def decided(found: Evidence) -> Finding:
        keeps = [partial(_stays, dropped) for dropped in _choices(_with_both(found))]
        ways = len({_told(_attempt(check, found.only(keep, 1))) for keep in keeps})
        views = [found.only(keep, ways) for keep in keeps]
        made = [(_attempt(check, view), view) for view in views]
        findings = [(one, view) for one, view in made if isinstance(one, Finding)]
        best, view = next(((one, view) for one, view in findings if one.holds), (findings or made)[0])
        found.used += [name for name in view.used if name not in found.used]
        if isinstance(best, NotRun):
            raise best
        return best

    return decided


def _attempt(check: Check, found: Evidence) -> Finding | NotRun:
    try:
        return check(found)
    except NotRun as error:
        return error


def _told(made: Finding | NotRun) -> str:
    """What an attempt looked at, which is the same where a choice makes no difference to the claim."""
    return made.observed if isinstance(made, Finding) else str(made)


def _choices(datasets: list[str]) -> list[tuple[str, ...]]:
    """All subsets, the empty one first."""
    return [chosen for size in range(len(datasets) + 1) for chosen in combinations(datasets, size)]


def _reduced(cell: AnyCell) -> bool:
    """Whether a cell is of the paper's network on a part of the records."""
    return is_papers(cell.study, cell.dataset, cell.variant) and bool(getattr(cell.training, "limit", None))


def _stays(datasets: tuple[str, ...], cell: AnyCell) -> bool:
    return cell.study != TYPE1 or cell.dataset not in datasets or not _reduced(cell)


def _with_both(found: Evidence) -> list[str]:
    """The data sets of Type I with the paper's network on a part of the records and another one on all of them."""
    cells = [cell for cell in found.cells(TYPE1) if cell.mechanism in TLDP]
    reduced = {cell.dataset for cell in cells if _reduced(cell)}
    whole = {cell.dataset for cell in cells if not getattr(cell.training, "limit", None)}
    return sorted(reduced & whole)


def settle(
    made: list[Runs],
    statement: Statement,
    observed: str = "",
    evidence: str = "",
    *,
    datasets: Iterable[str] = (),
    condition: str = "",
) -> Finding:
    """The finding of a statement about these runs, one of the choices that a claim is tried on.

    Args:
        made: the runs.
        statement: about them.
        observed: further observations; they decide nothing.
        evidence: as in `Finding`.
        datasets: all data sets of the claim; those that were not run become a condition.
        condition: what the statement needs beside, if it holds.
    """
    missing = [name for name in datasets if name not in {own.dataset for own in made}]
    absent = f"{', '.join(missing)} not run" if missing else ""
    shared = Shared(statement, max(own.ways for own in made))
    return finding(shared, observed, evidence, condition=joined([condition, absent]))


def per_form(made: Runs, test: Callable[[str], Statement]) -> Statement:
    """A statement about the Gaussian baseline: of Theorem 2's form or, where it was run, of Table 5's."""
    forms = ["", "table5"] if not made.of("gaussian", "table5").empty else [""]
    return Some([test(form) for form in forms]) if len(forms) > 1 else test("")


def below(made: Runs, mechanism: str, limit: float, largest: float = np.inf, form: str | None = None) -> Statement:
    """That a baseline stays below a score at every epsilon up to `largest`; the Gaussian in one form or in either."""

    def test(form: str) -> Statement:
        points = made.points(mechanism, form)
        named = f"{mechanism}{' of Table 5' if form else ''}"
        return Every(
            [
                made.inside(f"{named} on {made.name} at epsilon {e:g}", value, high=limit)
                for e, value in points.items()
                if e <= largest
            ]
        )

    return per_form(made, test) if mechanism == "gaussian" and form is None else test(form or "")
