"""Runs are merged by cell and seed, and what does not fit is refused."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from kept_runs import finish, planned, tiny, with_seeds

from tensorldp.errors import InputError
from tensorldp.files import read_arrays, write_arrays
from tensorldp_papers.kept.merge import merge_run
from tensorldp_papers.kept.provenance import ORIGIN, SEEDED, names, with_origins


def values(reference: Path) -> dict[tuple[str, ...], float]:
    """By study, data set, variant, mechanism, epsilon and seed."""
    rows = pd.read_parquet(reference / "metrics.parquet")
    return dict(zip(names(rows, SEEDED), rows["value"], strict=True))


def test_seeds_and_cells_of_several_machines_stand_beside_each_other(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    assert merge_run(finish(tmp_path / "1", with_seeds(cells, 0, 1), commit="a1"), kept) == ["tldp_type1"]
    merge_run(finish(tmp_path / "2", with_seeds(cells[:1], 2), value=0.7, commit="a2"), kept)
    found = values(kept)
    assert sorted(found.values()) == [0.5] * (2 * len(cells)) + [0.7]
    series = pd.read_parquet(kept / "series.parquet")
    assert len(series) == len(found)
    runs = with_origins(pd.read_parquet(kept / "metrics.parquet"), kept)
    assert len(runs) == len(found)
    assert (runs[ORIGIN] != "").all(axis=None)
    assert len(pd.read_csv(kept / "audits.csv")) == len(pd.read_csv(kept / "standing.csv")) == len(cells)
    pieces = pd.read_csv(kept / "pieces.csv")
    assert pieces[["seed", "cells", "commits"]].to_numpy().tolist() == [
        [0, len(cells), "a1"],
        [1, len(cells), "a1"],
        [2, 1, "a2"],
    ]
    assert pieces["settings"].notna().all()


def test_the_same_seeds_again_replace_their_rows_and_no_others(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    merge_run(finish(tmp_path / "1", cells), kept)
    merge_run(finish(tmp_path / "2", with_seeds(cells[:1], 1), value=0.9), kept)
    assert sorted(values(kept).values()) == [0.5] * (2 * len(cells) - 1) + [0.9]


def test_a_smaller_run_of_other_code_does_not_replace_a_larger_one(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    merge_run(finish(tmp_path / "1", with_seeds(cells, 0, 1, 2), code="a"), kept)
    before = (kept / "metrics.parquet").read_bytes()
    with pytest.raises(InputError, match=r"seeds 1, 2 of tldp_type1 digits .* other code and this run has only 0: "):
        merge_run(finish(tmp_path / "2", with_seeds(cells, 0), code="b"), kept)
    assert (kept / "metrics.parquet").read_bytes() == before
    merge_run(finish(tmp_path / "3", with_seeds(cells, 0, 1, 2, 3), value=0.9, code="b"), kept)
    assert set(values(kept).values()) == {0.9}


def test_rows_from_other_settings_are_refused(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    merge_run(finish(tmp_path / "1", cells), kept)
    longer = tiny(training={"tldp_type1": {"epochs": 9}})
    with pytest.raises(InputError, match=r"kept with other settings"):
        merge_run(finish(tmp_path / "2", with_seeds(longer, 5)), kept)
    with pytest.raises(
        InputError, match=r"the training settings of this run for tldp_type1 digits model=small_cnn are"
    ):
        merge_run(finish(tmp_path / "3", longer[:1]), kept)  # all seeds of a cell, but one cell of the variant
    merge_run(finish(tmp_path / "4", longer, value=0.9), kept)
    assert set(values(kept).values()) == {0.9}


def test_rows_without_a_note_of_their_making_give_way_to_all_their_seeds_alone(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    merge_run(finish(tmp_path / "1", cells), kept)
    (kept / "provenance.parquet").unlink()
    with pytest.raises(InputError, match=r"settings or code that were not noted"):
        merge_run(finish(tmp_path / "2", with_seeds(cells, 2)), kept)
    longer = tiny(training={"tldp_type1": {"epochs": 9}})
    with pytest.raises(InputError, match=r"the training settings of this run"):  # the others are as their file plans
        merge_run(finish(tmp_path / "3", longer[:1]), kept)
    merge_run(finish(tmp_path / "4", with_seeds(cells[:1], 0, 1, 2), value=0.9), kept)
    assert sorted(values(kept).values()) == [0.5] * (2 * len(cells) - 2) + [0.9] * 3


def test_a_larger_scale_replaces_a_smaller_one_and_not_the_other_way(tmp_path: Path) -> None:
    cells, others, kept = tiny(), planned(studies=["pldp_synthetic"])[:1], tmp_path / "reference"
    merge_run(finish(tmp_path / "1", cells), kept)
    assert merge_run(finish(tmp_path / "2", cells[:1], value=0.2, scale="desk"), kept) == ["tldp_type1"]
    assert set(values(kept).values()) == {0.2}
    assert merge_run(finish(tmp_path / "3", [*cells, *others], value=0.3), kept) == ["pldp_synthetic"]
    assert set(values(kept).values()) == {0.2, 0.3}
    assert merge_run(finish(tmp_path / "4", cells), kept) == []


def test_studies_that_are_not_asked_for_stay_as_they_are(tmp_path: Path) -> None:
    cells, others, kept = tiny(), planned(studies=["pldp_synthetic"])[:1], tmp_path / "reference"
    run = finish(tmp_path / "1", [*cells, *others])
    assert merge_run(run, kept, only=["pldp_synthetic"]) == ["pldp_synthetic"]
    assert {name[0] for name in values(kept)} == {"pldp_synthetic"}


def test_a_run_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    run = finish(tmp_path / "1", tiny())
    (run / "series.parquet").unlink()
    with pytest.raises(InputError, match=r"has no series\.parquet: let it finish first"):
        merge_run(run, tmp_path / "reference")


def test_pictures_are_kept_as_long_as_rows_that_they_belong_to(tmp_path: Path) -> None:
    cells, kept, run = tiny(), tmp_path / "reference", finish(tmp_path / "1", tiny())
    names = {"digits/released/tldp-l/1": 1, "mnist/released/tldp-l/1": 2, "mnist/released/tldp-l/10": 3}

    def draw(run: Path, shades: dict[str, int]) -> None:
        (run / "pictures").mkdir()
        made = {name: np.full((2, 2), shade, np.uint8) for name, shade in shades.items()}
        write_arrays(run / "pictures" / "tldp_type1.safetensors", made)

    def shades() -> dict[str, int]:
        return {name: int(picture[0, 0]) for name, picture in read_arrays(kept / "tldp_type1.safetensors")[0].items()}

    draw(run, names)
    merge_run(run, kept)
    merge_run(finish(tmp_path / "2", cells[:1]), kept)  # without pictures, and not of all cells
    assert shades() == names
    part = finish(tmp_path / "3", cells[:1])  # a part of the cells: their pictures are replaced, the others stay
    draw(part, {"digits/released/tldp-l/1": 9})
    merge_run(part, kept)
    assert shades() == names | {"digits/released/tldp-l/1": 9}
    merge_run(finish(tmp_path / "4", cells), kept)
    assert not (kept / "tldp_type1.safetensors").exists()


def test_results_that_no_commit_made_are_refused_unless_allowed(tmp_path: Path) -> None:
    run, kept = finish(tmp_path / "1", tiny(), commit="c+"), tmp_path / "reference"
    with pytest.raises(InputError, match=r"are in no commit \(c\+\): run them again from a clean tree"):
        merge_run(run, kept)
    assert not kept.exists()
    assert merge_run(run, kept, allow_dirty=True) == ["tldp_type1"]


def test_a_seed_of_other_data_does_not_stand_beside_those_that_are_kept(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    merge_run(finish(tmp_path / "1", cells), kept)
    run = finish(tmp_path / "2", with_seeds(cells[:1], 2))
    (result,) = (run / "cells").rglob("seed~2.*.json")
    result.write_text(re.sub(r'"data": "\w+"', '"data": "changed"', result.read_text()))
    with pytest.raises(InputError, match=r"are kept with other data"):
        merge_run(run, kept)


def test_results_tell_what_made_them_whatever_else_lies_beside_them(tmp_path: Path) -> None:
    """A list of results of earlier settings stays when batches are cut in another way."""
    cells, run = tiny(), tmp_path / "run"
    stale = finish(tmp_path / "stale", tiny(training={"tldp_type1": {"epochs": 9}}), value=0.3, code="old")
    finish(run, cells, code="new")
    shutil.copytree(stale / "cells", run / "cells", dirs_exist_ok=True)
    shutil.copytree(stale / "batches", run / "batches" / "of another size")
    merge_run(run, tmp_path / "reference")
    noted = pd.read_parquet(tmp_path / "reference" / "provenance.parquet")
    assert set(noted["source"]) == {"new"}


def test_a_table_without_its_results_is_refused(tmp_path: Path) -> None:
    run = finish(tmp_path / "1", tiny())
    table = pd.read_parquet(run / "metrics.parquet")
    table.assign(value=0.7).to_parquet(run / "metrics.parquet")
    with pytest.raises(InputError, match=r"no result in .* has the values of tldp_type1 digits .* seed 0: run again"):
        merge_run(run, tmp_path / "reference")
