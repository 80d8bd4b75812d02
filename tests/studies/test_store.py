"""Results by key: what is computed, what is passed over, and what happens to a batch when a cell fails."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from small import CPU, images, make_cell, save

from tensorldp.errors import InputError
from tensorldp.files import FullDiskError, read_json, write_json
from tensorldp_papers.papers.tldp.settings import LearningTraining
from tensorldp_papers.run import privacy, stages
from tensorldp_papers.run import store as results
from tensorldp_papers.run.cell import AnyCell
from tensorldp_papers.run.mechanism_check import read_verdict
from tensorldp_papers.run.method import method, read_trained
from tensorldp_papers.run.sealed import write_sealed
from tensorldp_papers.run.store import CONTENTS, Manifest, Store, Task
from tensorldp_papers.run.table import read_table, write_table

STEPS = ("_released", "_models", "_scores", "_guaranteed", "_audited")
KEPT = STEPS[2:]  # steps whose results are kept
TRAINING = {"epochs": 1, "batch_size": 16}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("data"), images())


def cell(
    mechanism: str = "gaussian-analytic", epsilon: str = "2", *, seeds: tuple[int, ...] = (0,), **options: Any
) -> AnyCell:
    settings = {"training": TRAINING, "factors": {"model": "linear"}, "options": options}
    return make_cell("learning", mechanism, epsilon, seeds=seeds, **settings)


def sharing(mechanism: str, epsilon: str) -> AnyCell:
    """A cell that is scored with the models of `none`."""
    return make_cell("testing", mechanism, epsilon, seeds=(0, 1), training=TRAINING, factors={"model": "lenet_tanh"})


def task(made: AnyCell, data: Path, trainer: Task | None = None, code: str = "c") -> Task:
    return Task(made, made.settings(), code, data, None, trainer)


class Run:
    """A folder in which batches are computed, the steps of the last one, and which step breaks for PrivUnit."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.store, self.count = folder, Store(folder / "results"), 0
        self.steps: list[tuple[str, str, int | None]] = []
        self.broken: tuple[str, type[BaseException]] | None = None
        monkeypatch.setattr(privacy, "ELEMENTS", 20_000)  # so that audits take no time
        for step in STEPS:
            monkeypatch.setattr(stages, step, self.recorded(step, getattr(stages, step)))

    def recorded(self, step: str, computes: Callable[..., Any]) -> Callable[..., Any]:
        place = {"_released": 0, "_scores": 2}.get(step)  # of the seed among the arguments

        def compute(one: Task, *arguments: Any) -> Any:
            if self.broken and self.broken[0] == step and one.cell.mechanism in ("privunit", "none"):
                raise self.broken[1]("division\nby zero")
            found = computes(one, *arguments)
            self.steps.append((step, one.cell.path, None if place is None else arguments[place]))
            return found

        return compute

    def __call__(self, tasks: Sequence[Task], lose: str = "nothing") -> Manifest:
        """All stages of a batch; which results are its own. A release may get lost on the way."""
        self.steps.clear()
        self.count += 1
        self.released, self.models = (self.folder / f"{kind}{self.count}" for kind in ("released", "models"))
        lists = [self.folder / f"{kind}{self.count}.json" for kind in ("scores", "privacy")]
        stages.perturb(tasks, self.store, self.released, "cpu")
        (self.released / lose).unlink(missing_ok=True)
        stages.train(tasks, self.store, self.released, self.models, "cpu")
        stages.evaluate(tasks, self.store, self.released, self.models, lists[0], "cpu")
        stages.privacy(tasks, self.store, lists[1])
        return results.read_manifests(lists)

    def times(self) -> dict[Path, int]:
        """When each result was written."""
        return {path: path.stat().st_mtime_ns for path in self.store.results.rglob("*.*") if path.is_file()}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(tmp_path, monkeypatch)


@pytest.mark.parametrize("model", ["mobilenet_v2", "lenet_tanh", "linear"])
def test_a_network_is_read_again_as_it_was_trained(model: str, data: Path, run: Run) -> None:
    """MobileNetV2 counts batches, in arrays without a dimension."""
    settings: dict[str, Any] = {"training": TRAINING | {"pretrained": False}, "factors": {"model": model}}
    assert run([task(made := make_cell("learning", "laplace", "2", **settings), data)])[made.path] is not None
    assert {step for step, *_ in run.steps} >= {"_models", "_scores"}


def test_a_key_changes_with_settings_code_data_and_trainer_and_not_with_seeds(data: Path, tmp_path: Path) -> None:
    trainer, one = task(cell("none", "inf"), data), task(cell(), data)
    longer = replace(cell(), training=LearningTraining(epochs=2, batch_size=16))
    cells = [cell("privunit"), cell(epsilon="3"), cell(range=1), longer, replace(cell(), precision="compiled")]
    tasks = [one, *(task(other, data) for other in cells), replace(one, code="other"), replace(one, trainer=trainer)]
    tasks.append(replace(one, trainer=replace(trainer, code="other")))
    tasks.append(task(cell(), save(tmp_path / "other", images(41))))
    assert len({other.key for other in tasks}) == len(tasks)
    assert task(cell(seeds=(3, 4)), data).key == one.key
    assert task(cell(), save(tmp_path / "same", images())).key == one.key
    with pytest.raises(InputError, match=r"digest\.json is missing"):
        task(cell(), tmp_path).key  # noqa: B018


def test_every_result_is_of_its_own_cell_and_seed_and_computed_once(run: Run, data: Path) -> None:
    """Against the method's own hooks, called for one cell and one seed at a time."""
    learning: Any = method("learning")
    tasks = [
        task(cell(name, e, seeds=(2, 0)), data) for name in ("gaussian-analytic", "privunit") for e in ("64", "512")
    ]
    found, scores = run.store.read(run(tasks)), []
    assert set(found) == {one.cell.path for one in tasks}
    assert set(Counter(run.steps).values()) == {1}
    for one in tasks:
        parts, own = found[one.cell.path], {}
        for content in parts.values():
            assert (content["cell"], content["key"], content["code"]) == (one.settings, one.key, "c")
        for seed in (0, 2):
            alone = replace(one.cell, seeds=(seed,))
            released = learning.release(alone, images(), seed, "train", CPU)
            released |= learning.release(alone, images(), seed, "test", CPU)
            ((_, trained, _),) = learning.train_all(alone, images(), lambda _, made=released: made, CPU)
            own[f"seed~{seed}"] = learning.evaluate(alone, images(), trained, released, seed, CPU)
            assert run.store.path(one.cell.path, f"seed~{seed}", one.key).name == f"seed~{seed}.{one.key}.json"
        scores += [str(rows) for rows in own.values()]
        mechanism, note = learning.audited(one.cell, data)
        own["guarantee"] = learning.guarantee(one.cell, data)
        own["audit"] = privacy.audit_mechanism(mechanism, one.cell, [0.0, 1e-5], note)
        write_json(run.folder / "own.json", own)
        kinds = {"seed": "rows", "guarantee": "guarantee", "audit": "audit"}
        assert {part: parts[part][kinds[part.split("~")[0]]] for part in parts} == read_json(run.folder / "own.json")
    assert len(set(scores)) == 8  # so that none could stand for another


def test_only_what_has_no_result_of_its_key_is_computed(run: Run, data: Path) -> None:
    one, other = task(cell(), data), task(cell("privunit"), data)
    first, whole, before = run([one, other]), Counter(run.steps), run.times()
    assert run([one]).keys() == {one.cell.path}  # the other is taken out, and put back
    assert run([one, other]) == first
    assert (run.steps, run.times()) == ([], before)
    further = run([task(cell(seeds=(0, 1)), data)])
    assert further == {one.cell.path: {**first[one.cell.path], "seed~1": one.key}}
    assert [step for step in run.steps if step[0] != "_models"] == [
        (s, one.cell.path, 1) for s in ("_released", "_scores")
    ]
    new = replace(one, code="new")
    assert run([new, replace(other, code="new")])[one.cell.path] == dict.fromkeys(first[one.cell.path], new.key)
    assert Counter(run.steps) == whole
    assert run([one, other]) == first
    assert run.steps == []
    assert before.items() <= run.times().items()


def test_a_cell_that_fails_is_told_with_what_repeats_it(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORLDP_ALONE", "snakemake --cores 2")
    good, bad = task(cell(), data), task(cell("privunit", nonsense=1), data)
    with pytest.raises(InputError) as raised:
        run([bad, good])
    said, where = str(raised.value), bad.cell.path
    assert said.startswith(f"1 of 2 cells failed, the results of the others are kept: {where} failed in perturb: ")
    assert "nonsense" in said.split("Its settings")[0]
    assert json.dumps(bad.settings, sort_keys=True) in said
    assert said.endswith(f"To repeat it alone: snakemake --cores 2 -- results/metrics/{where}.json")
    assert "\n" not in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "error"),
    [
        *((step, ZeroDivisionError) for step in STEPS),
        *((step, KeyboardInterrupt) for step in STEPS[1:4]),
        ("_released", FullDiskError),
        ("_audited", FullDiskError),
    ],
)
def test_a_batch_that_dies_in_its_middle_goes_on_from_there(
    step: str, error: type[BaseException], run: Run, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A cell's own error stops that cell alone; a full disk or Ctrl-C is the whole batch's."""
    tasks = [task(cell(name, seeds=(0, 1)), data) for name in ("gaussian-analytic", "privunit", "duchi")]
    run.broken = (step, error)
    own = error is ZeroDivisionError
    told = r"^1 of 3 cells failed.*/privunit/epsilon~2 failed in .*: ZeroDivisionError: division by zero\. Its settings"
    with pytest.raises(InputError if own else error, match=told if own else "division"):
        run(tasks)
    assert ("in compute" in capfd.readouterr().err) == own  # the log has where
    first, _, last = ({s for s, path, _ in run.steps if path == one.cell.path} for one in tasks)
    assert step in first
    assert (step in last) == own
    if own and step not in KEPT[1:]:  # what was made on the way is gone, so that the next run makes it again
        assert not any(folder.exists() for folder in (run.released, run.models))
        assert [run.store.missing(one).cell.seeds for one in tasks] == [(), (0, 1), ()]
    made, kept = Counter(one for one in run.steps if one[0] in KEPT), run.times()
    assert not (run.folder / f"{'privacy' if step in KEPT[1:] else 'scores'}1.json").exists()
    run.broken = None
    assert [len(parts) for parts in run.store.read(run(tasks)).values()] == [4, 4, 4]
    made.update(one for one in run.steps if one[0] in KEPT)
    assert (len(made), set(made.values())) == (12, {1})
    assert kept.items() <= run.times().items()


def test_a_release_that_got_lost_stops_its_cell_alone_and_is_made_again(run: Run, data: Path) -> None:
    half, whole = task(cell(seeds=(0, 1)), data), task(cell("privunit", seeds=(0, 1)), data)
    with pytest.raises(InputError, match=rf"1 of 2 cells failed.* {half.cell.path} failed in train: the file"):
        run([half, whole], lose=f"{half.cell.path}/seed~1.safetensors")
    assert [run.store.missing(one).cell.seeds for one in (half, whole)] == [(0, 1), ()]
    assert not run.released.exists()
    run([half, whole])
    assert [step[1:] for step in run.steps if step[0] == "_released"] == [(half.cell.path, seed) for seed in (0, 1)]


def test_of_many_failures_the_first_are_told_and_the_others_are_in_the_log(
    run: Run, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"^5 of 5 cells failed.* 2 more are in the log$") as raised:
        run([task(cell(epsilon=epsilon, nonsense=1), data) for epsilon in "12345"])
    assert str(raised.value).count("To repeat it alone") == 3
    assert capfd.readouterr().err.count("To repeat it alone") == 2


def test_models_that_cells_share_are_trained_once_and_score_their_own_seed(run: Run, data: Path) -> None:
    shared: Any = method("testing")
    trainer, lists = (
        task(sharing("none", "inf"), data),
        [run.folder / f"{n}.json" for n in ("models", "scores", "privacy")],
    )
    run.broken = ("_models", ZeroDivisionError)
    with pytest.raises(InputError, match=r"inf failed in train_shared: ZeroDivisionError.*results/metrics/s/d/v/none"):
        stages.train_shared([trainer], run.store, lists[0], "cpu")
    assert not lists[0].exists()
    run.broken = None
    stages.train_shared([trainer], run.store, lists[0], "cpu")
    models, before = results.read_manifests(lists[:1]), run.times()
    assert models == {trainer.cell.path: {"model~0": trainer.key, "model~1": trainer.key}}
    assert run.store.holds(models)
    trained = [read_trained(run.store.path(trainer.cell.path, f"model~{seed}", trainer.key))[0] for seed in (0, 1)]
    for seed in (0, 1):
        own = shared.train(trainer.cell, images(), seed, CPU).arrays
        assert all((trained[seed].arrays[key] == own[key]).all() for key in own)
    tasks = [task(sharing(name, "10"), data, trainer) for name in ("idn", "udn")]
    stages.evaluate(tasks, run.store, None, None, lists[1], "cpu")
    stages.privacy(tasks, run.store, lists[2])
    found = run.store.read(results.read_manifests(lists[1:]))
    for one in tasks:
        parts = found[one.cell.path]
        assert parts.keys() == {"seed~0", "seed~1", "guarantee~0", "guarantee~1", "audit~0"}
        for seed in (0, 1):
            assert parts[f"seed~{seed}"]["rows"] == shared.evaluate(one.cell, images(), trained[seed], seed, CPU)
            guarantee = shared.guarantee(one.cell, data, [trained[seed]])["epsilon"]
            assert parts[f"guarantee~{seed}"]["guarantee"]["epsilon"] == guarantee
    stages.train_shared([trainer], run.store, lists[0], "cpu")
    assert before.items() <= run.times().items()


@pytest.mark.parametrize("content", [b"", b"{", b'{"rows": [', b"\xff\xfe", b"[]", b"null", b"{}"])
def test_a_damaged_result_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.path("s/d/v/m/epsilon~1", "seed~0", "k")
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    for words in (r"k.json is .*: delete it and run again", "is missing"):
        with pytest.raises(InputError, match=words) as raised:
            store.read({"s/d/v/m/epsilon~1": {"seed~0": "k"}})
        assert "\n" not in str(raised.value)
        path.unlink(missing_ok=True)


INNER = "s/d/v/m/epsilon~1/seed~0.safetensors"
CELL = "s/d/v/m/epsilon~1"
LISTS: dict[str, tuple[dict[str, str] | str, bool]] = {  # of a list of results: what it says, and whether it stays
    "s/d/0/scores": ({"seed~0": "k", "seed~1": "k"}, True),
    "s/d/1/scores": ({"seed~0": "k", "seed~2": "k"}, False),
    "s/d/2/scores": ({"seed~0": "other key"}, False),
    "s/d/3/scores": ({"seed~0": "k", "seed~8": "k"}, False),  # the second one's content is another's
    "s/d/v/m/epsilon~1/scores": ({"seed~1": "k"}, True),
    "damaged": ('{"s/', False),
    "strange": ("[1]", False),
    "unsealed": (f'{{"{CELL}": {{"seed~0": "k"}}}}', False),
}
FOLDERS: dict[str, tuple[list[str], dict[str, Any] | str, bool]] = {  # its files, what it says, and whether it stays
    "perturbed/s/d/0": ([INNER], {"files": [INNER], "failed": {}}, True),
    "perturbed/s/d/2": ([], {"files": [INNER], "failed": {}}, False),
    "perturbed/s/d/3": ([INNER], {"files": [INNER], "failed": {"s/d": ["train", ""]}}, False),
    "models/s/d/v/m/epsilon~1": ([INNER], {"files": [INNER], "failed": {}}, True),
    "models/s/d/v/m/epsilon~2": ([INNER], {"files": [INNER, "lost"], "failed": {}}, False),
    "models/s/d/1": ([], {"files": [], "failed": {}}, True),
    "models/s/d/3": ([INNER], "", False),
    "models/s/d/4": ([INNER], '{"files"', False),
    "features/s/d/0": (["x"], "", True),
}
TABLES = {  # of a table or a check's verdict: what was done to it, and whether it stays
    "metrics.parquet": ("nothing", True),
    "studies/a/metrics.parquet": ("nothing", True),
    "studies/b/metrics.parquet": ("emptied", False),
    "studies/c/standing.csv": ("taken from studies/a/standing.csv", False),
    "privacy/audits.csv": ("changed", False),
    "tables/t.csv": ("never sealed", False),
    "checks/laplace/verdict.json": ("nothing", True),
    "checks/gaussian/verdict.json": ("taken from checks/laplace/verdict.json", False),
    "reference/metrics.parquet": ("never sealed", True),
    "plan.csv": ("never sealed", True),
}


def put(path: Path, content: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_tidying_removes_what_is_incomplete_and_nothing_else(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for folder, (files, content, _) in FOLDERS.items():
        for file in files:
            put(tmp_path / folder / file)
        if isinstance(content, dict):
            write_sealed(tmp_path / folder / CONTENTS, content, CONTENTS)
        elif content:
            put(tmp_path / folder / CONTENTS, content.encode())
    for seed in (0, 1, 8):
        path = store.path(CELL, f"seed~{seed}", "k")
        write_sealed(path, {"rows": []}, store.place(path))
    lists = {name: tmp_path / "batches" / f"{name}.json" for name in LISTS}
    for name, (listed, _) in LISTS.items():
        if isinstance(listed, dict):
            results.write_manifest(lists[name], {CELL: listed})
        else:
            put(lists[name], listed.encode())
    shutil.copy(store.path(CELL, "seed~0", "k"), store.path(CELL, "seed~8", "k"))
    store.tidy()
    assert {folder: (tmp_path / folder).exists() for folder in FOLDERS} == {name: FOLDERS[name][-1] for name in FOLDERS}
    assert {name: path.exists() for name, path in lists.items()} == {name: LISTS[name][-1] for name in LISTS}
    assert [bool(store.lost(f"s/d/{batch}", "scores")) for batch in range(4)] == [False, True, True, True]


def test_tidying_removes_tables_and_verdicts_that_are_not_as_they_were_written_there(tmp_path: Path) -> None:
    for name, (done, _) in TABLES.items():
        path, moved = tmp_path / name, done.startswith("taken from ")
        source = tmp_path / done.removeprefix("taken from ") if moved else path
        if path.suffix == ".json":
            write_sealed(source, {"refuted": False}, source.parent.name)
        elif done == "never sealed":
            put(path, b"a\n")
        else:
            write_table(source, pd.DataFrame({"a": [1.0]}))
            assert read_table(source)["a"].tolist() == [1.0]
        if moved:
            put(path, source.read_bytes())
            if (seal := source.with_name(f".{source.name}.seal")).exists():
                put(path.with_name(f".{path.name}.seal"), seal.read_bytes())
        if done in ("emptied", "changed"):
            put(path, b"" if done == "emptied" else b"a\n2.0\n")
        if moved or done in ("emptied", "changed"):
            with pytest.raises(InputError, match=f"the file {path} is not what was computed for its place"):
                (read_verdict if path.suffix == ".json" else read_table)(path)
    Store(tmp_path).tidy()
    assert {name: (tmp_path / name).exists() for name in TABLES} == {name: TABLES[name][-1] for name in TABLES}


@pytest.mark.parametrize("part", ["seed~0", "guarantee", "audit"])
def test_results_whose_contents_were_swapped_are_told_and_computed_again(run: Run, data: Path, part: str) -> None:
    tasks = [task(cell(), data), task(cell("privunit"), data)]
    manifest = run(tasks)
    paths = [run.store.path(one.cell.path, part, one.key) for one in tasks]
    right = [read_json(path) for path in paths]
    one, other = (path.read_bytes() for path in paths)
    paths[0].write_bytes(other)
    paths[1].write_bytes(one)
    assert not run.store.holds(manifest, since=min(path.stat().st_ctime for path in paths))
    with pytest.raises(InputError, match="is not what was computed for its place"):
        run.store.read(manifest)
    assert run(tasks) == manifest
    assert {path for _, path, _ in run.steps} == {one.cell.path for one in tasks}
    for path, before in zip(paths, right, strict=True):
        again = read_json(path)
        for content in (before, again):
            del content["run"], content["seal"]  # seconds and memory
        assert again == before


@pytest.mark.parametrize("kind", ["released", "models"])
def test_a_release_or_a_model_of_another_seed_stops_its_cell(run: Run, data: Path, kind: str) -> None:
    one = task(cell(seeds=(0, 1)), data)

    def exchange(folder: Path) -> None:
        files = [folder / one.cell.path / f"seed~{seed}.safetensors" for seed in (0, 1)]
        contents = [file.read_bytes() for file in files]
        for file, content in zip(files, reversed(contents), strict=True):
            file.write_bytes(content)

    released, models = run.folder / "released", run.folder / "models"
    stages.perturb([one], run.store, released, "cpu")
    if kind == "released":
        exchange(released)
    stages.train([one], run.store, released, models, "cpu")
    if kind == "models":
        exchange(models)
    with pytest.raises(InputError, match=r"1 of 1 cells failed.*is not what was computed for its place"):
        stages.evaluate([one], run.store, released, models, run.folder / "scores.json", "cpu")
    assert not run.store.has(one, "seed~0")


def test_reading_what_nothing_has_touched_since_its_list_was_written_is_spared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, reads = Store(tmp_path), []
    path = store.path(CELL, "seed~0", "k")
    write_sealed(path, {}, store.place(path))
    changed = path.stat().st_ctime
    monkeypatch.setattr(results, "fits", lambda path, name: not reads.append(path))  # type: ignore[func-returns-value]
    assert store.holds({CELL: {"seed~0": "k"}}, since=changed + 1)
    assert reads == []
    assert store.holds({CELL: {"seed~0": "k"}}, since=changed)
    assert reads == [path]


def test_folders_of_a_killed_run_go_once_there_are_scores_unless_they_were_asked_for(tmp_path: Path) -> None:
    folders = [tmp_path / f"{kind}/s/d/{batch}" for kind in ("perturbed", "models") for batch in (0, 1)]
    for folder in folders:
        folder.mkdir(parents=True)
        os.utime(folder, (1000.0, 1000.0))
    Store(tmp_path).clear_spent()
    assert all(folder.exists() for folder in folders)  # there are no scores yet
    write_json(tmp_path / "batches" / "s" / "d" / "0" / "scores.json", {})
    for asked, left in (([str(folders[2])], [False, True, True, True]), ([], [False, True, False, True])):
        Store(tmp_path).clear_spent(asked)
        assert [folder.exists() for folder in folders] == left


def write_often(one: Task, store: Store, content: dict[str, Any]) -> None:
    for _ in range(150):
        store.write(one, "seed~0", content)


def test_two_processes_that_write_the_same_result_at_once_leave_a_whole_file(tmp_path: Path, data: Path) -> None:
    one, store, content = task(cell(), data), Store(tmp_path), {"rows": [{"value": number} for number in range(200)]}
    with ProcessPoolExecutor(2, get_context("fork")) as pool:
        for written in [pool.submit(write_often, one, store, content) for _ in range(2)]:
            written.result()
    path = store.path(one.cell.path, "seed~0", one.key)
    assert read_json(path)["rows"] == content["rows"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_batch_is_read_as_it_was_written_and_its_name_follows_its_content(data: Path, tmp_path: Path) -> None:
    trainer = {"settings": sharing("none", "inf").settings(), "code": "t", "data": str(data)}
    raw = {"settings": sharing("idn", "10").settings(), "code": "c", "data": str(data), "weights": None}
    path = results.write_batch(tmp_path, [{**raw, "trainer": trainer}])
    assert results.read_tasks(path) == [task(sharing("idn", "10"), data, task(sharing("none", "inf"), data, code="t"))]
    assert results.write_batch(tmp_path, [{**raw, "trainer": trainer}]) == path
    other = results.write_batch(tmp_path, [raw])
    assert other != path
    shutil.copy(path, other)
    with pytest.raises(InputError, match="is not the batch that its name says: delete it and run again"):
        results.read_tasks(other)


def test_a_batch_with_nothing_to_do_does_not_import_torch(run: Run, data: Path) -> None:
    one = task(cell(), data)
    run([one])
    batch = results.write_batch(run.folder, [{"settings": one.settings, "code": "c", "data": str(data)}])
    program = f"""import sys; from pathlib import Path; from tensorldp_papers.run import stages, store
tasks, kept = store.read_tasks(Path({str(batch)!r})), store.Store(Path({str(run.store.results)!r}))
out = Path({str(run.folder / "again")!r})
stages.perturb(tasks, kept, out / "a", "cpu")
stages.train(tasks, kept, out / "a", out / "b", "cpu")
stages.evaluate(tasks, kept, out / "a", out / "b", out / "c.json", "cpu")
stages.privacy(tasks, kept, out / "d.json")
print("torch" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_scores_of_a_cell_are_in_the_order_of_its_seeds_and_its_guarantee_is_the_weakest() -> None:
    parts: dict[str, Any] = {f"guarantee~{n}": {"guarantee": {"epsilon": e}} for n, e in enumerate((1.0, "inf", 2.0))}
    for seed in (10, 2):
        rows = [{"metric": "accuracy", "value": seed / 10}]
        parts[f"seed~{seed}"] = {"cell": {"seeds": [9]}, "rows": rows, "run": {"seconds": seed}}
    found = results.scores_of(parts)
    assert found["cell"] == {"seeds": [2, 10]}
    assert [(row["seed"], row["value"]) for row in found["rows"]] == [(2, 0.2), (10, 1.0)]
    assert list(found["runs"].items()) == [("2", {"seconds": 2}), ("10", {"seconds": 10})]
    assert results.guarantee_of(parts) == {"epsilon": "inf"}
    assert results.audit_of({**parts, "audit~0": {"audit": [{"delta": 0.0}]}}) == [{"delta": 0.0}]
    assert results.audit_of(parts) == []
    assert results.guarantee_of({"guarantee": {"guarantee": {"epsilon": 3.0}}, "seed~0": {}}) == {"epsilon": 3.0}
    with pytest.raises(InputError, match="no scores"):
        results.scores_of({"guarantee": {}})
