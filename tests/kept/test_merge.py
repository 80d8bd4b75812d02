"""Runs are merged by cell and seed into the kept results, and what does not fit is refused."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from kept_runs import REFERENCE, Cells, Kept, finish, planned, tiny, with_seeds

from tensorldp.errors import InputError
from tensorldp.files import read_arrays, read_json, write_arrays
from tensorldp_papers.kept.merge import merge_runs, summarise
from tensorldp_papers.kept.provenance import (
    METRICS,
    ORIGIN,
    PIECES,
    PROVENANCE,
    SEEDED,
    STANDING,
    among,
    read_table,
    with_origins,
)
from tensorldp_papers.run.sealed import write_sealed
from tensorldp_papers.run.store import Store, read_manifests, write_manifest
from tensorldp_papers.run.table import CELL, write_table

CELLS, LONGER, OTHERS = tiny(), tiny(9), planned(studies=["pldp_synthetic"])[:1]
ONE, HALF = CELLS[:1], [0.5] * 2 * len(CELLS)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def test_seeds_and_cells_of_several_machines_stand_beside_each_other(kept: Kept) -> None:
    assert kept.merge(CELLS, commit="a1") == ["tldp_type1"]
    kept.merge(with_seeds(ONE, 2), value=0.7, commit="a2")
    assert kept.values == [*HALF, 0.7]
    runs = with_origins(kept.table("metrics.parquet"), kept.folder)
    assert len(runs) == len(kept.table("series.parquet")) == len(kept.values)
    assert (runs[ORIGIN] != "").all(axis=None)
    assert len(kept.table("audits.csv")) == len(kept.table("standing.csv")) == len(CELLS)
    pieces = kept.table("pieces.csv")
    counted = [[0, len(CELLS), "a1"], [1, len(CELLS), "a1"], [2, 1, "a2"]]
    assert pieces[["seed", "cells", "commits"]].to_numpy().tolist() == counted
    assert pieces["settings"].notna().all()


def test_the_same_seeds_again_replace_their_rows_and_no_others(kept: Kept) -> None:
    kept.merge(CELLS)
    kept.merge(with_seeds(ONE, 1), value=0.9)
    assert kept.values == [*HALF[1:], 0.9]


def test_a_smaller_run_of_another_version_does_not_replace_a_larger_one(kept: Kept) -> None:
    kept.merge(with_seeds(CELLS, 0, 1, 2), code="a")
    kept.merge(with_seeds(CELLS, 1), code="b")  # other code of the same version
    before = (kept.folder / "metrics.parquet").read_bytes()
    with pytest.raises(
        InputError, match=r"seeds 1, 2 of tldp_type1 digits .* other versions of its method or mechanism and .*only 0: "
    ):
        kept.merge(with_seeds(CELLS, 0), version=2)
    assert (kept.folder / "metrics.parquet").read_bytes() == before
    kept.merge(with_seeds(CELLS, 0, 1, 2, 3), value=0.9, version=2)
    assert set(kept.values) == {0.9}


@pytest.mark.parametrize("noted", [True, False])
def test_rows_from_other_settings_are_refused_unless_all_of_a_variant_come_anew(kept: Kept, noted: bool) -> None:
    kept.merge(CELLS)
    if not noted:
        (kept.folder / "provenance.parquet").unlink()
    with pytest.raises(
        InputError, match="kept with " + ("other settings" if noted else "settings or versions that are not known")
    ):
        kept.merge(with_seeds(LONGER if noted else CELLS, 5))
    with pytest.raises(
        InputError, match=r"the training settings of this run for tldp_type1 digits model=small_cnn are"
    ):
        kept.merge(LONGER[:1])  # all seeds of a cell, but one cell of the variant
    kept.merge(LONGER if noted else with_seeds(ONE, 0, 1, 2), value=0.9)
    assert kept.values == ([0.9] * len(HALF) if noted else [*HALF[2:], 0.9, 0.9, 0.9])


def test_mechanisms_of_a_variant_that_the_file_trains_differently_are_merged_one_by_one(kept: Kept) -> None:
    def wide(**changes: Any) -> Cells:
        cells = planned(scale="desk", studies=["tvg_sgd"], seeds=[0, 1], **changes)
        return tuple(cell for cell in cells if cell.variant == "model=lenet_wide")

    cells = wide()
    assert len({cell.training for cell in cells}) > 1
    kept.merge(cells, scale="desk")
    kept.merge(cells[:1], value=0.9, scale="desk")
    assert kept.values == [0.5] * 2 * (len(cells) - 1) + [0.9] * 2
    with pytest.raises(InputError, match="the training settings of this run for tvg_sgd mnist model=lenet_wide are"):
        kept.merge(wide(training={"tvg_sgd": {"lot": 256}})[:1], scale="desk")


def test_a_larger_scale_replaces_a_smaller_one_and_not_the_other_way(kept: Kept) -> None:
    kept.merge(CELLS)
    assert kept.merge(ONE, value=0.2, scale="desk") == ["tldp_type1"]
    assert set(kept.values) == {0.2}
    assert kept.merge([*CELLS, *OTHERS], value=0.3) == ["pldp_synthetic"]
    assert set(kept.values) == {0.2, 0.3}
    assert kept.merge(CELLS) == []


def test_runs_that_have_all_kept_seeds_only_together_are_taken_together(kept: Kept, tmp_path: Path) -> None:
    kept.merge(with_seeds(CELLS, 0, 1, 2))
    first = finish(tmp_path / "first", with_seeds(LONGER, 0, 1), value=0.7)
    second = finish(tmp_path / "second", with_seeds(LONGER, 1, 2), value=0.9)
    for one in (first, second):
        with pytest.raises(InputError, match="kept with other settings and this run has only"):
            merge_runs([one], kept.folder)
    merge_runs([first, second], kept.folder)
    values = kept.table("metrics.parquet").groupby("seed")["value"].unique()
    assert {seed: list(found) for seed, found in values.items()} == {0: [0.7], 1: [0.9], 2: [0.9]}
    assert len(kept.table("series.parquet")) == len(kept.values) == 3 * len(LONGER)


def test_runs_at_several_scales_are_not_taken_together(kept: Kept, tmp_path: Path) -> None:
    runs = [finish(tmp_path / scale, ONE, scale=scale) for scale in ("desk", "quick")]
    with pytest.raises(InputError, match="are at scales quick and desk: merge each scale by itself"):
        merge_runs(runs, kept.folder)
    assert not kept.folder.exists()


def test_studies_that_are_not_asked_for_and_results_that_no_commit_made_are_left_out(
    kept: Kept, tmp_path: Path
) -> None:
    run = finish(tmp_path / "run", [*CELLS, *OTHERS], commit="c+")
    with pytest.raises(InputError, match=r"are in no commit \(c\+\): run them again from a clean tree"):
        merge_runs([run], kept.folder)
    assert not kept.folder.exists()
    assert merge_runs([run], kept.folder, only=["pldp_synthetic"], allow_dirty=True) == ["pldp_synthetic"]
    assert set(kept.table("metrics.parquet")["study"]) == {"pldp_synthetic"}


def test_pictures_are_kept_as_long_as_rows_that_they_belong_to(kept: Kept, tmp_path: Path) -> None:
    names = {"digits/released/tldp-l/1": 1, "mnist/released/tldp-l/1": 2, "mnist/released/tldp-l/10": 3}
    own = kept.folder / "tldp_type1.safetensors"

    def merge(name: str, cells: Cells, shades: dict[str, int]) -> dict[str, int]:
        run = finish(tmp_path / name, cells)
        if shades:
            (run / "pictures").mkdir()
            drawn = {name: np.full((2, 2), shade, np.uint8) for name, shade in shades.items()}
            write_arrays(run / "pictures" / own.name, drawn)
        merge_runs([run], kept.folder)
        return {name: int(made[0, 0]) for name, made in read_arrays(own)[0].items()} if own.exists() else {}

    assert merge("1", CELLS, names) == names
    assert merge("2", ONE, {}) == names  # without pictures, and not of all cells
    # a part of the cells: their pictures are replaced, the others stay
    assert merge("3", ONE, {"digits/released/tldp-l/1": 9}) == names | {"digits/released/tldp-l/1": 9}
    assert merge("4", CELLS, {}) == {}


def in_results(pattern: str, text: str, *, sealed: bool = True) -> Callable[[Path], None]:
    """Change the results of a run; sealed, as a run of an earlier version could have written them."""

    def damage(run: Path) -> None:
        store = Store(run)
        for path in (run / "cells").rglob("seed~*.json"):
            path.write_text(re.sub(pattern, text, path.read_text()))
            if sealed:
                content = read_json(path)
                write_sealed(path, {key: content[key] for key in content if key != "seal"}, store.place(path))

    return damage


def other_values(run: Path) -> None:
    pd.read_parquet(run / "metrics.parquet").assign(value=0.7).to_parquet(run / "metrics.parquet")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda run: (run / "series.parquet").unlink(), r"has no series\.parquet: let it finish first"),
        (in_results(r'"data": "\w+"', '"data": "changed"'), "are kept with other data"),
        (in_results(r'"value": 0\.5', '"value": 0.6', sealed=False), "not what was computed for its place"),
        (in_results('"cell": {', '"cell": {"limit": 100, '), "comes from another version: delete it and run again"),
        (other_values, r"no result in .* has the values of tldp_type1 digits .* seed 2: run again"),
    ],
)
def test_a_run_whose_files_do_not_fit_is_refused(
    kept: Kept, tmp_path: Path, damage: Callable[[Path], None], told: str
) -> None:
    kept.merge(CELLS)
    run = finish(tmp_path / "run", with_seeds(ONE, 2))
    damage(run)
    with pytest.raises(InputError, match=told):
        merge_runs([run], kept.folder)
    assert kept.values == HALF


def test_results_tell_what_made_them_whatever_else_lies_beside_them(kept: Kept, tmp_path: Path) -> None:
    """A list of results of earlier settings stays when batches are cut in another way."""
    run, stale = tmp_path / "run", finish(tmp_path / "stale", LONGER, value=0.3, code="old", version=2)
    finish(run, CELLS, code="new", version=3)
    shutil.copytree(stale / "cells", run / "cells", dirs_exist_ok=True)
    own = "tldp_type1/digits/{}/scores.json".format
    write_manifest(run / "batches" / own(7), read_manifests([stale / "batches" / own(0)]))
    merge_runs([run], kept.folder)
    assert set(kept.table("provenance.parquet")["method_version"]) == {3}


@pytest.mark.parametrize("path", sorted(REFERENCE.glob("*.csv")), ids=lambda path: path.stem)
def test_a_kept_table_that_is_read_and_written_has_the_same_bytes(tmp_path: Path, path: Path) -> None:
    again = read_table(path)
    assert again is not None
    write_table(tmp_path / path.name, again)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_summaries_are_those_of_the_kept_rows(tmp_path: Path) -> None:
    """Otherwise run `python workflow/scripts/reference.py --decide`."""
    for name in (METRICS, PROVENANCE):
        shutil.copy(REFERENCE / name, tmp_path)
    summarise(tmp_path)
    assert (tmp_path / PIECES).read_text() == (REFERENCE / PIECES).read_text()


def test_what_is_noted_is_of_kept_rows_and_each_cell_has_a_standing_and_all_stay_small() -> None:
    rows, noted = pd.read_parquet(REFERENCE / METRICS), pd.read_parquet(REFERENCE / PROVENANCE)
    assert among(noted, rows, SEEDED).all()
    assert among(rows, pd.read_csv(REFERENCE / STANDING), CELL).all()
    assert sum(path.stat().st_size for path in REFERENCE.iterdir()) < 25e6


def test_cells_that_no_arm_plans_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    """A config may choose any mechanism, but no claim could be decided among kept rows with such a cell."""
    kept = Kept(tmp_path)
    kept.merge(tiny())
    before = {path: path.read_bytes() for path in kept.folder.iterdir()}
    strange = planned(studies=["pldp_synthetic"], mechanisms={"pldp_synthetic": ["laplace"]}, seeds=[0])
    with pytest.raises(InputError, match=r"pldp_synthetic .* laplace at epsilon .* no arm of its study's file plans"):
        kept.merge(strange)
    assert {path: path.read_bytes() for path in kept.folder.iterdir()} == before
