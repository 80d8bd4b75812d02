"""Results by key: what is computed, what is passed over, and what happens to a batch when a cell fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorldp.errors import InputError
from tensorldp.files import read_json, sha256, write_arrays, write_json
from tensorldp_papers.papers.tldp.settings import LearningFactors, LearningTraining
from tensorldp_papers.papers.tvg import settings as tvg
from tensorldp_papers.run import stages
from tensorldp_papers.run.cell import AnyCell, Cell
from tensorldp_papers.run.store import (
    CONTENTS,
    Manifest,
    Store,
    Task,
    guarantee_of,
    read_manifests,
    read_tasks,
    scores_of,
    write_batch,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set, as `prepare` writes it."""
    return write_data(tmp_path_factory.mktemp("data"), seed=0)


def write_data(folder: Path, seed: int) -> Path:
    x = np.random.default_rng(seed).integers(0, 17, (40, 8, 8), np.uint8)
    described = {"dataset": "d", "classes": "4", "low": "0", "high": "16", "kind": "image"}
    for split in ("train", "test"):
        write_arrays(folder / f"{split}.safetensors", {"x": x, "y": np.arange(40) % 4}, described)
    write_json(folder / "digest.json", {split: sha256(folder / f"{split}.safetensors") for split in ("train", "test")})
    return folder


def cell(mechanism: str = "laplace", *, seeds: tuple[int, ...] = (0,), epsilon: str = "2", **options: Any) -> AnyCell:
    return Cell(
        study="s",
        dataset="d",
        variant="base",
        mechanism=mechanism,
        epsilon=epsilon,
        release="data",
        method="learning",
        delta=1e-5,
        training=LearningTraining(epochs=1, batch_size=16),
        factors=LearningFactors(model="linear"),
        options=options,
        seeds=seeds,
    )


def sharing(mechanism: str, epsilon: str, seeds: tuple[int, ...] = (0,)) -> AnyCell:
    """A cell that is scored with the models of `none`."""
    return replace(
        cell(mechanism, epsilon=epsilon, seeds=seeds),
        method="testing",
        release="test_features",
        training=tvg.TestingTraining(epochs=1, batch_size=16),
        factors=tvg.TestingFactors(model="lenet_tanh"),
    )


def task(made: AnyCell, data: Path, trainer: Task | None = None, code: str = "c") -> Task:
    return Task(made, made.settings(), code, data, None, trainer)


class Run:
    """A folder in which batches are computed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store, self.count = folder, Store(folder / "results"), 0

    def __call__(self, tasks: Sequence[Task]) -> Manifest:
        """All stages of a batch; which results are its own."""
        self.count += 1
        self.released, self.models = (self.folder / f"{kind}{self.count}" for kind in ("released", "models"))
        scores, privacy = (self.folder / f"{kind}{self.count}.json" for kind in ("scores", "privacy"))
        stages.perturb(tasks, self.store, self.released, "cpu")
        stages.train(tasks, self.store, self.released, self.models, "cpu")
        stages.evaluate(tasks, self.store, self.released, self.models, scores, "cpu")
        stages.privacy(tasks, self.store, privacy)
        return read_manifests([scores, privacy])

    def times(self) -> dict[Path, int]:
        """When each result was written."""
        return {path: path.stat().st_mtime_ns for path in self.store.results.rglob("*.*") if path.is_file()}

    def made(self) -> list[str]:
        """What the last batch released."""
        return list(read_json(self.released / CONTENTS)["files"])


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_a_key_changes_with_settings_code_data_and_trainer_and_not_with_seeds(data: Path, tmp_path: Path) -> None:
    trainer = task(cell("none", epsilon="inf"), data)
    tasks = [
        task(cell(), data),
        task(cell("tldp-l"), data),
        task(cell(epsilon="3"), data),
        task(cell(range=1), data),
        task(replace(cell(), training=LearningTraining(epochs=2, batch_size=16)), data),
        task(replace(cell(), precision="compiled"), data),
        task(cell(), data, code="other"),
        task(cell(), write_data(tmp_path / "other", seed=1)),
        task(cell(), data, trainer),
        task(cell(), data, replace(trainer, code="other")),
    ]
    assert len({one.key for one in tasks}) == len(tasks)
    assert task(cell(seeds=(3, 4)), data).key == tasks[0].key
    assert task(cell(), write_data(tmp_path / "same", seed=0)).key == tasks[0].key


def test_a_further_seed_is_computed_alone(run: Run, data: Path) -> None:
    first = run([task(cell(seeds=(0,)), data)])
    before = run.times()
    second = run([task(cell(seeds=(0, 1)), data)])
    assert run.made() == [f"{cell().path}/seed~1.safetensors"]
    assert before.items() <= run.times().items()
    assert second == {cell().path: {**first[cell().path], "seed~1": task(cell(), data).key}}
    rows = scores_of(run.store.read(second)[cell().path])["rows"]
    alone = Run(run.folder / "alone")
    both = alone([task(cell(seeds=(1, 0)), data)])
    assert rows == scores_of(alone.store.read(both)[cell().path])["rows"]


def test_what_is_taken_out_and_put_back_is_not_computed_again(run: Run, data: Path) -> None:
    both = [task(cell(), data), task(cell("tldp-l"), data)]
    first = run(both)
    before = run.times()
    assert run(both[:1]).keys() == {cell().path}
    assert run(both) == first
    assert run.made() == []
    assert run.times() == before


def test_other_code_computes_anew_and_the_code_before_finds_its_results(run: Run, data: Path) -> None:
    old, new = (task(cell(), data, code=code) for code in ("old", "new"))
    first = run([old])
    before = run.times()
    assert run([new])[cell().path] == dict.fromkeys(first[cell().path], new.key)
    assert len(run.times()) == 2 * len(before)
    assert run([old]) == first
    assert run.made() == []


def test_numbers_do_not_depend_on_the_batch(run: Run, data: Path) -> None:
    tasks = [task(cell(name), data) for name in ("laplace", "tldp-l")]
    together = run.store.read(run(tasks))
    for one in tasks:
        alone = Run(run.folder / one.cell.mechanism)
        found = alone.store.read(alone([one]))[one.cell.path]
        for part, content in together[one.cell.path].items():
            assert {**content, "run": 0} == {**found[part], "run": 0}, part


def test_a_result_says_what_it_was_made_with(run: Run, data: Path) -> None:
    one = task(cell(seeds=(2,)), data)
    (parts,) = run.store.read(run([one])).values()
    assert parts.keys() == {"seed~2", "guarantee", "audit"}
    for content in parts.values():
        assert content["cell"] == cell(seeds=(2,)).settings()
        assert (content["key"], content["code"]) == (one.key, "c")
    assert run.store.path(cell().path, "seed~2", one.key).name == f"seed~2.{one.key}.json"


def test_a_cell_that_fails_leaves_the_results_of_the_others_and_is_named(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENSORLDP_ALONE", "snakemake --cores 2")
    good, bad = task(cell(), data), task(cell("tldp-l", nonsense=1), data)
    with pytest.raises(InputError) as raised:
        run([bad, good])
    said = str(raised.value)
    assert said.startswith(
        f"1 of 2 cells failed, the results of the others are kept: {bad.cell.path} failed in perturb"
    )
    assert "nonsense" in said.split("Its settings")[0]
    assert json.dumps(bad.settings, sort_keys=True) in said
    assert said.endswith(f"To repeat it alone: snakemake --cores 2 -- results/metrics/{bad.cell.path}.json")
    assert "\n" not in said
    assert run.store.missing(good).cell.seeds == ()
    assert run.store.missing(bad).cell.seeds == (0,)
    assert not run.released.exists()  # so that the next run makes it again
    assert not run.models.exists()
    before = run.times()
    mended = task(cell("tldp-l"), data)
    assert run([mended, good]).keys() == {good.cell.path, mended.cell.path}
    assert run.made() == [f"{mended.cell.path}/seed~0.safetensors"]
    assert before.items() <= run.times().items()


@pytest.mark.parametrize("stage", ["_released", "_models", "_scores", "_guaranteed", "_audited"])
def test_an_error_of_any_kind_in_any_stage_stops_one_cell(
    stage: str, run: Run, data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    computes: Callable[..., Any] = getattr(stages, stage)

    def broken(one: Task, *arguments: Any) -> Any:
        if one.cell.mechanism == "tldp-l":
            raise ZeroDivisionError("division\nby zero")
        return computes(one, *arguments)

    monkeypatch.setattr(stages, stage, broken)
    with pytest.raises(InputError, match=r"epsilon~2 failed in .*: ZeroDivisionError: division by zero\. Its settings"):
        run([task(cell("tldp-l"), data), task(cell(), data)])
    assert "in broken" in capfd.readouterr().err  # the log has where
    assert run.store.missing(task(cell(), data)).cell.seeds == ()
    monkeypatch.undo()
    run([task(cell("tldp-l"), data), task(cell(), data)])


def test_of_many_failures_the_first_are_told_and_the_others_are_in_the_log(
    run: Run, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"^5 of 5 cells failed.* 2 more are in the log$") as raised:
        run([task(cell(epsilon=epsilon, nonsense=1), data) for epsilon in "12345"])
    assert str(raised.value).count("To repeat it alone") == 3
    assert capfd.readouterr().err.count("To repeat it alone") == 2


def test_models_that_cells_share_are_trained_once_and_kept(run: Run, data: Path, tmp_path: Path) -> None:
    trainer = task(sharing("none", "inf", seeds=(0, 1)), data)
    tasks = [task(sharing(name, "10", seeds=(0, 1)), data, trainer) for name in ("idn", "udn")]
    stages.train_shared([trainer], run.store, tmp_path / "models.json", "cpu")
    models = read_json(tmp_path / "models.json")
    assert models == {trainer.cell.path: {"model~0": trainer.key, "model~1": trainer.key}}
    before = run.times()
    assert run.store.holds(models)
    stages.evaluate(tasks, run.store, None, None, tmp_path / "scores.json", "cpu")
    stages.privacy(tasks, run.store, tmp_path / "privacy.json")
    parts = read_manifests([tmp_path / "scores.json", tmp_path / "privacy.json"])[tasks[0].cell.path]
    assert parts.keys() == {"seed~0", "seed~1", "guarantee~0", "guarantee~1", "audit~0"}
    stages.train_shared([trainer], run.store, tmp_path / "models.json", "cpu")
    assert before.items() <= run.times().items()


def test_a_trainer_that_fails_is_named(run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "_models", lambda *_: 1 / 0)
    one = task(sharing("none", "inf"), data)
    with pytest.raises(
        InputError, match=r"inf failed in train_shared: ZeroDivisionError.*results/metrics/s/d/base/none"
    ):
        stages.train_shared([one], run.store, tmp_path / "models.json", "cpu")
    assert not (tmp_path / "models.json").exists()


@pytest.mark.parametrize("content", [b"", b"{", b'{"rows": [', b"\xff\xfe", b"[]", b"null", b"{}"])
def test_a_damaged_result_is_one_sentence(content: bytes, run: Run, data: Path) -> None:
    one = task(cell(), data)
    path = run.store.path(one.cell.path, "seed~0", one.key)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"{one.key}.json is .*: delete it and run again") as raised:
        run.store.read({one.cell.path: {"seed~0": one.key}})
    assert "\n" not in str(raised.value)
    path.unlink()
    with pytest.raises(InputError, match="is missing"):
        run.store.read({one.cell.path: {"seed~0": one.key}})


def test_data_without_their_digest_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"digest\.json is missing"):
        task(cell(), tmp_path).key  # noqa: B018


def folder_of(store: Store, name: str, *files: str, listed: Sequence[str] | None = None) -> Path:
    """A folder of releases or models with these files, which says that it has those that are listed."""
    folder = store.results / name
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    if listed is not None:
        write_json(folder / CONTENTS, {"files": listed, "failed": {}})
    return folder


def test_tidying_removes_what_is_incomplete_and_nothing_else(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    for part in ("seed~0", "seed~1"):
        write_json(store.path("s/d/base/m/epsilon~1", part, "k"), {})
    lists = {
        "s/d/0/scores": {"seed~0": "k", "seed~1": "k"},
        "s/d/1/scores": {"seed~0": "k", "seed~2": "k"},
        "s/d/2/scores": {"seed~0": "other key"},
        "s/d/base/m/epsilon~1/scores": {"seed~1": "k"},
    }
    for name, parts in lists.items():
        write_json(store.results / "batches" / f"{name}.json", {"s/d/base/m/epsilon~1": parts})
    for name, text in (("damaged", '{"s/'), ("strange", "[1]")):
        (store.results / "batches" / f"{name}.json").write_text(text)
    inner = "s/d/base/m/epsilon~1/seed~0.safetensors"
    stay = [
        folder_of(store, "perturbed/s/d/0", inner, listed=[inner]),
        folder_of(store, "models/s/d/base/m/epsilon~1", inner, listed=[inner]),
        folder_of(store, "models/s/d/1", listed=[]),
        folder_of(store, "features/s/d/0", "x"),
    ]
    go = [
        folder_of(store, "perturbed/s/d/2", listed=[inner]),
        folder_of(store, "models/s/d/3", inner),
        folder_of(store, "models/s/d/base/m/epsilon~2", inner, listed=[inner, "lost"]),
    ]
    (folder_of(store, "models/s/d/4", inner) / CONTENTS).write_text('{"files"')
    kept = {path for path in store.results.rglob("*") if path.is_file()}
    store.tidy()
    left = {path for path in store.results.rglob("*") if path.is_file()}
    lost = {path.relative_to(store.results).as_posix() for path in kept - left}
    assert {name for name in lost if name.startswith("batches/")} == {
        "batches/s/d/1/scores.json",
        "batches/s/d/2/scores.json",
        "batches/damaged.json",
        "batches/strange.json",
    }
    assert all(folder.exists() for folder in stay)
    assert not any(folder.exists() for folder in [*go, store.results / "models" / "s" / "d" / "4"])
    assert {name.split("/")[0] for name in lost} == {"batches", "perturbed", "models"}


def test_folders_of_a_killed_run_go_once_there_are_scores_unless_they_were_asked_for(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    folders = [folder_of(store, f"{kind}/s/d/{batch}") for kind in ("perturbed", "models") for batch in (0, 1)]
    for folder in folders:
        folder.mkdir(parents=True)
        os.utime(folder, (1000.0, 1000.0))
    store.clear_spent()
    assert all(folder.exists() for folder in folders)  # there are no scores yet
    write_json(store.results / "batches" / "s" / "d" / "0" / "scores.json", {})
    store.clear_spent([str(store.results / "models" / "s" / "d" / "0")])
    assert [folder.exists() for folder in folders] == [False, True, True, True]
    store.clear_spent()
    assert [folder.exists() for folder in folders] == [False, True, False, True]


def test_two_processes_that_write_the_same_result_at_once_leave_a_whole_file(run: Run, data: Path) -> None:
    one = task(cell(), data)
    path = run.store.path(one.cell.path, "seed~0", one.key)
    content = {"rows": [{"value": number} for number in range(200)]}

    def write() -> Iterator[int]:
        child = os.fork()
        if child:
            yield child
            return
        try:
            for _ in range(150):
                run.store.write(one, "seed~0", content)
        except BaseException:
            os._exit(1)
        os._exit(0)

    children = [child for _ in range(2) for child in write()]
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert read_json(path)["rows"] == content["rows"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_batch_is_read_as_it_was_written_and_its_name_follows_its_content(data: Path, tmp_path: Path) -> None:
    trainer = {"settings": sharing("none", "inf").settings(), "code": "t", "data": str(data)}
    raw = {"settings": sharing("idn", "10").settings(), "code": "c", "data": str(data), "weights": None}
    path = write_batch(tmp_path, [{**raw, "trainer": trainer}])
    assert read_tasks(path) == [task(sharing("idn", "10"), data, task(sharing("none", "inf"), data, code="t"))]
    assert write_batch(tmp_path, [{**raw, "trainer": trainer}]) == path
    assert write_batch(tmp_path, [raw]) != path


def test_a_batch_with_nothing_to_do_does_not_import_torch(run: Run, data: Path) -> None:
    one = task(cell(), data)
    run([one])
    batch = write_batch(run.folder, [{"settings": one.settings, "code": "c", "data": str(data)}])
    program = (
        "import sys; from pathlib import Path; from tensorldp_papers.run import stages, store;"
        f"tasks, kept = store.read_tasks(Path({str(batch)!r})), store.Store(Path({str(run.store.results)!r}));"
        f"out = Path({str(run.folder / 'again')!r}); stages.perturb(tasks, kept, out / 'a', 'cpu');"
        "stages.train(tasks, kept, out / 'a', out / 'b', 'cpu');"
        "stages.evaluate(tasks, kept, out / 'a', out / 'b', out / 'c.json', 'cpu');"
        "stages.privacy(tasks, kept, out / 'd.json'); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def scores(seed: int) -> dict[str, Any]:
    return {"cell": {"seeds": [9]}, "rows": [{"metric": "accuracy", "value": seed / 10}], "run": {"seconds": seed}}


def test_the_scores_of_a_cell_are_in_the_order_of_its_seeds_and_none_is_a_mistake() -> None:
    found = scores_of({"seed~10": scores(10), "guarantee": {}, "seed~2": scores(2)})
    assert found["cell"] == {"seeds": [2, 10]}
    assert [(row["seed"], row["value"]) for row in found["rows"]] == [(2, 0.2), (10, 1.0)]
    assert list(found["runs"]) == ["2", "10"]
    with pytest.raises(InputError, match="no scores"):
        scores_of({"guarantee": {}})


def test_the_guarantee_over_seeds_is_the_weakest() -> None:
    parts = {f"guarantee~{n}": {"guarantee": {"epsilon": epsilon}} for n, epsilon in enumerate((1.0, "inf", 2.0))}
    assert guarantee_of(parts) == {"epsilon": "inf"}
    assert guarantee_of({"guarantee": {"guarantee": {"epsilon": 3.0}}, "seed~0": {}}) == {"epsilon": 3.0}
