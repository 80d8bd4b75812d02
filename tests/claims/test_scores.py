"""The builders that claims about runs share: comparisons of scores, readings, and what nothing decides."""

import math

import pytest
from invented import Draw, World, grid_of

from tensorldp_papers.claim_registry import CLAIMS
from tensorldp_papers.claims.base import Claim, NotRun, load_checks, not_checkable, verdict
from tensorldp_papers.claims.fairness import Scores, on_each_dataset, settle
from tensorldp_papers.claims.statements import Statement

STUDY, METRIC = "tldp_type1", "weighted_f1"
MEANS = {"laplace": (0.3, 0.5, 0.7), "gaussian": (0.7, 0.7, 0.7)}  # at the epsilons 1, 10 and 100


def drawn(epsilons: tuple[float, ...] = (1, 10, 100)) -> Draw:
    cells = grid_of(STUDY, ["mnist"], MEANS, epsilons, model="mobilenet_v2")
    return World(cells, lambda c: {METRIC: MEANS[c.mechanism][round(math.log10(float(c.epsilon)))]}).draw(1)


def scores(epsilons: tuple[float, ...] = (1, 10, 100)) -> Scores:
    (made,) = on_each_dataset(drawn(epsilons), STUDY, METRIC, tuple(MEANS))
    return made


def test_comparisons_of_scores_hold_where_the_means_have_them_and_fail_where_not() -> None:
    made = scores()
    first, second = "gaussian", "laplace"
    holding: list[Statement] = [
        made.above(first, second),
        made.above(second, first, by=-0.3),
        made.within(first, second, 0.02, [100]),
        made.at_largest(second, 0.65, 0.75),
        made.change("change", first, -0.02, 0.02),
        made.change("last step", second, 0.15, 0.25, start=-2),
        made.rises(second),
        *made.at_each(second, low=0.25).values(),
    ]
    failing: list[Statement] = [
        made.above(second, first),
        made.within(first, second, 0.02, [10]),
        made.at_largest(second, 0.75),
        made.change("change", second, -0.02, 0.02),
        made.at_each(second, low=0.4)[1],
    ]
    assert [part.decide() for part in holding] == [True] * len(holding)
    assert [part.decide() for part in failing] == [False] * len(failing)


def test_what_changes_with_epsilon_needs_two_of_them() -> None:
    with pytest.raises(NotRun, match="mnist at two epsilons"):
        scores((1,)).rises("laplace")
    with pytest.raises(NotRun, match="mnist at two epsilons"):
        scores((1,)).change("change", "laplace")


def test_arms_of_one_mechanism_are_told_apart_by_names_of_ones_own() -> None:
    arms = {"one": {"mechanism": "laplace"}, "other": {"mechanism": "gaussian"}}
    (made,) = on_each_dataset(drawn(), STUDY, METRIC, arms)
    assert made.above("other", "one").name == "other - one on mnist"
    with pytest.raises(NotRun, match="mvg"):
        on_each_dataset(drawn(), STUDY, METRIC, ("laplace", "mvg"))


def test_the_reading_that_alone_holds_is_the_condition_before_the_data_sets_that_were_not_run() -> None:
    made, evidence = scores(), drawn()
    readings: dict[str, Statement] = {"read so": made.above("gaussian", "laplace")}
    both = readings | {"read otherwise": made.above("laplace", "gaussian")}
    assert settle(evidence, both, datasets=["mnist", "svhn"]).condition == "read so; svhn not run"
    assert settle(evidence, both, condition="first", then="last").condition == "first; read so; last"
    assert settle(evidence, readings | {"read otherwise": made.above("gaussian", "laplace")}).condition == ""
    assert settle(evidence, {"read otherwise": both["read otherwise"]}).holds is False


def test_what_nothing_decides_is_registered_with_its_reason() -> None:
    load_checks()
    claim = Claim("B001", "mine", "docs", "an opinion", "descriptive")
    not_checkable(__name__, {claim: ("agreement", "an opinion is no number")})
    try:
        registered = load_checks()["B001"]
        found = registered.check(drawn())
        assert (registered.expected, found.observed) == ("agreement", "an opinion is no number")
        assert verdict(claim, found) == "not checkable"
    finally:
        CLAIMS.remove("B001")
