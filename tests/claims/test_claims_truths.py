"""Statements about runs on made-up tables of which the truth is known: what is decided is right."""

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from draws import FAILS, HOLDS, OPEN, tally
from invented import decided
from scipy import stats
from truths import SEEDS, TRUTHS, WEAK

from tensorldp.errors import InputError
from tensorldp_papers.claims import statements
from tensorldp_papers.claims.base import catalogue, load_checks
from tensorldp_papers.claims.fairness import shortfall
from tensorldp_papers.claims.statements import (
    LOOKS,
    NOWHERE,
    SCORE,
    SPREAD,
    AllOf,
    Alternative,
    AnyOf,
    Between,
    Estimate,
    Limit,
    Statement,
    estimate,
    mean_interval,
    minus,
)
from tensorldp_papers.run.cell import AnyCell


def test_every_statement_about_runs_has_its_truths() -> None:
    """Checks that reach `finding` or `settle` are statements about means over seeds."""
    statistical = set()
    for id, registered in load_checks().items():
        source = inspect.getsource(inspect.unwrap(registered.check))
        if re.search(r"\b(finding|settle|best_centre|_?by_\w+|_row)\(", source):
            statistical.add(id)
    assert statistical - {"P23"} <= set(TRUTHS) <= set(catalogue())  # P23 can only fail


@pytest.mark.slow
@pytest.mark.parametrize("id", sorted(TRUTHS))
def test_three_seeds_decide_rightly_by_a_margin_and_one_seed_decides_nothing(id: str) -> None:
    stream, truth = np.random.Generator(np.random.PCG64(7)), TRUTHS[id]
    for true, expected in ((True, HOLDS), (False, OPEN if id in WEAK.split() else FAILS)):
        assert decided(id, truth.world(true, seeds=SEEDS.get(id, 3)).draw(stream)) in expected
        assert decided(id, truth.world(true, seeds=1).draw(stream)) in OPEN


def on_few_records(id: str) -> list[AnyCell]:
    """The cells of a claim's world on 1,000 records."""
    return [
        replace(c, training=c.training.model_copy(update={"limit": 1000})) if hasattr(c.training, "limit") else c
        for c in TRUTHS[id].cells
    ]


@pytest.mark.slow
@pytest.mark.parametrize("id", [id for id in sorted(TRUTHS) if shortfall(on_few_records(id))])
def test_a_run_on_few_of_the_records_supports_and_never_refutes(id: str) -> None:
    """Every claim about runs of which the source prints a size."""
    for true in (True, False):
        found = decided(id, TRUTHS[id].world(true, cells=on_few_records(id)).draw(12))
        assert found in ({"holds with a condition"} | OPEN if true else OPEN), found


PARTS = {"svhn": "svhn_10k", "imdb": "imdb_glove_short", "darknet": "darknet_5k", "credit": "creditcard_55k"}


@pytest.mark.slow
@pytest.mark.parametrize("id", [id for id in sorted(TRUTHS) if {c.dataset for c in TRUTHS[id].cells} & set(PARTS)])
def test_a_part_of_a_data_set_stands_for_the_whole_and_supports_and_never_refutes(id: str) -> None:
    cells = [replace(c, dataset=PARTS[c.dataset]) for c in TRUTHS[id].cells if c.dataset in PARTS]
    assert decided(id, TRUTHS[id].world(True, cells=cells).draw(12)) in {"holds with a condition"} | OPEN
    assert decided(id, TRUTHS[id].world(False, cells=cells).draw(12)) in OPEN


def test_a_part_is_not_looked_at_where_the_whole_was_run() -> None:
    cells = TRUTHS["T36"].cells
    parts = [replace(c, dataset="svhn_10k") for c in cells]
    assert decided("T36", TRUTHS["T36"].world(True, cells=parts).draw(12)) == "holds with a condition"
    assert decided("T36", TRUTHS["T36"].world(True, cells=[*cells, *parts]).draw(12)) == "reproduced"


def test_a_part_that_lacks_a_mechanism_counts_as_not_run() -> None:
    cells = [c for c in TRUTHS["V30"].cells if c.dataset != "svhn"]
    part = [replace(c, dataset="svhn_10k") for c in TRUTHS["V30"].cells if c.mechanism != "mvg"]
    without, beside = (
        decided("V30", TRUTHS["V30"].world(True, cells=own).draw(12)) for own in (cells, [*cells, *part])
    )
    assert without == beside == "holds with a condition"
    assert decided("V30", TRUTHS["V30"].world(True, cells=part).draw(12)) in OPEN


@pytest.mark.weekly
def test_noise_as_large_as_the_margin_gives_few_wrong_verdicts() -> None:
    draws, wrong, open_ = np.sum([tally(id, 4, seed=9) for id in TRUTHS], axis=0)
    assert draws >= 200
    assert wrong <= 0.05 * draws
    assert open_ > 0.2 * draws  # it is hard: otherwise nothing was tested


def five_deviations(draws: int, rate: float = 0.05) -> float:
    """The share of draws that a rate does not exceed by chance, but once in three million."""
    return float(rate + 5 * np.sqrt(rate * (1 - rate) / draws))


STATEMENTS: dict[str, Callable[[list[Estimate]], Statement]] = {
    "one": lambda e: Between("x", e[0], low=0),
    "every": lambda e: AllOf([Between("x", own, low=0) for own in e]),
    "some": lambda e: AnyOf([Between("x", own, low=0) for own in e]),
    "both sides": lambda e: AllOf([Between("x", own, low=0, high=20) for own in e]),
    "nested": lambda e: AllOf([AnyOf([Between("x", own, low=0) for own in e[i : i + 4]]) for i in (0, 4)]),
}
FAR = {"every": 10.0, "both sides": 10.0, "some": -10.0}


@pytest.mark.parametrize(("name", "others"), [*((name, 0.0) for name in STATEMENTS), *FAR.items()])
def test_at_the_limit_a_verdict_either_way_is_rare(name: str, others: float) -> None:
    """Means at the limit, where a statement is barely true and barely false.

    For `every`, the worst case of a wrong yes has all other means far inside; of `some`, all others far outside.
    """
    stream, draws = np.random.Generator(np.random.PCG64(10)), 600
    values = stream.standard_normal((draws, 8, 3)) + np.array([0.0, *[others] * 7])[:, None]
    found = [STATEMENTS[name]([estimate(own) for own in table]).decide() for table in values]
    for verdict in (True, False):
        assert sum(own is verdict for own in found) / draws <= five_deviations(draws)


@pytest.mark.parametrize("lead", [0.0, 0.3, -0.3])
def test_looking_again_and_again_errs_no_more_often_than_once(lead: float) -> None:
    """Made-up tables of 40 seeds at the limit or near it, each looked at by the schedule.

    A table is decided wrongly if any look decides it against the truth; at the limit either way is wrong. At 5 % a look
    it is more than twice as many.
    """
    stream, draws = np.random.Generator(np.random.PCG64(13)), 1000
    values = lead + stream.standard_normal((draws, 40))

    def wrong(verdict: Callable[[Between], bool | None]) -> float:
        found = [{verdict(Between("x", estimate(t[:n].tolist()), low=0)) for n in LOOKS} for t in values]
        return sum(bool(own - {None}) if lead == 0 else (lead < 0) in own for own in found) / draws

    def unscheduled(leaf: Between) -> bool | None:
        half = float(stats.t.ppf(0.975, leaf.value.freedom)) * leaf.value.error
        return None if abs(leaf.value.mean) <= half else leaf.value.mean > 0

    assert wrong(Between.decide) <= five_deviations(draws)
    assert lead or wrong(unscheduled) > 2 * 0.05


def test_intervals_and_differences_cover_the_mean_as_often_as_they_say() -> None:
    stream, draws = np.random.Generator(np.random.PCG64(11)), 2000
    missed = np.zeros(4)
    for _ in range(draws):
        a, b, shared, c = stream.standard_normal(3), stream.standard_normal(4), *stream.standard_normal((2, 3))
        halves = [
            minus(estimate(a.tolist()), estimate((5 * b).tolist())),
            minus(estimate((a + shared).tolist()), estimate((c + shared).tolist())),
            minus(minus(estimate(a.tolist()), estimate(c.tolist())), estimate(shared.tolist()), 0.5),
        ]
        interval = mean_interval(b.tolist())
        missed += [*(abs(value.mean) > value.half(0.05) for value in halves), not interval.low <= 0 <= interval.high]
    assert (missed / draws < five_deviations(draws)).all()
    assert missed[3] / draws > 0.05 - 5 * np.sqrt(0.05 * 0.95 / draws)
    assert mean_interval([1.0]).high == np.inf


@pytest.mark.parametrize(("values", "confidence"), [([], 0.95), ([np.nan], 0.95), ([1.0], 1.0)])
def test_intervals_of_nothing_are_refused(values: list[float], confidence: float) -> None:
    with pytest.raises(InputError):
        mean_interval(values, confidence)


def test_a_difference_is_taken_seed_by_seed() -> None:
    low, high = [0.65, 0.68, 0.70, 0.67, 0.66], [0.681, 0.709, 0.731, 0.70, 0.689]
    step = minus(estimate(high), estimate(low))
    assert step.mean == pytest.approx(0.03)
    assert step.half(0.05) < 0.003  # and not the spread of the two levels


def test_seeds_between_two_looks_wait_for_the_next_one() -> None:
    values = np.random.Generator(np.random.PCG64(14)).standard_normal(40)
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
    assert AllOf([whole, weak]).decide() is None  # what disagrees is not left out
    assert AllOf([replace(whole, value=bad), replace(weak, value=good)]).decide() is False
    assert "which refutes nothing: mnist" in statements.finding(weak).wanted
    silent = replace(weak, value=estimate([0.4, -0.1, 0.6]))
    found = statements.finding(AllOf([whole, silent]))
    assert found.holds
    assert found.condition == f"not shown on on few records: {silent} ({weak.weak})"


def test_a_weak_run_supports_only_what_weakness_makes_harder() -> None:
    """A weaker run has lower scores, smaller differences and larger spreads; another setting is no weaker one."""
    score, gap = estimate([0.4, 0.41, 0.42]), estimate([0.01, 0.012, 0.011])
    cases: list[tuple[dict[str, Any], bool | None]] = [
        ({"low": 0.3, "pulled": SCORE}, True),
        ({"high": 0.5, "pulled": SCORE}, None),
        ({"low": 0.3, "high": 0.5, "pulled": SCORE}, None),
        ({"high": 0.5, "pulled": SPREAD}, True),
        ({"low": 0.3, "pulled": SPREAD}, None),
        ({"high": 0.5, "pulled": NOWHERE}, True),
    ]
    for limits, expected in cases:
        assert Between("x", score, weak="mnist: few", **limits).decide() is expected, limits
        assert Between("x", score, **limits).decide() is True, limits
    assert Between("x", gap, low=0, weak="mnist: few").decide() is True
    assert Between("x", gap, low=-0.05, high=0.05, weak="mnist: few").decide() is None
    assert Between("x", gap, low=-0.05, weak="mnist: few").decide() is True


def test_data_sets_that_point_opposite_ways_are_mixed_however_weak_they_are() -> None:
    good, bad = estimate([0.4, 0.41, 0.42]), estimate([-0.4, -0.41, -0.42])
    held, failed = Between("a", good, 0, dataset="mnist"), Between("b", bad, 0, dataset="svhn")
    for parts in (
        [held, failed],
        [held, replace(failed, weak="svhn: few")],
        [replace(held, weak="mnist: few"), failed],
    ):
        found = statements.finding(Alternative(AllOf(parts), 2))
        assert found.mixed
        assert found.holds is None
        assert found.observed.startswith(f"for it: {held}")
        assert f"against it: {failed}" in found.observed
    assert statements.finding(AllOf([failed, replace(failed, dataset="imdb")])).holds is False
    assert not AllOf([held, replace(failed, dataset="mnist")]).mixed()  # of one data set, a part that fails
    assert not AllOf([held, replace(failed, value=estimate([-0.4, 0.41, 0.0]))]).mixed()
    assert AnyOf([AllOf([held, failed]), held]).mixed() is False


@pytest.mark.parametrize("sets", [2, 4, 8])
def test_at_the_limit_mixed_is_rare(sets: int) -> None:
    """One data set has the opposite, all others are at the limit, where none has what is said: a wrong yes makes it."""
    stream, draws = np.random.Generator(np.random.PCG64(16)), 600
    values = stream.standard_normal((draws, sets, 3)) - np.array([50.0, *[0.0] * (sets - 1)])[:, None]
    found = [AllOf([Between("x", estimate(own), 0, dataset=f"{i}") for i, own in enumerate(t)]).mixed() for t in values]
    assert sum(found) / draws <= five_deviations(draws)


def test_a_limit_of_ours_is_told_with_the_value_at_which_the_verdict_flips() -> None:
    value = estimate([0.15, 0.16, 0.155, 0.15, 0.16])
    half = value.half(0.05)
    found = statements.finding(Between("gap", value, low=Limit(0.2, "significantly")))
    assert found.holds is False
    end = f"{value.mean + half:.3g}"
    assert found.observed.endswith(f'"significantly" is 0.2, a limit of ours: undecided below {end}')
    near = Between("gap", minus(value, estimate([0.15] * 5)), -Limit(0.05, "close"), Limit(0.05, "close"))
    assert '"close" is 0.05, a limit of ours: undecided below' in statements.finding(near).observed
    assert float(0.7 - Limit(0.05, "about")) == float(Limit(0.7, "x") - 0.05) == pytest.approx(0.65)
    assert float((0.7 - Limit(0.05, "about")).of(0.1)) == pytest.approx(0.6)


def test_seeds_that_would_do_are_those_of_the_chance_that_a_comparison_has() -> None:
    """For all of ten comparisons to hold, each has the whole chance of a wrong yes; for one of ten, a tenth."""
    value = Estimate(1.05, 0.5, 2.0, 3)
    near, far = Between("near", value, low=0), Between("far", Estimate(9.0, 1e-3, 2.0, 3), low=0)
    assert statements.needs(AllOf([near, *[far] * 9]))[0].seeds == 10
    assert statements.needs(AnyOf([near, *[replace(near, low=2.0)] * 9]))[0].seeds == 20


def test_weak_runs_at_chance_count_as_little_as_runs_that_were_not_made() -> None:
    good, bad = estimate([0.4, 0.41, 0.42]), estimate([-0.4, 0.41, 0.0])
    holds, open_ = Between("mnist", good, low=0, weak="mnist: few"), Between("svhn", bad, low=0, weak="svhn: few")
    mute = Between("imdb", good, low=0, undecidable="both at chance at every epsilon", weak="imdb: few")
    found = statements.finding(AllOf([holds, mute]))
    assert found.holds
    assert found.condition == f"mnist: few; not shown on imdb: {mute} ({mute.undecidable})"
    assert AllOf([holds, mute, open_]).decide() is None
    assert AllOf([mute, mute]).decide() is None
    assert AllOf([replace(holds, weak=""), replace(mute, weak="")]).decide() is None  # as long as the source's


def test_how_many_seeds_would_do() -> None:
    value = Estimate(1.0, 0.5, 2.0, 3)
    assert value.seeds_for(1.0, 0.05) == 20
    halves = [0.5 * np.sqrt(3 / n) * stats.t.ppf(1 - 0.025 * LOOKS[n], n - 1) for n in (10, 20)]
    assert halves[0] >= 1.0 > halves[1]
    assert value.seeds_for(1e-6, 0.05) is None
    assert Estimate(1.0, np.inf, 1.0, 1).seeds_for(1.0, 0.05) is None


@pytest.mark.parametrize(
    ("value", "more", "words"),
    [
        (Estimate(1.0, 1e-3, 9.0, 10), {"undecidable": "both at chance"}, ["both at chance"]),
        (estimate([0.4]), {}, ["one seed was run, at least 3 are needed"]),
        (estimate([0.4, -0.1, 0.6]), {}, ["the limit being 0", "seeds would do"]),
    ],
)
def test_undecided_says_why_and_how_many_seeds_would_do(
    value: Estimate, more: dict[str, Any], words: list[str]
) -> None:
    found = statements.finding(Between("x", value, low=0, **more))
    assert found.holds is None
    assert all(word in found.wanted for word in words)
    (need,) = found.needs
    assert bool(need.seeds) is not bool(need.missing)
    assert found.numbers[0].value == value.mean
