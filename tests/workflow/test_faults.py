"""Runs that are killed, interrupted, doubled, or meet damaged files end with the numbers of an undisturbed one."""

from __future__ import annotations

import errno
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from project import (
    METRICS,
    ROOT,
    SMALL,
    SNAKEMAKE,
    Project,
    alive,
    copy_of,
    edited,
    make_project,
    nobody_works_in,
    plan_of,
    started,
    unlock_as_make_does,
    until,
)

from tensorldp.errors import InputError
from tensorldp.files import read_arrays, replacing, write_arrays
from tensorldp_papers.data import fetch as fetching

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.usefixtures("forks"),
    pytest.mark.xdist_group("faults"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc"),
]


def is_as_calm(project: Project, calm: Project) -> None:
    """Nothing of the disturbance is left, and all numbers are those of the calm run."""
    assert project.tables() == calm.tables()
    assert project.stored().keys() == calm.stored().keys()  # their names have the keys
    assert not project.leftovers()
    assert not project.locks()
    assert plan_of(project, METRICS).jobs == {}
    assert nobody_works_in(project.folder, 30), alive(project.folder)


@pytest.mark.weekly
def test_a_run_that_is_killed_twenty_times_ends_with_the_same_numbers(calm: Project, tmp_path: Path) -> None:
    chance, kills, copies = random.Random(20), 0, 0
    while kills < 20:
        copies += 1
        project = make_project(tmp_path / f"copy{copies}")
        project.configure(**SMALL, cells_per_job=chance.choice([1, 2, 100]))
        kept: dict[str, int] = {}
        while kills < 20:
            with started(project, METRICS) as run:
                run.finishes(chance.choice([0, 0, 1, 1, 2, 3, 5]))
                time.sleep(chance.uniform(0.0, 0.7))
                if run.process.poll() is not None:
                    assert run.process.returncode == 0, run.output[-4000:]
                    break
                run.send(signal.SIGKILL)
                run.end()
                kills += 1
                assert "Traceback" not in run.output
            assert nobody_works_in(project.folder, 10), alive(project.folder)
            after = project.stored()
            assert {name: after.get(name) for name in kept} == kept
            kept = after
            unlock_as_make_does(project)
        project.ran()
        is_as_calm(project, calm)


FEATURES = "results/features/digits/tanh_cnn/train.safetensors"
LINEAR = "tldp_type2/digits/backbone=tanh_cnn+model=linear/tldp-g/epsilon~1"
STUDY = "results/studies/tldp_type2/metrics.parquet"


def test_deleted_damaged_and_exchanged_files_are_computed_again_alone_and_data_are_named(
    everything: Project, tmp_path: Path
) -> None:
    project = copy_of(everything, tmp_path / "copy")
    before, cells = project.stored(), project.folder / "results" / "cells"
    gone = next(name for name in before if name.startswith(f"{LINEAR}/seed~1"))
    (cells / gone).unlink()
    features = project.folder / FEATURES
    content = features.read_bytes()
    half = len(content) // 2
    features.write_bytes(content[:half] + content[half:][::-1])  # the same size, and still a safetensors file
    errors, _ = project.failed("--", STUDY)
    assert errors
    assert all(FEATURES in line and "delete it" in line for line in errors), errors
    features.unlink()
    damaged = next(name for name in before if name.startswith(f"{LINEAR}/seed~0"))
    (cells / damaged).write_text("{")
    swapped = [name for name in before if name.startswith("tldp_type1/digits/") and "/guarantee." in name][:2]
    contents = [(cells / name).read_text() for name in swapped]
    for name, text in zip(swapped, reversed(contents), strict=True):
        (cells / name).write_text(text)
    (project.folder / STUDY).write_bytes(b"")
    project.ran("--", METRICS, "results/standing.csv")
    after = project.stored()
    assert {name for name in after if after[name] != before.get(name)} == {gone, damaged, *swapped}
    assert project.tables() == everything.tables()
    assert not project.leftovers()


def test_a_change_whose_first_run_fails_is_computed_by_the_next_one(everything: Project, tmp_path: Path) -> None:
    """Snakemake deletes what a failing job would have made, and makes no file again from which it needs nothing."""
    project = copy_of(everything, tmp_path / "copy")
    before, features = project.stored(), project.folder / FEATURES
    content = features.read_bytes()
    with edited(project, {"workflow/scripts/evaluate.py": "\n_edited = 1\n"}):  # which changes no guarantee
        features.write_bytes(content[:-8] + content[:8])
        errors, _ = project.failed("--", STUDY)
        assert all(FEATURES in line for line in errors), errors
        features.write_bytes(content)
        project.ran("--", STUDY)
        parts = {name.rpartition("/")[2].split(".")[0] for name in project.stored().keys() - before.keys()}
    assert parts == {"seed~0", "seed~1"}
    # and where what makes the features fails, which all cells read
    script = project.home / "workflow" / "scripts" / "extract_features.py"
    with edited(project, {"workflow/scripts/extract_features.py": "\n_edited = 1\n"}):
        text = script.read_text()
        script.write_text(text.replace("    args = ", "    raise SystemExit(1)\n    args = ", 1))
        assert project.snakemake("--", STUDY)[0] == 1
        assert not features.exists()
        script.write_text(text)
        project.ran("--", STUDY)
        assert features.read_bytes() == content


def test_a_cell_by_its_name_is_that_of_the_whole_run(everything: Project, tmp_path: Path) -> None:
    project = copy_of(everything, tmp_path / "copy")
    before, target = project.stored(), f"results/metrics/{LINEAR}.json"
    project.ran("--", target)
    assert project.stored() == before
    asked = LINEAR.replace("epsilon~1", "epsilon~7")
    for _ in range(2):  # the folder is not left locked
        code, text = project.snakemake("--", f"results/metrics/{asked}.json")
        assert code != 0
        (error,) = [line for line in text.splitlines() if "rror" in line]
        assert error.startswith(f"error: the config asks for no cell {asked}; of those"), error
        assert LINEAR in error


def test_a_folder_that_was_half_deleted_at_a_kill_is_not_used(everything: Project, tmp_path: Path) -> None:
    project = copy_of(everything, tmp_path / "copy")
    for kind in ("perturbed", "models"):  # newer than what was computed from it
        (project.folder / "results" / kind / "tldp_type2" / "digits" / "0").mkdir(parents=True)
    assert plan_of(project, "--", METRICS).jobs == {}
    assert not project.leftovers()


FRAGILE = """        if (cell.mechanism, cell.epsilon) == ("laplace", "1") and not Path("mended").exists():
            raise ZeroDivisionError("on purpose")
"""
STAGES = {  # a line of the method before which one cell meets a mistake
    "perturb": "        return {split: perturb(",
    "train": "        if cell.factors.model != ",
    "evaluate": "        model, scaling = restored(",
}


@pytest.mark.weekly
@pytest.mark.parametrize("stage", STAGES)
def test_a_cell_that_raises_takes_no_other_along_and_is_told_with_the_command_that_repeats_it(
    tmp_path: Path, stage: str
) -> None:
    project = make_project(tmp_path / "copy")
    project.configure(**SMALL | {"studies": ["tldp_type1"], "seeds": [0]})
    method = project.folder / "src" / "tensorldp_papers" / "papers" / "tldp" / "learning.py"
    text = method.read_text()
    assert text.count(STAGES[stage]) == 1
    method.write_text(f"{text.replace(STAGES[stage], FRAGILE + STAGES[stage])}\nfrom pathlib import Path\n")
    broken = "tldp_type1/digits/model=small_cnn/laplace/epsilon~1"
    code, said = project.snakemake("--keep-going", "--", METRICS)
    assert code == 1
    told = next(line for line in said.splitlines() if line.startswith("error: ") and f"{broken} failed in" in line)
    assert told.startswith("error: 1 of 5 cells failed, the results of the others are kept: ")
    assert f"{broken} failed in {stage}: ZeroDivisionError: on purpose" in told
    settings = json.loads(told.partition("Its settings: ")[2].partition(". To repeat it alone: ")[0])
    assert (settings["mechanism"], settings["epsilon"]) == ("laplace", "1")
    kept = project.stored()
    assert len([name for name in kept if "/seed~0" in name]) == 4
    assert not project.leftovers()
    (project.folder / "mended").touch()
    alone = shlex.split(told.partition("To repeat it alone: ")[2])
    assert Path(alone[0]).name == "snakemake"  # its whole path where the shell would find another one or none
    assert alone[1:] == ["--cores", "2", "--keep-going", "--", f"results/metrics/{broken}.json"]
    project.ran(*alone[3:])
    after = project.stored()
    assert {name: after[name] for name in kept} == kept
    assert {name.rpartition("/")[0] for name in after.keys() - kept.keys()} == {broken}
    project.ran()


@pytest.mark.weekly
def test_temporary_folders_that_outlived_their_last_reader_at_a_kill_are_deleted_in_the_end(
    everything: Project, tmp_path: Path
) -> None:
    """The state between the end of the scoring job and the deletion of the release and the models that it read."""
    project = copy_of(everything, tmp_path / "copy")
    before = project.stored()
    for name in before:
        if name.startswith("tldp_type2") and "/seed~" in name:
            (project.folder / "results" / "cells" / name).unlink()
    project.ran("results/batches/tldp_type2/digits/0/scores.json", "--notemp")

    def left() -> set[str]:
        return {path.relative_to(project.folder).parts[1] for path in project.leftovers()}

    assert left() == {"perturbed", "models"}
    project.ran("--forcerun", "collect", "--", METRICS, "results/models/tldp_type2/digits/0")
    assert left() == {"models"}  # asked for
    project.ran("--forcerun", "collect", "--", METRICS)
    is_as_calm(project, everything)


def test_a_file_that_was_half_written_at_a_kill_is_cleared_by_the_next_writer(tmp_path: Path) -> None:
    target = tmp_path / "x.safetensors"
    child = os.fork()
    if child == 0:
        with replacing(target) as temporary:
            temporary.write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(list(tmp_path.glob(".*.part"))) == 1
    write_arrays(target, {"x": np.zeros(3)})
    assert read_arrays(target)[0]["x"].tolist() == [0.0, 0.0, 0.0]
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]


@pytest.mark.weekly
def test_a_figure_killed_in_its_notebook_leaves_no_kernel_and_is_made_by_the_next_run(
    everything: Project, tmp_path: Path
) -> None:
    project, figure = copy_of(everything, tmp_path / "copy"), "results/figures/tldp_type1.png"
    (project.folder / figure).unlink()
    with started(project, figure) as run:
        kernel = "ipykernel_launcher"
        assert until(lambda: any(kernel in line for line in alive(project.folder)), 60), run.output
        time.sleep(0.3)
        run.send(signal.SIGKILL)
        run.end()
    # a kernel is a session of its own, so the kill does not reach it: it looks for its parent each second
    assert nobody_works_in(project.folder, 20), alive(project.folder)
    assert not (project.folder / figure).exists() or project.locks()
    project.ran("--unlock")
    project.ran(figure)
    assert (project.folder / figure).read_bytes()[:4] == b"\x89PNG"
    assert not project.leftovers()


FULL_DISK = """
set -e
mount -t tmpfs -o size=200m tmpfs "$2"
cp -r "$1" "$2/project"
cd "$2/project"
left=$(df --output=avail -k . | tail -1)
dd if=/dev/zero of=../fill bs=1k count=$((left - $4)) status=none
code=0
timeout 200 "$3" --cores 2 results/metrics.parquet > "$1/full" 2>&1 || code=$?
echo "first $code"
rm ../fill
code=0
timeout 200 "$3" --cores 2 results/metrics.parquet > "$1/freed" 2>&1 || code=$?
echo "second $code"
cp -r results "$1/results"
"""
PRIVATE = ["unshare", "--map-root-user", "--mount"]  # a file system of one's own, root or not


@pytest.mark.weekly
def test_a_full_disk_is_one_sentence_and_the_run_goes_on_when_there_is_space(calm: Project, tmp_path: Path) -> None:
    mounted = subprocess.run([*PRIVATE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no small disk to fill: mounting in a namespace of one's own is not allowed here")
    project, disk = make_project(tmp_path / "copy"), tmp_path / "disk"
    project.configure(**SMALL)
    disk.mkdir()
    # so many KB are enough for the data set and not for the first releases
    command = [*PRIVATE, "bash", "-c", FULL_DISK, "bash", str(project.folder), str(disk), str(SNAKEMAKE), "1500"]
    environment = project.environment | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=420, check=False, env=environment)
    first = (project.folder / "full").read_text()
    assert done.stdout.split() == ["first", "1", "second", "0"], done.stderr + first[-3000:]
    assert project.tables() == calm.tables()
    assert not project.leftovers()
    assert "Traceback" not in first
    errors = [line for line in first.splitlines() if line.startswith("error: ")]
    assert errors
    assert all("no space left on the disk that holds" in line for line in errors)


@pytest.fixture
def real_mirror() -> Path:
    """A folder with MNIST's files."""
    for folder in filter(None, [os.environ.get("TENSORLDP_MIRROR"), str(ROOT.parent / "shared" / "data")]):
        if (Path(folder) / "mnist" / "train-images-idx3-ubyte.gz").is_file():
            return Path(folder)
    pytest.skip("no mirror folder with MNIST: set TENSORLDP_MIRROR")


@pytest.mark.mirror
def test_a_mirror_that_goes_away_after_the_download_is_not_missed(real_mirror: Path, tmp_path: Path) -> None:
    project, mirror = make_project(tmp_path / "copy"), tmp_path / "mirror"
    mirror.symlink_to(real_mirror)
    settings = SMALL | {"studies": ["tldp_type1"], "datasets": {"tldp_type1": ["mnist"]}}
    project.configure(**settings, mirror=str(mirror))
    project.ran("resources/downloads/mnist/source.json")
    mirror.unlink()
    target = "resources/datasets/mnist/digest.json"
    errors, _ = project.failed(target)
    wanted = f"error: the mirror folder {mirror} does not exist: correct `mirror` in config.yaml or unset it"
    assert errors == [wanted]
    project.configure(**settings)
    assert plan_of(project, target).rules == {"prepare"}


@pytest.mark.mirror
def test_a_mirror_that_goes_away_in_the_middle_of_a_file_is_one_sentence(
    real_mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(origin: Path, target: Path) -> None:
        target.write_bytes(origin.read_bytes()[:1000])
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", broken)
        with pytest.raises(InputError, match="cannot be copied: Stale file handle"):
            fetching.fetch("mnist", tmp_path / "out", mirror=real_mirror, offline=True)
    assert list((tmp_path / "out").iterdir()) == []
    assert len(fetching.fetch("mnist", tmp_path / "out", mirror=real_mirror, offline=True).files) == 4
