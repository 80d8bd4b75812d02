"""The rooms of the papers: what a room.yaml says, and that nothing outside a room names one."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS
from tensorldp_papers import room_folders
from tensorldp_papers.claim_registry import CLAIMS
from tensorldp_papers.claims.base import Claim, catalogue, load_checks
from tensorldp_papers.claims.fairness import printed_of, pulls, shortfall
from tensorldp_papers.plots import style
from tensorldp_papers.plots.names import study_name, table_text, variant_words
from tensorldp_papers.rooms import papers, rooms
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import load_study, study_files

ROOT = Path(__file__).parents[1]
SHARED = sorted(
    path
    for folder, ending in (("src/tensorldp_papers", "py"), ("workflow", "py"), ("workflow", "smk"))
    for path in (ROOT / folder).rglob(f"*.{ending}")
    if room_folders.OURS not in path.parents
)
# the library is not among them: its mechanisms are called as in the papers
EXCEPTIONS = {
    "src/tensorldp_papers/card/own.py": "a card of one's own data has the accuracies of a study",
    "src/tensorldp_papers/card/tasks.py": "a card shows what a mechanism scores in two studies",
    "workflow/rules/figures.smk": "pictures of the lecture's victims are made by a rule of their own",
    "workflow/rules/tables.smk": "that rule",
    "workflow/scripts/attack_pictures.py": "its script, at which the digest of its code begins",
    "workflow/scripts/represent.py": "the script of public representations, likewise",
}
WORDS = {"reconstruction"}  # of the language, too: only whole texts and paths count


def names() -> set[str]:
    """Keys and short names of papers, folders of rooms, and studies; a mechanism of the same name may be meant."""
    found = {name for room in rooms() for name in (room.paper, room.short, room.folder.name, *room.studies)}
    return found - set(MECHANISMS.names())


def texts(path: Path) -> Iterator[str]:
    """What code says: modules that it imports and texts but docstrings; of a rule its lines without comments."""
    if path.suffix != ".py":
        yield from (line.split("# ")[0] for line in path.read_text().splitlines())
        return
    tree = ast.parse(path.read_text())
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorldp_papers."):
            yield str(node.module)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_no_file_outside_a_room_names_a_room_a_paper_or_a_study_of_one() -> None:
    of_language = "|".join(map(re.escape, sorted(names() - WORDS, key=len, reverse=True)))
    whole = "|".join(rf'(?:^|["/]){word}(?:["/.]|$)' for word in WORDS)
    pattern = re.compile(rf"(?<![\w-])(?:{of_language})(?![\w-])|{whole}")
    assert len(SHARED) > 150
    naming = {path.relative_to(ROOT).as_posix() for path in SHARED if any(map(pattern.search, texts(path)))}
    assert naming == EXCEPTIONS.keys()


def test_each_room_lists_the_studies_of_its_folder() -> None:
    for room in rooms():
        there = {name for name, path in study_files().items() if path.parent == room.folder}
        assert there == room.studies.keys(), room.paper
        assert {load_study(study_files()[name]).section for name in there} == {room.paper}


OUTSIDE = """\
paper: sixth
source: {short: Sixth, title: A sixth paper, authors: [A. Nonymous], year: 2026, venue: preprint, identifier: "arXiv:1"}
studies: {sixth_data: "Sixth, images"}
proposed: [sixth-laplace]
colours: {sixth-laplace: "#123456"}
factors: {turn=left: turned to the left}
tables: {sixth_table: {title: Its table, caption: Its caption.}}
runs:
  - {studies: [sixth_data], dataset: digits, networks: [resnet], records: 60000, least: {epochs: 10}, largest: 0.1,
     luck: 0.02}
instead:
  - {kind: crop, words: a crop in its place, studies: [sixth_data]}
"""
STUDY = """\
study: sixth_data
title: a study
source: ours
figure: ""
release: data
arms: [{mechanisms: [none]}]
scales: {quick: {datasets: [digits], epsilons: [1], seeds: [0], factors: {model: [linear]},
                 training: {epochs: 5, limit: 300}}}
"""


CODE = """\
from tensorldp_papers.claims.base import Finding, claim


@claim("SIXTH1", expected="that it is")
def is_private() -> Finding:
    return Finding(True, "it is")
"""


@pytest.fixture
def sixth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A plug-in's room beside the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TENSORLDP_PLUGINS", "sixth")
    room = tmp_path / "sixth"
    room.mkdir()
    (room / "room.yaml").write_text(OUTSIDE)
    (room / "sixth_data.yaml").write_text(STUDY)
    (room / "claims.csv").write_text("id,source,place,claim,kind\nSIXTH1,sixth,p. 1,it is private,theorem\n")
    (room / "__init__.py").write_text(CODE)
    yield room
    if sys.modules.pop("sixth", None):
        CLAIMS.remove("SIXTH1")


def test_a_plug_ins_room_is_read_as_ours_are(sixth: Path) -> None:
    assert list(papers())[-1] == "sixth"
    assert papers()["sixth"].address == "https://arxiv.org/abs/1"
    assert load_study(study_files()["sixth_data"]).section == "sixth"
    assert study_name("sixth_data") == "Sixth, images"
    assert variant_words("turn=left") == "turned to the left"
    assert table_text("sixth_table") == ("Its table", "Its caption.")
    printed = printed_of("sixth_data", "digits")
    assert printed is not None
    assert printed.records == 60000
    assert printed.chance == pytest.approx(0.12)
    assert style.in_the_dark("#123456") != "#123456"
    assert catalogue()["SIXTH1"] == Claim("SIXTH1", "sixth", "p. 1", "it is private", "theorem")
    assert load_checks()["SIXTH1"].claim == catalogue()["SIXTH1"]


def test_runs_of_a_plug_ins_study_fall_short_of_what_its_room_says(sixth: Path) -> None:
    cells = make_plan(parse_settings({"studies": ["sixth_data"]})).cells
    linear = "linear in the place of resnet, 300 of 60,000 training records, 5 of 10 epochs"
    assert shortfall(cells) == f"digits: a crop in its place, {linear}"
    assert pulls(cells)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("paper: sixth", "papers: sixth"), r"unknown key in .*room\.yaml 'papers'"),
        (("paper: sixth", "paper: tldp"), r"paper = 'tldp' is that of .*tldp"),
        (("sixth_data:", "other_data:"), r"studies has other_data, but other_data\.yaml is not beside it"),
        (('"#123456"', "blue"), r"colours\.sixth-laplace = 'blue' is not valid"),
        (("records: 60000", "recods: 60000"), r"unknown key in .*room\.yaml runs\.0 'recods'.*'records'"),
        (("records: 60000", "records: many"), r"runs\.0\.records = 'many' is not valid"),
    ],
)
def test_a_mistake_in_a_room_is_one_sentence(sixth: Path, change: tuple[str, str], message: str) -> None:
    (sixth / "room.yaml").write_text(OUTSIDE.replace(*change))
    with pytest.raises(InputError, match=message):
        rooms()
