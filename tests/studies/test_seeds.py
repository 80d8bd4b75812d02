"""Which seeds of a cell are kept and which are computed."""

import json
from pathlib import Path

import numpy as np
import pytest

from tensorldp.errors import InputError
from tensorldp.runtime.files import write_arrays, write_json
from tensorldp.studies.seeds import (
    MADE,
    guarantee_over,
    held,
    joined,
    made_with,
    scores_of,
    seeds_in,
    seeds_of_models,
    to_compute,
)


def scores(*seeds: int) -> dict[str, object]:
    rows = [{"seed": seed, "metric": "accuracy", "value": seed / 10} for seed in seeds]
    return {"rows": rows, "runs": {str(seed): {"seconds": 1.0} for seed in seeds}}


@pytest.mark.parametrize(
    ("wanted", "have", "computed"),
    [
        ((0, 1), (), (0, 1)),
        ((0, 1, 2), (0, 1), (2,)),
        ((2, 0), (1, 2), (0,)),
        ((0, 1), (0, 1, 2), (0, 1)),  # it runs all the same: something else asked for it
    ],
)
def test_missing_seeds_are_computed_and_all_of_them_where_none_is_missing(
    wanted: tuple[int, ...], have: tuple[int, ...], computed: tuple[int, ...]
) -> None:
    assert to_compute(wanted, have) == computed


def test_other_settings_code_or_data_keep_nothing(tmp_path: Path) -> None:
    write_json(tmp_path / "digest.json", {"digest": "a"})
    made = made_with("settings and code", tmp_path)
    path = tmp_path / "scores.json"
    write_json(path, {**scores(0, 1), MADE: made})
    assert seeds_in(held(path, made)) == {0, 1}
    assert held(path, made_with("others", tmp_path)) == {}
    write_json(tmp_path / "digest.json", {"digest": "b"})
    assert made_with("settings and code", tmp_path) != made
    assert held(path, made_with("settings and code", tmp_path)) == {}
    assert made_with("", tmp_path) == ""
    assert held(path, "") == {}
    assert held(tmp_path / "missing.json", made) == {}
    path.write_text('{"rows": [')
    assert held(path, made) == {}


def test_a_forced_run_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scores.json"
    write_json(path, {**scores(0), MADE: "x"})
    write_arrays(tmp_path / "seed~0.safetensors", {"w": np.zeros(1)}, {"record": json.dumps({MADE: "x"})})
    assert held(path, "x")
    assert seeds_of_models(tmp_path, "x") == {0}
    assert seeds_of_models(tmp_path, "y") == set()
    monkeypatch.setenv("TENSORLDP_AFRESH", "1")
    assert held(path, "x") == {}
    assert seeds_of_models(tmp_path, "x") == set()


def test_scores_are_joined_by_seed_and_new_ones_win() -> None:
    new = scores(1, 2)
    new["rows"][0]["value"] = 9.0  # type: ignore[index]
    found = joined(scores(0, 1), new, (0, 1, 2))
    assert [(row["seed"], row["value"]) for row in found["rows"]] == [(0, 0.0), (1, 9.0), (2, 0.2)]
    assert list(found["runs"]) == ["0", "1", "2"]
    assert joined(scores(0, 5), scores(1), (0, 1)) == scores(0, 1)  # a seed that nobody asked for goes


def test_a_run_reads_its_own_seeds_alone() -> None:
    assert scores_of(scores(0, 1, 2), (2, 0)) == {**scores(0, 2)}
    assert scores_of(scores(0), None) == scores(0)
    with pytest.raises(InputError, match="lack seed 3"):
        scores_of({**scores(0), "cell": {"study": "s", "dataset": "d", "mechanism": "m"}}, (0, 3))


def test_the_guarantee_over_seeds_is_the_weakest() -> None:
    by_seed = {"0": {"epsilon": 1.0}, "1": {"epsilon": "inf"}, "2": {"epsilon": 2.0}}
    assert guarantee_over({"by_seed": by_seed}, (0, 2)) == {"epsilon": 2.0}
    assert guarantee_over({"by_seed": by_seed}, None) == {"epsilon": "inf"}
    assert guarantee_over({"epsilon": 3.0}, (0, 7)) == {"epsilon": 3.0}
    with pytest.raises(InputError, match="lacks seed"):
        guarantee_over({"by_seed": by_seed}, (5,))
