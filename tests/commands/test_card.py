"""Cards: what is said of honest mechanisms, of lies by kind, and of functions."""

from __future__ import annotations

import fcntl
import json
import math
import multiprocessing
import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from schemas import CARD, misfits

from tensorldp.calibration import true_epsilon
from tensorldp.check.verdict import Verdict
from tensorldp.commands.main import exit_code
from tensorldp.errors import InputError
from tensorldp.mechanism_table import TABLE
from tensorldp.mechanisms import Box, make
from tensorldp_papers.card import own, tasks
from tensorldp_papers.card.card import Card
from tensorldp_papers.card.gallery import documented, gallery
from tensorldp_papers.card.label import SHUFFLED_PEOPLE, label
from tensorldp_papers.card.leaks import leak
from tensorldp_papers.card.page import write_refusal
from tensorldp_papers.card.price import others_at, price
from tensorldp_papers.card.tasks import FEATURES, Score
from tensorldp_papers.data.own import OwnDataset
from tensorldp_papers.public.means import nearest_mean
from tensorldp_papers.run.records import read_records

LIES = '''
"""Mechanisms that promise more than they keep, and a function."""

import torch

from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.mechanisms import Mechanism
from tensorldp.randomness import add_laplace


class Noisy(Mechanism):
    """Laplace noise whose curve is that of `claimed` elements, with `spent` times its budget spent."""

    domain_kind = "box"
    claimed, spent = None, 1.0

    @property
    def scale(self):
        return self.domain.width / (self.epsilon * self.spent)

    def _randomize(self, x, generator):
        return add_laplace(x, self.scale, generator)

    def squared_error(self):
        return 2 * self.size * self.scale**2

    def curve(self):
        return LaplaceCurve(self.epsilon, self.claimed or self.size)

    def worst_pair(self):
        return self.domain.constant(self.domain.low), self.domain.constant(self.domain.high)


class PerElement(Noisy):
    """Its label is of one element, and its curve says so."""

    name = "per-element"


class OneElement(Noisy):
    """Its curve is of one element of the record."""

    name, claimed = "one-element", 1


class OneBlock(Noisy):
    """Its curve is of two elements of the record."""

    name, claimed = "one-block", 2


class TwoReleases(Noisy):
    """It spends its budget twice."""

    name, spent = "two-releases", 2.0


class PerBatch(Noisy):
    """It spends its budget once for a batch: each of four records gets all of it."""

    name, spent = "per-batch", 4.0


def clear(x, generator):
    return x + 0.01 * torch.rand(x.shape, generator=generator, dtype=x.dtype)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a module of lies."""
    (tmp_path / "lies_of_cards.py").write_text(LIES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def card(folder: Path, target: str, *more: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON of a card without tasks."""
    code = exit_code(["card", target, "--box", "0", "16", "--minutes", "0.05", "--datasets", "--out", "out", *more])
    (path,) = (folder / "out").glob("*.json") if "--out" not in more else (folder / "cards" / f"{target}.json",)
    found = json.loads(path.read_text())
    assert misfits(found, CARD) == []
    return code, found


def test_the_label_has_what_the_curve_guarantees_for_three_shapes_many_uses_and_a_shuffler() -> None:
    lines = label(lambda domain: make("laplace", epsilon=2.0, domain=domain), Box(0, 16, (8, 8)))
    assert [line.elements for line in lines] == [64, 784, 3072]
    assert [line.pure for line in lines] == pytest.approx([2.0] * 3)
    assert all(line.exact and line.loose <= 2.0 for line in lines)
    assert all(line.uses[0] <= 20.0 and line.uses[0] < line.uses[1] for line in lines)
    assert all(line.shuffled is not None and line.shuffled < 0.2 for line in lines), SHUFFLED_PEOPLE
    (first, *_) = label(lambda domain: make("duchi", epsilon=1.0, domain=domain), Box(0, 16, (1,)))
    assert first.pure == pytest.approx(1.0)
    (line, *_) = label(lambda domain: make("k-rr", epsilon=1.0, domain=domain), Box(0, 0.5, (2,)))
    assert "whole numbers" in line.why


@pytest.mark.slow
def test_a_label_of_one_element_is_said_to_be_of_784_for_an_image(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = card(folder, "lies_of_cards:PerElement", "--epsilon", "1", "--json")
    assert code == 0
    printed = json.loads(capsys.readouterr().out)
    assert found == {**printed, "pictures": found["pictures"], "seal": found["seal"]}
    assert str(found["sentence"]).startswith("PerElement at ε = 1 guarantees a record of 8 × 8 an ε of 64")
    assert found["word"] == "not refuted, but the record has 64"  # its author says that the label is of a record
    assert [leak["name"] for leak in found["leaks"]] == ["PerElement", "laplace"]  # by its class: it is not registered
    assert [line["pure"] for line in found["label"]] == pytest.approx([64, 784, 3072])
    shown = (folder / "out" / "PerElement.svg").read_text()
    assert all(f">{number}</text>" in shown for number in ("1", "64", "784", "3,072"))
    _, *bars = re.findall(r"M 171\S* \S+ +L (\S+) \S+ +L \S+ \S+ +L 171", shown)  # behind them the panel
    lengths = [float(end) - 171 for end in bars]
    assert [3072 * length / lengths[-1] for length in lengths] == pytest.approx([1, 64, 784, 3072], abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("lie", ["OneElement", "OneBlock", "TwoReleases", "PerBatch"])
def test_a_lie_is_named_in_the_sentence(folder: Path, lie: str) -> None:
    minutes = ("--minutes", "2")  # a check ends when it has refuted, however slow the machine is
    code, found = card(folder, f"lies_of_cards:{lie}", "--epsilon", "1", "--shape", "2", "4", *minutes)
    assert code == 1
    assert ", is refuted" in str(found["sentence"]) or " and is refuted" in str(found["sentence"])
    assert "reaches" not in str(found["sentence"])


def test_a_card_of_no_privacy_lacks_what_laplace_would_leak(folder: Path) -> None:
    code, found = card(folder, "none", "--epsilon", "inf")
    assert code == 0
    assert [leak["name"] for leak in found["leaks"]] == ["none"]
    assert any(text.startswith("what leaks with laplace: epsilon of laplace must be") for text in found["missing"])


def test_a_function_has_a_card_by_its_claim(folder: Path) -> None:
    code, found = card(folder, "lies_of_cards:clear", "--claim-epsilon", "1", "--minutes", "2")
    assert code == 1
    assert str(found["sentence"]).startswith("clear is said to have an ε of 1 at δ = 0 and is refuted")
    assert found["missing"]
    assert exit_code(["card", "lies_of_cards:clear", "--datasets"]) == 2  # what is it said to have?


@pytest.mark.slow
def test_the_page_needs_no_network_and_the_picture_has_the_size_that_is_shared(folder: Path) -> None:
    assert card(folder, "tldp-l", "--epsilon", "1")[0] == 0
    text = (folder / "out" / "tldp-l.html").read_text()
    assert "http" not in text.replace("http-equiv", "")
    assert text.count("<h1>") == 1
    with Image.open(folder / "out" / "tldp-l.png") as image:
        assert image.size == (1200, 630)
        assert np.asarray(image.convert("L")).std() > 20  # not blank
    svg = (folder / "out" / "tldp-l.svg").read_text()
    assert 'width="900pt" height="472.5pt"' in svg  # 1,200 x 630 pixels
    assert "prefers-color-scheme: dark" in svg
    assert svg.count("<image") == 9  # three digits, and what two mechanisms make of them


@pytest.mark.slow
def test_a_card_says_whose_digits_it_lacks(folder: Path) -> None:
    assert card(folder, "randomized-response", "--epsilon", "1", "--box", "0", "1")[0] == 0
    svg = (folder / "out" / "randomized-response.svg").read_text()
    assert "cannot release" in svg
    assert svg.count("<image") == 6


def test_prices_are_those_of_the_closed_form_at_one_guarantee() -> None:
    mechanism = make("tldp-l", epsilon=1.0, domain=Box(0, 1, (4,)))
    own = price("tldp-l", mechanism.privatize, mechanism.domain, mechanism)
    laplace, *_ = others_at(mechanism, 1e-5)
    assert laplace.nominal == pytest.approx(4.0, rel=1e-3)
    assert laplace.error == pytest.approx(math.sqrt(2.0), rel=1e-3)  # scale 4 / 4
    assert not laplace.measured
    assert laplace.seconds > 0
    assert 7 < laplace.memory < 50  # a million doubles are 8 MB
    assert own.error <= laplace.error


@pytest.mark.parametrize("name", ["tldp-l", "tldp-l-w", "tldp-g", "privunit"])
def test_a_written_price_is_of_a_mechanism_that_guarantees_no_less(name: str) -> None:
    mechanism = make(name, epsilon=1.3, domain=Box(0, 1, (4,)))
    wanted, others = true_epsilon(mechanism, 0.1), [vars(other) for other in others_at(mechanism, 0.1)]
    for other in json.loads(json.dumps(others)):
        made = make(other["name"], epsilon=other["nominal"], domain=Box(0, 1, (4,)), delta=0.1)
        assert 0.99 * wanted <= true_epsilon(made, 0.1) <= wanted


def dies_elsewhere(values: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
    """Its values, but the death of a process that is not the first."""
    if multiprocessing.parent_process() is not None:
        os._exit(1)
    return values


def test_a_release_that_kills_its_process_has_a_price_without_time() -> None:
    found = price("dies", dies_elsewhere, Box(0, 1, (4,)))
    assert found.error == 0.0
    assert math.isnan(found.seconds)
    assert math.isnan(found.memory)


@pytest.mark.parametrize(
    ("release", "error"),
    [
        (lambda x, g: x.mul_(0.0), 1.0),  # it may write into what it is given
        (lambda x, g: (x.numpy() * 0.5).astype(np.float32), 0.5),
        (lambda x, g: x > 0.5, 0.0),
        (lambda x, g: x[:, :1], math.nan),
        (lambda x, g: x.sum(dim=1), math.nan),
        (lambda x, g: x.to(torch.complex64), math.nan),
    ],
)
def test_a_function_has_the_error_of_what_it_released_where_that_is_like_a_record(release: Any, error: float) -> None:
    found = price("a function", release, Box(0, 1, (4,)))
    assert found.error == pytest.approx(error, nan_ok=True)
    assert found.seconds >= 0.0


def slow(values: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
    """The sum of each record, a millisecond for each."""
    time.sleep(0.001 * len(values))
    return values.sum(dim=tuple(range(1, values.dim())))


def test_a_price_looks_at_the_clock_and_says_of_how_many_releases_it_is() -> None:
    started = time.perf_counter()
    found = price("slow", lambda x, g: slow(x, g), Box(0, 1, (1,)), seconds=0.4)  # in this process
    assert time.perf_counter() - started < 3.0  # of all of a million it would be 1,000
    assert 1 < found.releases < 400
    assert found.seconds == pytest.approx(1000.0, rel=0.5)
    assert found.measured
    assert found.error == 0.0  # of a single number without a shape of its own
    assert [lack.split(":")[0] for lack in found.lacks] == ["memory"]


def test_a_card_of_a_function_names_all_that_it_could_not_measure(
    folder: Path,
) -> None:
    text = "def total(x, generator):\n    return x.sum(dim=(1, 2))\n"
    (folder / "functions_of_cards.py").write_text(text)
    _, found = card(folder, "functions_of_cards:total", "--claim-epsilon", "100", "--shape", "2", "2")
    assert found["price"][0]["error"] is None
    said = " ".join(found["missing"])
    assert "total, error: a release is float64 of shape (), and a record has the shape (2, 2)" in said
    assert all(part in said for part in ("the label: ", "price of others: ", "what leaks: "))


@pytest.mark.slow
def test_a_function_of_categories_is_priced_as_the_check_calls_it(folder: Path) -> None:
    text = "import random\n\n\ndef any_of(x, k):\n    return random.randrange(k)\n"
    (folder / "categories_of_cards.py").write_text(text)
    options = ("--option", "k=8", "--categories", "8", "--claim-epsilon", "1")
    code, found = card(folder, "categories_of_cards:any_of", *options)
    assert code == 0
    assert found["price"][0]["seconds"] > 0.0
    assert "any_of, error: records are 8 categories, not numbers" in " ".join(found["missing"])


def test_more_people_are_named_from_releases_that_guarantee_less() -> None:
    def named(epsilon: float) -> float:
        return leak(lambda box: make("laplace", epsilon=epsilon, domain=box)).named

    assert named(1.0) < 0.1
    assert named(1e4) == 1.0


def test_a_sentence_says_no_more_than_was_found() -> None:
    verdict = Verdict("m", "m", False, 0.0, 0.0, (), (), 0.95, False, 0, 0, 0.0)

    def said(*scores: Score, shape: tuple[int, ...] = (8, 8)) -> str:
        lines = tuple(label(lambda domain: make("k-rr", epsilon=1.0, domain=domain), Box(0, 16, shape)))
        return Card("M", "m", 1.0, "element", None, lines, verdict, (), (), scores, (), 0.0).sentence

    own, same = Score("digits", "m", 1.0, 64.0, 0.9, 0.8, 1.0), Score("digits", "laplace", 64.0, 64.0, 0.91, 0.9, 0.92)
    assert said() == "M at ε = 1 guarantees a record of 8 × 8 an ε of 64 and is not refuted."
    assert said(shape=(3,)) == "M at ε = 1 guarantees a record of 3 numbers an ε of 3 and is not refuted."
    assert "guarantees a record of 48 × 64 an ε of 3,072 and" in said(shape=(48, 64))
    assert said(own).endswith("is not refuted, and reaches 0.90 on digits.")
    assert said(own, same).endswith("and reaches 0.90 on digits, as Laplace does with the same guarantee.")
    better = Score("digits", "laplace", 64.0, 64.0, 0.95, 0.9, 1.0)
    assert said(own, better).endswith("reaches 0.90 on digits, where Laplace reaches 0.95 with the same guarantee.")
    assert "Laplace" not in said(own, Score("digits", "laplace", 1.0, 1.0, 0.9, 0.9, 0.9))  # another guarantee
    bad = Score("digits", "m", 1.0, 64.0, 0.05, 0.0, 0.1), Score("digits", "laplace", 64.0, 64.0, 0.04, 0.0, 0.1)
    assert said(*bad).endswith("leaves a network at chance on digits, as Laplace does with the same guarantee.")
    assert said(Score("cifar10", "m", 1.0, 3072.0, 0.4, 0.3, 0.5)).endswith("0.40 on CIFAR-10 (an ε of 3,072).")
    assert "MNIST (an ε of 784)" in said(own, Score("mnist", "m", 1.0, 784.0, 0.9, 0.9, 0.9))


@pytest.mark.parametrize(
    ("unit", "scores", "word"),
    [
        ("element", (), "not refuted, but its unit is an element: the record has 64"),
        ("record", (), "not refuted, but the record has 64"),
        ("element", (784.0,), "not refuted, but its unit is a pixel: the image has 784"),
        ("record", (1.0,), "not refuted"),
    ],
)
def test_the_verdict_is_in_the_words_of_its_unit(unit: str, scores: tuple[float, ...], word: str) -> None:
    lines = tuple(label(lambda domain: make("k-rr", epsilon=1.0, domain=domain), Box(0, 16, (8, 8))))
    tasks = tuple(Score("mnist", "m", 1.0, true, 0.9, 0.8, 1.0) for true in scores)
    for refuted in (False, True):
        verdict = Verdict("m", "m", refuted, 0.0, 0.0, (), (), 0.95, False, 0, 0, 0.0)
        found = Card("M", "m", 1.0, unit, None, lines, verdict, (), (), tasks, (), 0.0)
        assert found.word == ("refuted" if refuted else word)


def test_a_remark_says_what_privunit_reaches_where_it_is_known() -> None:
    verdict = Verdict("m", "m", False, 0.0, 0.0, (), (), 0.95, False, 0, 0, 0.0)

    def remark(*scores: Score) -> str:
        lines = tuple(label(lambda domain: make("k-rr", epsilon=1.0, domain=domain), Box(0, 16, (8, 8))))
        return Card("M", "m", 1.0, "element", None, lines, verdict, (), (), scores, (), 0.0).remark

    own, same = Score("digits", "m", 1.0, 64.0, 0.9, 0.8, 1.0), Score("digits", "privunit", 64.0, 64.0, 0.93, 0.9, 1.0)
    features = Score("digits", "privunit", 1.0, 1.0, 0.71, 0.7, 0.8, FEATURES)
    assert remark(same, features) == ""
    assert remark(own) == ""
    assert remark(own, same) == "There PrivUnit reaches 0.93 with the same guarantee."
    assert remark(own, same, features) == (
        "There PrivUnit reaches 0.93 with the same guarantee and 0.71 with an ε of 1 on public features."
    )
    chance = Score("digits", "privunit", 64.0, 64.0, 0.05, 0.0, 0.1)
    assert remark(own, chance, features) == (
        "There PrivUnit is at chance with the same guarantee and reaches 0.71 with an ε of 1 on public features."
    )


@pytest.mark.slow
@pytest.mark.usefixtures("forks")
def test_tasks_are_run_once_for_many_cards(folder: Path) -> None:
    from tensorldp_papers.card.command import WORKFLOW
    from tensorldp_papers.card.tasks import FEATURES, IMAGES, scores

    asked: Any = (WORKFLOW, folder / "runs", "digits", make("gaussian", epsilon=1.0, domain=Box(0, 1, (4,))), [], 1)
    first = scores(*asked)
    made = {path: path.stat().st_mtime_ns for path in (folder / "runs" / "results" / "cells").rglob("*.json")}
    second = scores(*asked)
    assert made
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert first == second
    found = {(score.mechanism, score.nominal, score.released): score for score in first}
    true = found["gaussian", 1.0, IMAGES].true  # of its plain arm: the study has others of this mechanism
    assert true == pytest.approx(make("gaussian", epsilon=1.0, domain=Box(0, 16, (8, 8))).guarantee(1e-5).epsilon)
    relabelled = float(f"{true:.6g}")
    beside = {(name, epsilon, IMAGES) for name in ("laplace", "privunit") for epsilon in (1.0, relabelled)}
    assert set(found) == {("none", math.inf, IMAGES), ("gaussian", 1.0, IMAGES), ("privunit", 1.0, FEATURES), *beside}
    assert found["laplace", relabelled, IMAGES].true == pytest.approx(true, rel=1e-5)
    assert found["privunit", 1.0, FEATURES].true == pytest.approx(1.0)
    assert found["none", math.inf, IMAGES].mean > 0.3


@pytest.fixture
def trees(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table with words as classes and with missing values, and a short ladder."""
    monkeypatch.setattr("tensorldp_papers.card.own.LADDER", (1.0, 16.0))
    rng = np.random.default_rng(3)
    elm = rng.random(600) < 0.6
    table = pd.DataFrame(
        rng.normal(8 + 4 * elm[:, None] * [1, -1, 0], 2).clip(0, 16), columns=["length", "width", "vein"]
    )
    table = table.round(2).assign(tree=np.where(elm, "elm", "oak")).astype(object)
    table.loc[[3, 5], "vein"], table.loc[[7, 8, 9], "tree"] = "", ""
    table.to_csv(folder / "trees.csv", index=False)
    return folder


@pytest.mark.slow
def test_a_card_of_own_data_is_about_their_record_and_beside_the_same_guarantee(trees: Path) -> None:
    given = ["tldp-l", "--data", "trees.csv", "--label", "tree", "--epsilon", "4", "--box", "0", "16"]
    assert exit_code(["card", *given, "--minutes", "0.05", "--out", "out"]) == 0
    found = json.loads((trees / "out" / "tldp-l-trees.json").read_text())
    assert found["sentence"].startswith("TLDP-L at ε = 4 guarantees a record of 3 numbers ")
    assert "28 × 28" not in (trees / "out" / "tldp-l-trees.html").read_text()
    assert [line["elements"] for line in found["label"]] == [3]
    data, bought = found["data"], {(b["mechanism"], b["learner"], b["labels"]): b for b in found["bought"]}
    assert sum(data["records"].values()) == 597
    assert data["largest"] == "elm"
    assert any("3 of 600 records have no label" in told for told in data["told"])
    assert any("2 values are missing, in 2 of 597 records" in told for told in data["told"])
    private = {key: one for key, one in bought.items() if key[0] != "none"}
    assert {key[0] for key in private} == {"tldp-l", "laplace", "privunit"}
    assert all(one["true"] == 12.0 for one in private.values())  # three elements of 4
    assert all(one["low"] <= one["mean"] <= one["high"] for one in bought.values())
    assert bought["none", "class means", False]["mean"] > data["share"] + 0.1
    assert bought["privunit", "class means", False]["beats"] <= 16.0
    assert "Private records beat the largest class, elm, from ε = " in found["remark"]
    with Image.open(trees / "out" / "tldp-l-trees.png") as image:
        assert image.size == (1200, 630)


def test_an_accuracy_without_privacy_is_that_of_class_means_of_unit_rows(trees: Path) -> None:
    entry = OwnDataset.model_validate({"path": "trees.csv", "label": "tree", "range": [0, 16], "missing": "middle"})
    data = own.prepare("trees", entry, trees / "data")
    train, test = (read_records(trees / "data" / "splits" / f"{split}.safetensors") for split in ("train", "test"))
    rows = [torch.nn.functional.normalize(split.x / 8 - 1) for split in (train, test)]
    expected = nearest_mean(rows[0], train.y, 2).accuracy(rows[1], test.y)
    assert own._scores(data, "none", math.inf, {}) == pytest.approx([expected] * 3, abs=0.01)  # kept as float16
    assert data.share == pytest.approx(float((test.y == 0).double().mean()))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--data", "none.csv", "--label", "tree"], "--data = 'none.csv': there is no such file"),
        (["--data", "trees.csv"], "--label is missing"),
        (
            ["--data", "trees.csv", "--label", "three"],
            "unknown column --label of trees.csv 'three': did you mean 'tree'",
        ),
        (["--data", "trees.csv", "--label", "tree", "--missing", "refuse"], "column 'vein' of trees.csv is empty"),
        (["--data", "trees.csv", "--label", "tree", "--box", "0", "1"], "--box = [0, 1] does not hold"),
        (["--data", "trees.csv", "--label", "tree", "--ball", "1"], "--ball 1 does not apply to --data"),
        (["--data", "one.csv", "--label", "kind"], "only one class, 'x'"),
        (["--data", "one.csv", "--label", "a"], "the column 'kind' of one.csv must hold numbers, found 'x'"),
        (["--label", "tree"], "--label = 'tree' is about --data"),
    ],
)
def test_a_mistake_about_own_data_is_one_sentence(
    trees: Path, given: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (trees / "one.csv").write_text("a,kind\n1,x\n2,x\n1,x\n")
    assert exit_code(["card", "laplace", "--epsilon", "1", *given]) == 2
    (message,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert told in message


WRITES = "import pandas as pd; pd.DataFrame(dict(a=[1])).to_parquet('results/metrics.parquet')"


def tasks_of(folder: Path, snakefile: str) -> pd.DataFrame:
    """What tasks get from a workflow of one rule."""
    (folder / "workflow").mkdir(exist_ok=True)
    (folder / "workflow" / "Snakefile").write_text(snakefile)
    return tasks._run(folder / "workflow", folder / "runs", {"studies": ["s"]}, 1)


def rule(shell: str, start: str = "") -> str:
    return f'{start}\nrule only:\n    output: "results/metrics.parquet"\n    shell: {shell!r}\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("snakefile", "told"),
    [
        (rule("true", "import sys; sys.exit('error: there is no mechanism x')"), "there is no mechanism x"),
        (rule("echo 'error: no space left' >&2; exit 1"), "no space left"),
        (rule("true").replace("output", 'input: "absent"\n    output'), "Missing input files for rule only"),
    ],
)
def test_tasks_that_cannot_be_run_are_told_with_the_reason(snakefile: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told) as raised:
        tasks_of(tmp_path, snakefile)
    assert "\n" not in str(raised.value)


@pytest.mark.slow
def test_tasks_of_a_killed_card_are_unlocked_and_those_of_a_living_one_are_not(tmp_path: Path) -> None:
    own = tmp_path / "runs" / ".snakemake"
    (own / "locks").mkdir(parents=True)
    lock = own / "locks" / "0.output.lock"
    lock.write_text("results/metrics.parquet\n")
    with (own / "at_work").open("w") as living:
        fcntl.flock(living, fcntl.LOCK_SH)
        with pytest.raises(InputError, match=r"they could not be run in .*runs: LockException.*cannot be locked"):
            tasks_of(tmp_path, rule(f'{sys.executable} -c "{WRITES}"'))
        assert lock.exists()
    assert tasks_of(tmp_path, rule(f'{sys.executable} -c "{WRITES}"'))["a"].tolist() == [1]


def test_a_card_or_a_picture_that_was_exchanged_is_refused(tmp_path: Path) -> None:
    for name in ("jl", "mvg"):
        write_refusal(tmp_path, name, f"{name} cannot")
    shutil.copy(tmp_path / "jl.png", tmp_path / "mvg.png")
    with pytest.raises(InputError, match=r"the picture .*mvg\.png is not that of its card"):
        gallery([tmp_path / "jl.json", tmp_path / "mvg.json"], tmp_path / "index.html")
    shutil.copy(tmp_path / "jl.json", tmp_path / "mvg.json")
    with pytest.raises(InputError, match="is not what was computed for its place"):
        gallery([tmp_path / "mvg.json"], tmp_path / "index.html")


@pytest.mark.slow
def test_a_gallery_shows_every_picture_with_its_sentence(folder: Path) -> None:
    write_refusal(folder / "cards", "jl", "its releases have another shape")
    for name in ("k-rr", "laplace"):
        assert card(folder, name, "--epsilon", "1", "--out", "cards")[0] == 0
    found = sorted((folder / "cards").glob("*.json"))
    gallery(found, folder / "cards" / "index.html")
    documented(found, folder / "docs")
    page, document = (folder / "cards" / "index.html").read_text(), (folder / "docs" / "gallery.md").read_text()
    assert page.count("<img") == len(found) == 3
    assert "can have no card: its releases have another shape." in page
    assert re.findall(r"^\| \[.*", document, re.MULTILINE) == [
        "| [Laplace](#laplace) | 1 | 1 | – |",
        "| [k-RR](#k-rr) | 784 | 34 | – |",
    ]
    assert 'alt="k-RR: not refuted, but its unit is an element: the record has 64">](mechanisms.md#k-rr)' in document
    for name in ("k-rr", "laplace"):
        assert f'<a id="{name}"></a>[<img src="figures/cards/{name}.svg"' in document
        copy = folder / "docs" / "figures" / "cards" / f"{name}.svg"
        assert copy.read_bytes() == (folder / "cards" / f"{name}.svg").read_bytes()
        assert copy.stat().st_size < 20_000


def test_the_stored_gallery_has_every_card_in_its_table_by_epsilon_and_each_in_both_themes() -> None:
    docs = Path(__file__).parents[2] / "docs"
    text = (docs / "gallery.md").read_text()
    rows = re.findall(r"^\| \[.+\]\(#(.+)\) \| (\S+) \| (?:\d+|–) \| (?:0\.\d\d|chance|–) \|$", text, re.MULTILINE)
    stored = {path.stem: path.read_text() for path in (docs / "figures" / "cards").iterdir()}
    assert sorted(key for key, _ in rows) == sorted(stored)
    assert {*stored} >= {name for name in TABLE if name not in ("none", "jl")}
    pictures = re.findall(r'<a id="(.+?)"></a>\[<img src="figures/cards/(.+?)\.svg"', text)
    assert pictures == [(key, key) for key, _ in rows]
    epsilons = [float(epsilon.replace(",", "")) for _, epsilon in rows]
    assert epsilons == sorted(epsilons)
    for key, svg in stored.items():
        assert 'width="900pt" height="472.5pt"' in svg
        assert "prefers-color-scheme: dark" in svg
        assert f">{dict(rows)[key]}</text>" in svg
        assert "3,070" not in svg
        assert "people" not in svg


def test_nothing_is_drawn_of_a_tensor_that_is_no_digit() -> None:
    found = leak(lambda box: make("laplace", epsilon=1.0, domain=box))
    assert found.originals.shape == found.released.shape == (6, 8, 8)
    assert torch.isfinite(found.released).all()
