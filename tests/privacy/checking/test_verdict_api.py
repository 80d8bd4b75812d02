"""What a reviewer gets from a verdict: sentences, the event in words, a picture, JSON, and how to repeat the check."""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from schemas import CARD, VERDICT, misfits
from torch import Tensor

from tensorldp import privacy
from tensorldp.check.distinguishers import FLOATING, IDEAL, Scene, Statistic
from tensorldp.check.finding import Finding
from tensorldp.check.picture import ticks
from tensorldp.check.records import Categories, Numbers, Rows
from tensorldp.check.repeat import call_of, repeating
from tensorldp.check.verdict import Verdict, page
from tensorldp.check.words import in_words, is_known, ratio_in_words
from tensorldp.mechanisms import Ball, Box, make

pytestmark = pytest.mark.xdist_group("verdicts")  # its tests share what is slow to make
BIT, FOUR = Box(0.0, 1.0, (1,)), Box(0.0, 1.0, (4,))
QUICK: dict[str, Any] = {"minutes": 10.0, "rounds": 1, "starts": 1, "samples": 512}
STARTS = {**QUICK, "rounds": 2, "starts": None, "samples": 1000}
NAMES = {"privacy": privacy, "torch": torch, "Box": Box, "Ball": Ball, "make": make, "np": np, "Numbers": Numbers}


def one_sided(x: Tensor, generator: torch.Generator) -> Tensor:
    return x + torch.empty_like(x).exponential_(generator=generator)


def coin(x: Tensor, generator: torch.Generator) -> Tensor:
    """A bit that is flipped with the odds of an epsilon of 1."""
    flip = torch.rand(x.shape, generator=generator, dtype=x.dtype) < 1.0 / (1.0 + math.e)
    return torch.where(flip, 1.0 - x.round(), x.round())


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    return {
        "refuted": privacy.check(one_sided, domain=FOUR, claim_epsilon=1.0, **QUICK),
        "held": privacy.check(coin, domain=BIT, claim_epsilon=1.0, dtypes=(), **STARTS),
        "floats": privacy.check(make("laplace", epsilon=1.0, domain=BIT), floating_point=True, **QUICK),
        "mechanism": privacy.check(make("k-rr", epsilon=1.0, domain=BIT), **QUICK),
        "distance": privacy.check(
            one_sided, domain=FOUR, claim_epsilon_per_distance=1.0, metric="l1", dtypes=(), **QUICK
        ),
        "nothing": privacy.check(lambda x, _: torch.zeros_like(x), domain=BIT, claim_epsilon=1.0, **QUICK),
        "large": privacy.check(make("laplace", epsilon=50.0, domain=BIT), **QUICK),
    }


KINDS = ("refuted", "held", "floats", "mechanism", "distance", "nothing", "large")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_json_of_every_verdict_is_as_its_schema_says(kind: str, verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts[kind]
    found = json.loads(verdict.to_json())
    assert misfits(found, VERDICT) == []
    assert found["schema_version"] == 1
    assert found["summary"] == verdict.summary()
    assert found["refuted"] == (kind in ("refuted", "floats", "distance"))


def test_a_schema_refuses_what_is_missing_misspelt_or_of_another_version(verdicts: dict[str, Verdict]) -> None:
    found = json.loads(verdicts["refuted"].to_json())
    for wrong in ({"schema_version": 2}, {"refuted": "yes"}, {"colour": "red"}, {"rests_on": -1}):
        assert len(misfits({**found, **wrong}, VERDICT)) == 1, wrong
    assert misfits({key: value for key, value in found.items() if key != "notes"}, VERDICT)
    (finding, *_) = found["findings"]
    assert misfits({**found, "findings": [{**finding, "kind": "rumour"}]}, VERDICT)
    assert misfits(found, CARD)
    infinite = replace(verdicts["refuted"], epsilon_lower=math.inf)
    assert json.loads(infinite.to_json())["epsilon_lower"] == "inf"
    assert misfits(json.loads(infinite.to_json()), VERDICT) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_summary_has_three_to_five_sentences(kind: str, verdicts: dict[str, Verdict]) -> None:
    text = re.sub(r"`[^`]*`", "`code`", verdicts[kind].summary())
    assert 3 <= len(re.findall(r"\.(?= [A-Z]|$)", text)) <= 5, text
    assert text.startswith("It is claimed that ")
    assert "is refuted at confidence 0.95" in text or "is not refuted on 0 releases" in text or "not refuted" in text


def test_a_summary_says_the_claim_the_outcome_the_event_and_what_a_failed_attempt_means(
    verdicts: dict[str, Verdict],
) -> None:
    refuted, held, nothing = (verdicts[kind] for kind in ("refuted", "held", "nothing"))
    assert "It is claimed that one_sided has an (epsilon, delta) of (1, 0) for each record; " in refuted.summary()
    assert "; a record is 4 float64 numbers from 0 to 1." in refuted.summary()
    assert f"epsilon is at least {refuted.epsilon_lower:.4g} at delta 0" in refuted.summary()
    assert refuted.event
    assert f", {refuted.event}; its frequency is " in refuted.summary()
    assert "A true claim is called refuted with a chance of 0.05 at most." in refuted.summary()
    assert "What tells two records apart best: in one release, " in held.summary()
    assert f"An attempt that failed proves nothing: the check would have found {held.reach}." in held.summary()
    assert nothing.event == ""
    assert f"no bound on epsilon was had ({nothing.no_bound})" in nothing.summary()
    assert f"  event:   {refuted.event}" in str(refuted)


def test_frequencies_and_the_limit_are_those_of_the_two_records(verdicts: dict[str, Verdict]) -> None:
    found = Finding("guarantee", "", 9.0, 1.0, 0.1, hits=30, other_hits=10, trials=100, likelier="x'")
    assert found.shares == {"x": 0.1, "x'": 0.3}
    assert found.limit == pytest.approx(math.e * 0.1 + 0.1)
    assert replace(found, kind="locality").limit == 0.1  # where nothing may differ
    assert replace(found, epsilon=math.inf).limit == 1.0
    assert replace(found, trials=0).limit is None
    told = verdicts["refuted"].telling
    assert told is not None
    assert told.limit is not None
    assert told.shares[told.likelier] > told.limit
    held = verdicts["held"].closest
    assert held is not None
    assert (held.kind, held.epsilon, held.delta) == ("lower bound", 1.0, 0.0)
    assert held.shares[held.likelier] == pytest.approx(math.e / (1 + math.e), abs=0.08)


@pytest.mark.parametrize(
    ("statistic", "threshold", "above", "words"),
    [
        ("element 3", 1.0, True, "element 3 is 1 or more"),
        ("sum", 2.4, False, "the sum of the elements is 2.4 or less"),
        ("bit 2 of element 0", 1.0, True, "bit 2 of element 0 is 1"),
        ("bit 2 of element 0", 0.0, False, "bit 2 of element 0 is 0"),
        ("elements equal to zero", 1.0, True, "at least one of the elements equal 0"),
        ("elements equal to the low end", 0.0, False, "none of the elements equal the low end of the domain"),
        ("nearest element to x", math.log(0.5), False, "at least one element is within 0.5 of that of x"),
        ("nearest element to x'", math.log(1e-300), False, "at least one element is exactly at that of x'"),
        ("log distance to x", math.log(2.0), True, "at least one element is 2 or more away from that of x"),
        ("multiple of 2^k of element 1", -3.0, True, "element 1 is a multiple of 2^-3"),
        ("multiple of 2^k of element 1", -3.0, False, "element 1 is no multiple of 2^-2"),
        ("parity of the sum", 1.0, True, "the sum of the elements, in steps, is odd"),
        ("element 4 equals that of x", 0.0, False, "element 4 differs from x's"),
        ("something new", 1.5, True, 'the statistic "something new" is 1.5 or more'),
    ],
)
def test_an_event_is_said_in_words(statistic: str, threshold: float, above: bool, words: str) -> None:
    assert in_words(statistic, threshold, above) == words


@pytest.mark.parametrize(
    ("log", "above", "words"),
    [
        (math.log(2.0), True, "2 or more times as common under x as under x'"),
        (math.log(2.0), False, "at most 2 times as common under x as under x'"),
        (-math.log(2.0), True, "at most 2 times as common under x' as under x"),
        (-math.log(2.0), False, "2 or more times as common under x' as under x"),
        (0.0, True, "at least as common under x as under x'"),
        (0.0, False, "at least as common under x' as under x"),
    ],
)
def test_a_log_ratio_is_said_as_what_it_means(log: float, above: bool, words: str) -> None:
    assert ratio_in_words(log, above) == words


def statistics() -> dict[str, tuple[Statistic, Any]]:
    """Every statistic of the search on releases of four kinds, by its name."""
    source = np.random.default_rng(0)
    noise = source.laplace(size=(2, 2000, 4))
    whole = source.integers(0, 3, size=(2, 2000, 4)).astype(np.float64)
    whole[0, :, 1] = (whole[0, :, 0] == 1.0) * 1.0
    strange = noise.copy()
    strange[0, ::3, 0], strange[1, ::4, 1] = math.inf, -math.nan
    mixed = noise.copy()
    mixed[..., 0] = whole[..., 0]
    mixed[0, :, 1] += 3.0 * mixed[0, :, 0]
    mixed[0, :, 2] -= 2.0 * mixed[0, :, 0]
    x, x_prime = np.array([0.0, 1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0, 1.0])
    scene = Scene(x, x_prime, 0.0, 1.0, likelihood=lambda y: y.sum(axis=1))
    found: dict[str, tuple[Statistic, Any]] = {}
    for kind, (mine, other) in {"noise": noise + 0.5, "whole": whole, "strange": strange, "mixed": mixed}.items():
        for family in (*IDEAL, *FLOATING):
            if kind != "strange" or family.raw:
                found |= {name: (column, mine) for name, column in family.statistics(scene, mine, other).items()}
    return found


def test_every_statistic_of_the_search_has_words_of_its_own() -> None:
    names = set(statistics())
    assert [name for name in names if not is_known(name)] == []
    wanted = {"decision tree", "kernel discriminant", "linear discriminant within each value of element 0"}
    wanted |= {"values of all elements", "parity of the sum", "place of the least", "element 0 modulo 3"}
    wanted |= {"bits of element 0 where not finite", "exponent and granularity of 4 elements"}
    assert wanted <= names
    assert any(name.startswith("the most telling value within each value of element") for name in names)
    learned = (
        "discriminant",
        "tree",
        "value",
        "modulo",
        "medians",
        "whole release",
        "narrowest",
        "bits of",
        "exponent",
    )
    for name in names:
        assert ("learned" in in_words(name, 0.5, True)) == (any(word in name for word in learned)), name


MEANINGS: dict[str, Callable[[Any, float], Any]] = {
    "sum": lambda y, t: y.sum(axis=1) >= t,
    "nearest element to x": lambda y, t: (abs(y - np.array([0.0, 1.0, 0.0, 0.0])) >= math.exp(t)).all(axis=1),
    "log distance to x": lambda y, t: (abs(y - np.array([0.0, 1.0, 0.0, 0.0])) >= math.exp(t)).any(axis=1),
    "spread": lambda y, t: y.std(axis=1) >= math.exp(t),
    "place of the largest": lambda y, t: y.argmax(axis=1) >= t,
    "smallest step": lambda y, t: (abs(np.diff(y, axis=1)) >= math.exp(t)).all(axis=1),
    "multiple of 2^k of element 2": lambda y, t: np.mod(y[:, 2], 2.0**t) == 0.0,
    "element 2": lambda y, t: y[:, 2] >= t,
    "elements equal to the high end": lambda y, t: (abs(y - 1.0) < 1e-8).sum(axis=1) >= t,
}


@pytest.mark.parametrize("name", MEANINGS)
def test_words_say_what_the_statistic_computes(name: str) -> None:
    column, y = statistics()[name]
    values = column(y)
    threshold = float(np.quantile(values, 0.7))
    agree = (values >= threshold) == MEANINGS[name](y, threshold)
    assert agree.mean() > 0.999  # but for ties by rounding
    assert (values >= threshold).mean() > 0.0


@pytest.mark.parametrize("kind", ["refuted", "held", "floats", "mechanism", "distance"])
def test_a_picture_is_an_svg_with_both_frequencies_the_limit_and_numbers(
    kind: str, verdicts: dict[str, Verdict]
) -> None:
    verdict = verdicts[kind]
    told = verdict.telling
    assert told is not None
    root = ET.fromstring(verdict.picture())
    width, height = (float(word) for word in root.attrib["viewBox"].split()[2:])
    texts = [str(one.text) for one in root.iter("{http://www.w3.org/2000/svg}text")]
    for share in told.shares.values():
        assert f"{share:.4g}" in texts
    assert any(f"what the claim allows under {told.likelier}" in text for text in texts)
    assert ("Share of releases by" in " ".join(texts)) == bool(told.histogram)
    assert verdict.event in root.attrib["aria-label"]
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        left, top = float(box.get("x", "0")), float(box.get("y", "0"))
        assert 0.0 <= left <= left + float(box.attrib["width"]) <= width + 0.01
        assert 0.0 <= top <= top + float(box.attrib["height"]) <= height + 0.01


def test_bars_are_as_long_as_the_frequencies(verdicts: dict[str, Verdict]) -> None:
    told = verdicts["held"].telling
    assert told is not None
    found = re.findall(
        r'<rect class="(first|second)" x="64.00" y="\S+" width="(\S+)" height="22.00"/>', verdicts["held"].picture()
    )
    lengths = {kind: float(width) for kind, width in found}
    assert lengths["first"] / lengths["second"] == pytest.approx(told.shares["x"] / told.shares["x'"], rel=1e-3)


def test_the_page_has_the_picture_in_place_and_what_has_no_event_has_none(verdicts: dict[str, Verdict]) -> None:
    text = page(verdicts["refuted"])
    assert text.count('<svg class="laws"') == sum(finding.trials > 0 for finding in verdicts["refuted"].findings)
    assert f"<p>The event: {verdicts['refuted'].event}.</p>".replace("'", "&#39;") in text
    assert "What tells two records apart best" in page(verdicts["held"])
    assert verdicts["nothing"].picture() == ""
    assert "<svg" not in page(verdicts["nothing"])


def test_axes_have_round_numbers() -> None:
    assert ticks(0.0, 1.0) == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(-4.1, 1.2) == pytest.approx([-4.0, -2.0, 0.0])
    assert ticks(3.0, 3.0) == [3.0]
    assert ticks(0.0, 4.2e-5) == pytest.approx([0.0, 1e-5, 2e-5, 3e-5, 4e-5])


@pytest.mark.parametrize("kind", ["refuted", "floats", "held"])
def test_the_call_repeats_the_verdict(kind: str, verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts[kind]
    known = {**NAMES, "one_sided": one_sided, "coin": coin}
    again = eval(re.sub(r"\b[\w.]*test_verdict_api\.", "", verdict.command), known)
    assert replace(again, seconds=0.0, attempts=()) == replace(verdict, seconds=0.0, attempts=())
    assert [one.outcome for one in again.attempts] == [one.outcome for one in verdict.attempts]
    assert not verdict.by_clock


def test_a_verdict_that_the_clock_may_change_says_so() -> None:
    verdict = privacy.check(one_sided, domain=BIT, claim_epsilon=1.0, minutes=0.5, seed=torch.Generator())
    assert verdict.by_clock
    assert f"seed={verdict.seed}," in verdict.command
    assert "a machine of another speed may draw more or fewer releases" in verdict.summary()


@pytest.mark.parametrize(
    "value",
    [
        Ball(2.0, (3,)),
        Numbers(Box(0.0, 9.0, (2,)), integer=True),
        Categories(["No", "Yes"]),
        Rows(age=range(0, 121), income=(0.0, 1e5), kind=["a", "b"]),
        (torch.zeros(2), torch.ones(2)),
        np.float64(0.5),
        make("gaussian-analytic", epsilon=1.0, domain=BIT, delta=1e-6),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_call_is_source_that_makes_its_arguments_again(value: Any) -> None:
    from tensorldp.check.records import Column

    known = {
        **NAMES,
        "Categories": Categories,
        "Rows": Rows,
        "Column": Column,
        "privacy": argparse.Namespace(check=dict),
    }
    again = eval(call_of("f", value=value).replace("'f', ", ""), known)["value"]
    assert repr(again) == repr(value.item() if isinstance(value, np.generic) else value)


def test_a_call_names_functions_by_their_modules_and_marks_what_cannot_be_written() -> None:
    class Own:
        def release(self) -> None:
            """Nothing."""

    class Failing:
        def __repr__(self) -> str:
            raise RuntimeError

    assert call_of(torch.zeros_like).startswith("privacy.check(")
    assert call_of(math.floor, metric=np.linalg.norm) == "privacy.check(math.floor, metric=numpy.linalg.norm)"
    assert call_of(Own(), pair=torch.zeros(5000)) == (
        "privacy.check(<an object of Own>, pair=<tensor of shape (5000,)>)"
    )
    assert call_of(Failing()) == "privacy.check(<an object of Failing>)"
    assert call_of(Own().release) == "privacy.check(<a method release of Own>)"
    assert call_of(partial(math.pow, 2.0)) == "privacy.check(functools.partial(math.pow, 2.0))"
    assert call_of([Own()], call="<lambda>") == "privacy.check([<an object of Own>], call='<lambda>')"


def test_a_shell_command_has_the_settings_that_a_run_had() -> None:
    arguments = ["check", "my code:f", "--seed", "unpredictable", "--out", "folder", "--json", "--minutes=1"]
    settings = {"seed": 7, "minutes": 1.0, "rounds": None, "timing": True, "dtypes": ["float32"], "jobs": False}
    command = repeating(arguments, settings)
    assert command == "tensorldp check 'my code:f' --seed 7 --minutes 1 --timing --dtypes float32"
    assert shlex.split(command)[2] == "my code:f"
    assert repeating(
        ["check", "a", "--dtypes", "float32", "float64", "--call", "batch"], {"dtypes": ["float32", "float64"]}
    ) == ("tensorldp check a --call batch --dtypes float32 float64")
    assert repeating(["check", "a", "--out", "b"], without={}) == "tensorldp check a --out b"


def test_a_verdict_with_a_command_of_the_shell_shows_that(verdicts: dict[str, Verdict]) -> None:
    command = repeating(["check", "a<b:f"], {"seed": 3})
    verdict = replace(verdicts["refuted"], command=command)
    assert f"It is repeated by `{command}`." in verdict.summary()
    assert "tensorldp check &#39;a&lt;b:f&#39; --seed 3" in page(verdict)
