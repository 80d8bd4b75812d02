"""Statements about runs on made-up tables of which the truth is known: what is decided is right."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats
from truths import TRUTHS
from worlds import NOISE, World, decided

from tensorldp_papers.claims import statements
from tensorldp_papers.claims.base import catalogue, load_checks
from tensorldp_papers.claims.fairness import shortfall
from tensorldp_papers.claims.statements import (
    LOOKS,
    AllOf,
    AnyOf,
    Between,
    Estimate,
    Statement,
    estimate,
    minus,
    paired,
)
from tensorldp_papers.run.cell import AnyCell

HOLDS, FAILS = {"reproduced", "holds with a condition"}, {"not reproduced", "refuted"}
OPEN = {"undecided", "not run"}


@cache
def world(id: str, true: bool, seeds: int = 3) -> World:
    return TRUTHS[id].world(true, seeds)


def test_every_statement_about_runs_has_its_truths() -> None:
    """Checks that reach `finding` or `settle` are statements about means over seeds."""
    statistical = set()
    for id, registered in load_checks().items():
        source = inspect.getsource(inspect.unwrap(registered.check))
        if re.search(r"\b(finding|settle|best_centre|_?by_\w+|_row)\(", source):
            statistical.add(id)
    assert statistical <= set(TRUTHS)
    assert set(TRUTHS) <= set(catalogue())


@pytest.mark.parametrize("id", sorted(TRUTHS))
@pytest.mark.parametrize("true", [True, False])
def test_what_is_true_or_false_by_a_margin_is_decided_rightly(id: str, true: bool) -> None:
    stream = np.random.Generator(np.random.PCG64(7))
    expected = HOLDS if true else OPEN if TRUTHS[id].weak else FAILS
    assert decided(id, world(id, true).draw(stream)) in expected


def on_few_records(id: str) -> list[AnyCell]:
    """The cells of a claim's world on 1,000 records."""
    return [
        replace(c, training=c.training.model_copy(update={"limit": 1000})) if hasattr(c.training, "limit") else c
        for c in TRUTHS[id].cells
    ]


@pytest.mark.parametrize("id", [id for id in sorted(TRUTHS) if shortfall(on_few_records(id))])
def test_a_run_on_few_of_the_records_supports_and_never_refutes(id: str) -> None:
    """Every claim about runs of which the source prints a size."""
    truth, cells = TRUTHS[id], on_few_records(id)
    for true in (True, False):
        noise = truth.noise and truth.noise[not true]
        small = World(cells, truth.true if true else truth.false, noise=noise)
        found = decided(id, small.draw(np.random.Generator(np.random.PCG64(12))))
        assert found in ({"holds with a condition"} | OPEN if true else OPEN), found


@pytest.mark.parametrize("id", sorted(TRUTHS))
def test_one_seed_decides_nothing(id: str) -> None:
    stream = np.random.Generator(np.random.PCG64(8))
    for true in (True, False):
        assert decided(id, world(id, true, seeds=1).draw(stream)) in OPEN


@pytest.mark.slow
def test_noise_as_large_as_the_margin_gives_few_wrong_verdicts() -> None:
    stream = np.random.Generator(np.random.PCG64(9))
    wrong, draws, open_ = 0, 0, 0
    for id in TRUTHS:
        for true in (True, False):
            for noise in (4 * NOISE, 20 * NOISE):
                found = decided(id, world(id, true).draw(stream, noise))
                wrong += found in (FAILS if true else HOLDS)
                open_ += found in OPEN
                draws += 1
    assert draws >= 200
    assert wrong <= 0.05 * draws
    assert open_ > 0.2 * draws  # it is hard: otherwise nothing was tested


STATEMENTS: dict[str, Callable[[list[Estimate]], Statement]] = {
    "one": lambda e: Between("x", e[0], low=0),
    "every": lambda e: AllOf([Between("x", own, low=0) for own in e]),
    "some": lambda e: AnyOf([Between("x", own, low=0) for own in e]),
    "both sides": lambda e: AllOf([Between("x", own, low=0, high=20) for own in e]),
    "nested": lambda e: AllOf([AnyOf([Between("x", own, low=0) for own in e[i : i + 4]]) for i in (0, 4)]),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_at_the_limit_a_verdict_either_way_is_rare(name: str) -> None:
    """Means at the limit, where a statement is barely true and barely false: 5 % and five deviations of 1,000 draws.

    For `every`, the worst case of a wrong yes has all other means far inside; of `some`, all others far outside.
    """
    stream, draws = np.random.Generator(np.random.PCG64(10)), 1000
    far = {"every": 10.0, "both sides": 10.0, "some": -10.0}.get(name)
    values = stream.standard_normal((draws, 8, 3))
    for others in (0.0, far):
        if others is None:
            continue
        offset = np.zeros((8, 1))
        offset[1:] = others
        make = STATEMENTS[name]
        found = [make([estimate(own) for own in values[i] + offset]).decide() for i in range(draws)]
        limit = 0.05 * draws + 5 * np.sqrt(0.05 * 0.95 * draws)
        assert sum(own is True for own in found) <= limit
        assert sum(own is False for own in found) <= limit


@pytest.mark.parametrize("lead", [0.0, 0.3, -0.3])
def test_looking_again_and_again_errs_no_more_often_than_once(lead: float) -> None:
    """2,000 made-up tables of 40 seeds at the limit or near it, each looked at by the schedule.

    A table is decided wrongly if any look decides it against the truth; at the limit either way is wrong. 5 % and five
    deviations are allowed; at 5 % a look it is more than twice as many.
    """
    stream, draws = np.random.Generator(np.random.PCG64(13)), 2000
    values = lead + stream.standard_normal((draws, 40))

    def wrong(table: np.ndarray[Any, Any], verdict: Callable[[Between], bool | None]) -> bool:
        found = {verdict(Between("x", estimate(table[:count].tolist()), low=0)) for count in LOOKS}
        return bool(found - {None}) if lead == 0 else (lead < 0) in found

    def unscheduled(leaf: Between) -> bool | None:
        half = float(stats.t.ppf(0.975, leaf.value.freedom)) * leaf.value.error
        return None if abs(leaf.value.mean) <= half else leaf.value.mean > 0

    rate = sum(wrong(table, lambda leaf: leaf.decide()) for table in values) / draws
    assert rate <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / draws)
    if lead == 0:
        assert sum(wrong(table, unscheduled) for table in values) / draws > 2 * 0.05


def test_seeds_between_two_looks_wait_for_the_next_one() -> None:
    stream = np.random.Generator(np.random.PCG64(14))
    values = stream.standard_normal(40)
    for seeds, used in ((3, 3), (4, 3), (9, 5), (33, 20), (40, 40)):
        made = estimate(values[:seeds].tolist())
        assert made.seeds == used
        assert made.mean == pytest.approx(values[:used].mean())
    assert (
        minus(estimate(values[:33].tolist()), estimate(values[:7].tolist())).seeds == 5
    )  # a comparison waits for both


def test_a_weak_run_supports_and_does_not_refute() -> None:
    good, bad = estimate([0.4, 0.41, 0.42]), estimate([-0.4, -0.41, -0.42])
    weak = Between("on few records", bad, low=0, weak="mnist: 1,000 of 60,000 training records")
    assert weak.decide() is None
    assert statements.finding(replace(weak, value=good)).condition == weak.weak
    whole = Between("on all", good, low=0)
    both = statements.finding(AllOf([whole, weak]))
    assert both.holds
    assert both.condition == f"without {weak.weak}"
    assert AllOf([replace(whole, value=bad), replace(weak, value=good)]).decide() is False
    assert "which refutes nothing: mnist" in statements.finding(weak).wanted


def test_differences_cover_zero_as_often_as_they_say() -> None:
    stream, draws, missed = np.random.Generator(np.random.PCG64(11)), 3000, np.zeros(2)
    for _ in range(draws):
        a, b = stream.standard_normal(3), 5 * stream.standard_normal(4)
        shared = stream.standard_normal(3)
        for i, value in enumerate(
            (minus(estimate(list(a)), estimate(list(b))), paired(list(a + shared), list(a[::-1] + shared)))
        ):
            missed[i] += not abs(value.mean) <= value.half(0.05)
    assert (missed / draws < 0.05 + 4.8 * np.sqrt(0.05 * 0.95 / draws)).all()  # Welch is a little conservative


def test_how_many_seeds_would_do() -> None:
    value = Estimate(1.0, 0.5, 2.0, 3)
    assert value.seeds_for(1.0, 0.05) == 20
    halves = [0.5 * np.sqrt(3 / n) * stats.t.ppf(1 - 0.025 * LOOKS[n], n - 1) for n in (10, 20)]
    assert halves[0] >= 1.0 > halves[1]
    assert value.seeds_for(1e-6, 0.05) is None
    assert Estimate(1.0, np.inf, 1.0, 1).seeds_for(1.0, 0.05) is None


def test_a_void_comparison_decides_nothing_and_says_why() -> None:
    leaf = Between("a minus b", Estimate(1.0, 1e-3, 9.0, 10), low=0, undecidable="both at chance")
    found = statements.finding(leaf)
    assert found.holds is None
    assert "both at chance" in found.wanted


def test_undecided_says_how_many_seeds_there_are_and_which_would_do() -> None:
    one = statements.finding(Between("x", estimate([0.4]), low=0))
    assert "one seed was run, at least 3 are needed" in one.wanted
    few = statements.finding(Between("x", estimate([0.4, -0.1, 0.6]), low=0))
    assert few.holds is None
    assert "the limit being 0" in few.wanted
    assert "seeds would do" in few.wanted


def test_former_names_still_work_and_say_what_is_new() -> None:
    value = estimate([0.4, 0.41, 0.42])
    with pytest.warns(DeprecationWarning, match="Inside is now Between"):
        former = statements.Inside
    assert former("x", value, low=0, void="both at chance") == Between("x", value, low=0, undecidable="both at chance")
    with pytest.warns(DeprecationWarning, match="Every is now AllOf"):
        assert statements.Every is AllOf
    with pytest.raises(AttributeError, match="Others"):
        _ = statements.Others
