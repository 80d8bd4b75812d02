"""Runs are merged by cell and seed, and what does not fit is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from kept_runs import ROOT, finish, planned, tiny, with_seeds

from tensorldp.errors import InputError
from tensorldp.kept.merge import merge_run
from tensorldp.kept.provenance import Key, keys, read_provenance
from tensorldp.runtime.files import read_arrays, read_json, write_arrays


@pytest.fixture(autouse=True)
def code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest of a commit's code is the commit's first letter."""
    monkeypatch.setattr("tensorldp.kept.merge.source_digests", lambda cells, _, commit: dict.fromkeys(cells, commit[0]))


def values(reference: Path) -> dict[tuple[Key, int], float]:
    rows = pd.read_parquet(reference / "metrics.parquet")
    return dict(zip(zip(keys(rows), rows["seed"].astype(int), strict=True), rows["value"], strict=True))


def test_seeds_and_cells_of_several_machines_stand_beside_each_other(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    assert merge_run(finish(tmp_path / "1", with_seeds(cells, 0, 1), commit="a1"), kept, ROOT) == ["tldp_type1"]
    merge_run(finish(tmp_path / "2", with_seeds(cells[:1], 2), value=0.7, commit="a2"), kept, ROOT)
    found = values(kept)
    assert sorted(found.values()) == [0.5] * (2 * len(cells)) + [0.7]
    series = pd.read_parquet(kept / "series.parquet")
    assert len(series) == len(found)
    assert len(read_provenance(kept)) == len(found)
    assert len(pd.read_csv(kept / "audits.csv")) == len(cells)
    facts = read_json(kept / "runs.json")["tldp_type1"]
    assert (facts["seeds"], facts["cells"], facts["commits"]) == ([0, 1, 2], len(cells), ["a1", "a2"])
    pieces = pd.read_csv(kept / "pieces.csv")
    assert pieces[["seed", "cells", "commits"]].to_numpy().tolist() == [
        [0, len(cells), "a1"],
        [1, len(cells), "a1"],
        [2, 1, "a2"],
    ]
    assert pieces["settings"].notna().all()


def test_the_same_seeds_again_replace_their_rows_and_no_others(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    merge_run(finish(tmp_path / "1", cells), kept, ROOT)
    merge_run(finish(tmp_path / "2", with_seeds(cells[:1], 1), value=0.9), kept, ROOT)
    assert sorted(values(kept).values()) == [0.5] * (2 * len(cells) - 1) + [0.9]


def test_a_smaller_run_of_other_code_does_not_replace_a_larger_one(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    merge_run(finish(tmp_path / "1", with_seeds(cells, 0, 1, 2), commit="a"), kept, ROOT)
    before = (kept / "metrics.parquet").read_bytes()
    with pytest.raises(InputError, match=r"seeds 1, 2 of tldp_type1 digits .* other code and this run has only 0: "):
        merge_run(finish(tmp_path / "2", with_seeds(cells, 0), commit="b"), kept, ROOT)
    assert (kept / "metrics.parquet").read_bytes() == before
    merge_run(finish(tmp_path / "3", with_seeds(cells, 0, 1, 2, 3), value=0.9, commit="b"), kept, ROOT)
    assert set(values(kept).values()) == {0.9}


def test_rows_from_other_settings_are_refused(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    merge_run(finish(tmp_path / "1", cells), kept, ROOT)
    longer = tiny(training={"tldp_type1": {"epochs": 9}})
    with pytest.raises(InputError, match=r"kept with other settings"):
        merge_run(finish(tmp_path / "2", with_seeds(longer, 5)), kept, ROOT)
    with pytest.raises(
        InputError, match=r"the training settings of this run for tldp_type1 digits model=small_cnn are"
    ):
        merge_run(finish(tmp_path / "3", longer[:1]), kept, ROOT)  # all seeds of a cell, but one cell of the variant
    merge_run(finish(tmp_path / "4", longer, value=0.9), kept, ROOT)
    assert set(values(kept).values()) == {0.9}


def test_rows_without_a_note_of_their_making_give_way_to_all_their_seeds_alone(tmp_path: Path) -> None:
    cells, kept = tiny(), tmp_path / "reference"
    merge_run(finish(tmp_path / "1", cells), kept, ROOT)
    (kept / "provenance.parquet").unlink()
    with pytest.raises(InputError, match=r"settings or code that were not noted"):
        merge_run(finish(tmp_path / "2", with_seeds(cells, 2)), kept, ROOT)
    longer = tiny(training={"tldp_type1": {"epochs": 9}})
    with pytest.raises(InputError, match=r"the training settings of this run"):  # the others are as their file plans
        merge_run(finish(tmp_path / "3", longer[:1]), kept, ROOT)
    merge_run(finish(tmp_path / "4", with_seeds(cells[:1], 0, 1, 2), value=0.9), kept, ROOT)
    assert sorted(values(kept).values()) == [0.5] * (2 * len(cells) - 2) + [0.9] * 3


def test_a_larger_scale_replaces_a_smaller_one_and_not_the_other_way(tmp_path: Path) -> None:
    cells, others, kept = tiny(), planned(studies=["pldp_synthetic"])[:1], tmp_path / "reference"
    merge_run(finish(tmp_path / "1", cells), kept, ROOT)
    assert merge_run(finish(tmp_path / "2", cells[:1], value=0.2, scale="desk"), kept, ROOT) == ["tldp_type1"]
    assert set(values(kept).values()) == {0.2}
    assert merge_run(finish(tmp_path / "3", [*cells, *others], value=0.3), kept, ROOT) == ["pldp_synthetic"]
    assert set(values(kept).values()) == {0.2, 0.3}
    assert merge_run(finish(tmp_path / "4", cells), kept, ROOT) == []


def test_studies_that_are_not_asked_for_stay_as_they_are(tmp_path: Path) -> None:
    cells, others, kept = tiny(), planned(studies=["pldp_synthetic"])[:1], tmp_path / "reference"
    run = finish(tmp_path / "1", [*cells, *others])
    assert merge_run(run, kept, ROOT, only=["pldp_synthetic"]) == ["pldp_synthetic"]
    assert {key.study for key, _ in values(kept)} == {"pldp_synthetic"}


def test_a_run_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    run = finish(tmp_path / "1", tiny())
    (run / "series.parquet").unlink()
    with pytest.raises(InputError, match=r"has no series\.parquet: let it finish first"):
        merge_run(run, tmp_path / "reference", ROOT)


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
    merge_run(run, kept, ROOT)
    merge_run(finish(tmp_path / "2", cells[:1]), kept, ROOT)  # without pictures, and not of all cells
    assert shades() == names
    part = finish(tmp_path / "3", cells[:1])  # a part of the cells: their pictures are replaced, the others stay
    draw(part, {"digits/released/tldp-l/1": 9})
    merge_run(part, kept, ROOT)
    assert shades() == names | {"digits/released/tldp-l/1": 9}
    merge_run(finish(tmp_path / "4", cells), kept, ROOT)
    assert not (kept / "tldp_type1.safetensors").exists()


def test_results_that_no_commit_made_are_refused_unless_allowed(tmp_path: Path) -> None:
    run, kept = finish(tmp_path / "1", tiny(), commit="c+"), tmp_path / "reference"
    with pytest.raises(InputError, match=r"no commit has \(c\+\): run them again from a clean tree"):
        merge_run(run, kept, ROOT)
    assert not kept.exists()
    assert merge_run(run, kept, ROOT, allow_dirty=True) == ["tldp_type1"]
