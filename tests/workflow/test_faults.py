"""What goes wrong in long runs: kills, full disks, damaged caches, a mirror that goes away, two runs at once."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import ROOT, SNAKEMAKE, Project, make_project

from tensorldp.data import fetch as fetching
from tensorldp.errors import InputError
from tensorldp.runtime.files import read_arrays, write_arrays

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.xdist_group("faults"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc"),
]

KILLS = 20
TARGET = "results/metrics.parquet"
CELL = "results/metrics/tldp_type2/digits/backbone=tanh_cnn+model=linear/tldp-g/epsilon~1.json"
SMALL: dict[str, Any] = {  # 8 cells, 34 jobs, 15 s
    "studies": ["tldp_type1", "tldp_type2", "tvg_sgd"],
    "seeds": [0, 1],
    "mechanisms": {"tldp_type1": ["none", "tldp-l", "laplace"], "tldp_type2": ["none", "tldp-g"], "tvg_sgd": ["idn"]},
    "datasets": {"tvg_sgd": ["digits"]},
    "epsilons": {"tldp_type1": [1, 5], "tldp_type2": [1], "tvg_sgd": [10]},
    "training": {"tldp_type1": {"epochs": 1}, "tldp_type2": {"epochs": 1}, "tvg_sgd": {"steps": 20}},
}
WARM = {"TENSORLDP_WARM": "1"}


def small(folder: Path) -> Project:
    """A copy with the small grid, whose warm process ends soon after its work."""
    folder.mkdir(parents=True)
    project = make_project(folder)
    project.configure(**SMALL)
    warm = folder / "workflow" / "warm" / "server.py"
    warm.write_text(warm.read_text().replace("IDLE_SECONDS = 20.0", "IDLE_SECONDS = 1.0"))
    return project


def copy_of(project: Project, folder: Path) -> Project:
    shutil.copytree(project.folder, folder)
    return Project(folder)


def rows(project: Project) -> bytes:
    """All that two runs must have in common, as bytes."""
    table = pd.read_parquet(project.folder / TARGET)
    return table.drop(columns=["seconds", "peak_mb", "commit"]).to_csv(index=False).encode()


def cell_rows(project: Project) -> Any:
    return json.loads((project.folder / CELL).read_text())["rows"]


def alive(folder: Path) -> list[str]:
    """Command lines of living processes that work in a folder or name it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            where = os.readlink(entry / "cwd")  # noqa: PTH115
        except OSError:
            continue
        if int(entry.name) != os.getpid() and state not in "ZX" and (str(folder) in line or str(folder) in where):
            found.append(f"{entry.name} {line[:600]}")
    return found


def leftovers(project: Project) -> list[Path]:
    """Half-written files, and intermediate ones that a finished run does not keep."""
    results = project.folder / "results"
    return [
        *project.folder.rglob("*.part"),
        *results.glob("perturbed/**/*.safetensors"),
        *results.glob("models/**/*.safetensors"),
    ]


def until(condition: Callable[[], Any], seconds: float = 60.0, step: float = 0.02) -> bool:
    """Wait for a condition; whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(step)
    return True


@contextmanager
def started(project: Project, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Snakemake in a process group of its own, which is gone at the end; `output` has what it says."""
    environment = {key: value for key, value in os.environ.items() if key != "TENSORLDP_MIRROR"} | WARM
    with (project.folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [str(SNAKEMAKE), "--cores", "2", *arguments],
            cwd=project.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)


def output(project: Project) -> str:
    return (project.folder / "output").read_text(errors="replace")


def after_jobs(project: Project, process: subprocess.Popen[bytes], count: int) -> bool:
    """Wait until so many jobs have finished; False if the run ended first."""
    assert until(lambda: process.poll() is not None or output(project).count("Finished jobid") >= count, 120)
    return process.poll() is None


def locks(project: Project) -> list[Path]:
    return list((project.folder / ".snakemake" / "locks").glob("*.lock"))


def finish(project: Project, *arguments: str) -> str:
    done = project.snakemake(TARGET, *arguments, env=WARM, timeout=240)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout + done.stderr


def sentences(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("error: ")]


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """An undisturbed run. Tests copy it."""
    project = small(tmp_path_factory.mktemp("faults") / "calm")
    finish(project)
    assert not leftovers(project)
    return project


def kill_once(project: Project, chance: random.Random) -> str:
    """Kill a run at a random moment: `early`, `working` (a job was running), or `finished` before it."""
    with started(project, TARGET) as process:
        if chance.random() < 0.2:
            time.sleep(chance.uniform(0.1, 2.0))
        elif not after_jobs(project, process, chance.choice([0, 1, 1, 2, 3, 5])):
            assert process.returncode == 0, output(project)[-4000:]
            return "finished"
        time.sleep(chance.uniform(0.0, 0.7))
        if process.poll() is not None:
            assert process.returncode == 0, output(project)[-4000:]
            return "finished"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
        text = output(project)
    assert until(lambda: not alive(project.folder), 10), alive(project.folder)
    assert "Traceback" not in text
    return "working" if "\nExecute " in text else "early"


def test_a_run_killed_twenty_times_ends_with_the_same_numbers(calm: Project, tmp_path: Path) -> None:
    chance, ends, unlocked, copies = random.Random(20), [], 0, 0
    while sum(end != "finished" for end in ends) < KILLS:
        copies += 1
        project = small(tmp_path / f"copy{copies}")
        while sum(end != "finished" for end in ends) < KILLS:
            ends.append(kill_once(project, chance))
            if ends[-1] == "finished":
                break
            if locks(project) and unlocked < 2:
                # what a user sees and types: the message names the option
                refused = project.snakemake(TARGET, timeout=60)
                assert refused.returncode != 0
                assert "cannot be locked" in refused.stdout + refused.stderr
                assert "--unlock" in refused.stdout + refused.stderr
                assert project.snakemake("--unlock", timeout=60).returncode == 0
                assert not locks(project)
                unlocked += 1
            for lock in locks(project):  # the same, without the two seconds of a start
                lock.unlink()
        text = finish(project)
        assert "IncompleteFilesException" not in text
        assert rows(project) == rows(calm)
        assert not leftovers(project)
        assert project.planned(TARGET) == []
        assert until(lambda folder=project.folder: not alive(folder), 30), alive(project.folder)
    assert ends.count("working") >= KILLS // 2, ends
    assert unlocked


def test_models_that_were_half_deleted_at_a_kill_are_not_used(calm: Project, tmp_path: Path) -> None:
    project = copy_of(calm, tmp_path / "copy")
    results = project.folder / "results"
    metrics = next((results / "metrics").rglob("*.json"))
    models = results / "models" / metrics.relative_to(results / "metrics").with_suffix("")
    models.mkdir(parents=True)  # newer than what was computed from it
    assert project.planned(TARGET) == []
    assert not models.exists()


def test_temporary_folders_that_outlived_their_last_reader_at_a_kill_are_deleted_in_the_end(
    calm: Project, tmp_path: Path
) -> None:
    """The state between the end of the scoring job and the deletion of the release and the models that it read."""
    project = copy_of(calm, tmp_path / "copy")
    (project.folder / CELL).unlink()
    done = project.snakemake(CELL, "--notemp", env=WARM, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.relative_to(project.folder).parts[1] for path in leftovers(project)} == {"perturbed", "models"}
    models = CELL.replace("metrics", "models", 1).removesuffix(".json")
    assert finish(project, models).count("Finished jobid") == 1  # the table
    assert {path.parent for path in leftovers(project)} == {project.folder / models}  # asked for, this time
    finish(project, "--forcerun", "collect")
    assert not leftovers(project)
    assert rows(project) == rows(calm)


def test_a_file_that_was_half_written_at_a_kill_is_cleared_by_the_next_writer(tmp_path: Path) -> None:
    import numpy as np

    target = tmp_path / "x.safetensors"
    child = os.fork()
    if child == 0:
        from tensorldp.runtime.files import replacing

        with replacing(target) as temporary:
            temporary.write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(list(tmp_path.glob(".*.part"))) == 1
    write_arrays(target, {"x": np.zeros(3)})
    assert read_arrays(target)[0]["x"].tolist() == [0.0, 0.0, 0.0]
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]


def test_a_figure_killed_in_its_notebook_leaves_no_kernel_and_is_made_by_the_next_run(
    calm: Project, tmp_path: Path
) -> None:
    project = copy_of(calm, tmp_path / "copy")
    figure = "results/figures/tldp_type1.png"
    with started(project, figure) as process:
        assert until(lambda: any("kernel.py" in line for line in alive(project.folder)), 60), output(project)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
    # what starts a kernel is a session of its own, so the kill does not reach it: it looks for who wants it each second
    assert until(lambda: not alive(project.folder), 20), alive(project.folder)
    assert not (project.folder / figure).exists() or locks(project)
    assert project.snakemake("--unlock", timeout=60).returncode == 0
    done = project.snakemake(figure, env=WARM, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project.folder / figure).read_bytes()[:4] == b"\x89PNG"
    assert not leftovers(project)


def test_ctrl_c_ends_cleanly_and_the_next_run_goes_on(calm: Project, tmp_path: Path) -> None:
    project = small(tmp_path / "copy")
    with started(project, TARGET) as process:
        assert after_jobs(project, process, 4), output(project)
        os.killpg(process.pid, signal.SIGINT)  # what a terminal sends
        assert process.wait(60) in (1, 130, -signal.SIGINT)
    assert not locks(project)
    assert not list(project.folder.rglob("*.part"))
    assert until(lambda: not alive(project.folder), 30), alive(project.folder)
    text = finish(project)
    assert "Nothing to be done" not in text
    assert text.count("Finished jobid") < 34  # what was finished is not repeated
    assert rows(project) == rows(calm)
    assert not leftovers(project)


def test_a_second_run_in_the_same_folder_is_refused_and_harms_nothing(calm: Project, tmp_path: Path) -> None:
    project = small(tmp_path / "copy")
    with started(project, TARGET) as process:
        assert until(lambda: locks(project) or process.poll() is not None, 60)
        os.killpg(process.pid, signal.SIGSTOP)  # holds its locks for as long as the second one needs
        assert process.poll() is None, "the first run ended before the second began"
        second = project.snakemake(TARGET, timeout=120)
        os.killpg(process.pid, signal.SIGCONT)
        text = second.stdout + second.stderr
        assert second.returncode != 0
        assert "cannot be locked" in text
        assert "no other Snakemake process" in text
        assert "Traceback" not in text
        assert process.wait(240) == 0, output(project)[-4000:]
    assert rows(project) == rows(calm)
    assert not leftovers(project)
    assert not locks(project)


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


def namespaces() -> bool:
    """Whether a file system of one's own can be mounted here, root or not."""
    try:
        return (
            subprocess.run(
                ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                capture_output=True,
                timeout=20,
                check=False,
            ).returncode
            == 0
        )
    except OSError:
        return False


def test_a_full_disk_is_one_sentence_and_the_run_goes_on_when_there_is_space(calm: Project, tmp_path: Path) -> None:
    if not namespaces():
        pytest.skip("no small disk to fill: mounting in a namespace of one's own is not allowed here")
    project, disk = small(tmp_path / "copy"), tmp_path / "disk"
    disk.mkdir()
    # 1,500 KB are enough for the data set and not for the first releases
    done = subprocess.run(
        [
            "unshare",
            "--map-root-user",
            "--mount",
            "bash",
            "-c",
            FULL_DISK,
            "bash",
            str(project.folder),
            str(disk),
            str(SNAKEMAKE),
            "1500",
        ],
        capture_output=True,
        text=True,
        timeout=420,
        check=False,
        env=os.environ | WARM,
    )
    first = (project.folder / "full").read_text()
    assert done.stdout.split() == ["first", "1", "second", "0"], done.stderr + first[-3000:]
    assert rows(project) == rows(calm)
    assert not leftovers(project)
    assert "Traceback" not in first
    assert sentences(first)
    assert all("no space left on the disk that holds" in line for line in sentences(first))


CACHED = [
    "results/features/digits/tanh_cnn/train.safetensors",
    "results/features/digits/tanh_cnn/test.safetensors",
    "resources/datasets/digits/train.safetensors",
]


def rerun_cell(project: Project) -> tuple[int, str]:
    done = project.snakemake(CELL, env=WARM, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", CACHED)
@pytest.mark.parametrize("damage", ["truncated", "changed"])
def test_a_damaged_cache_never_gives_wrong_numbers(calm: Project, tmp_path: Path, name: str, damage: str) -> None:
    project = copy_of(calm, tmp_path / "copy")
    path = project.folder / name
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    else:  # the same size, and still a safetensors file: its header is within the first half
        half = len(content) // 2
        path.write_bytes(content[:half] + content[half:][::-1])
    (project.folder / CELL).unlink()
    if name.startswith("resources"):  # the cell reads features, so these must be made again
        shutil.rmtree(project.folder / "results" / "features")
    code, text = rerun_cell(project)
    if code == 0:
        assert cell_rows(project) == cell_rows(calm), "silently other numbers"
        return
    assert "Traceback" not in text
    assert sentences(text)
    assert all(name in line for line in sentences(text)), sentences(text)
    # the sentence says what to do, and that helps
    assert "delete" in sentences(text)[0]
    path.unlink()
    code, text = rerun_cell(project)
    assert code == 0, text
    assert cell_rows(project) == cell_rows(calm)


def vanish(project: Project) -> None:
    """Let the mirror go away after the plan was made, as the download begins."""
    script = project.folder / "workflow" / "scripts" / "download.py"
    script.write_text(
        script.read_text().replace(
            "    args = arg.parse_args(arguments)\n",
            "    args = arg.parse_args(arguments)\n    import shutil\n    shutil.rmtree(args.mirror, True)\n",
        )
    )


def test_a_mirror_that_goes_away_before_its_files_are_read_is_one_sentence(tmp_path: Path) -> None:
    project, mirror = small(tmp_path / "copy"), tmp_path / "mirror"
    mirror.mkdir()
    project.configure(studies=["tldp_type1"], datasets={"tldp_type1": ["mnist"]}, mirror=str(mirror))
    vanish(project)
    done = project.snakemake("resources/datasets/mnist/digest.json", "--retries", "0", env=WARM, timeout=90)
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert "Traceback" not in text
    assert sentences(text)
    assert all(f"the mirror folder {mirror} does not exist" in line for line in sentences(text)), sentences(text)
    assert not leftovers(project)


@pytest.fixture
def real_mirror() -> Path:
    """A folder with MNIST's files."""
    for folder in filter(None, [os.environ.get("TENSORLDP_MIRROR"), str(ROOT.parent / "shared" / "data")]):
        if (Path(folder) / "mnist" / "train-images-idx3-ubyte.gz").is_file():
            return Path(folder)
    pytest.skip("no mirror folder with MNIST: set TENSORLDP_MIRROR")


@pytest.mark.mirror
def test_a_mirror_that_goes_away_after_the_download_is_not_missed(real_mirror: Path, tmp_path: Path) -> None:
    project, mirror = small(tmp_path / "copy"), tmp_path / "mirror"
    mirror.symlink_to(real_mirror)
    changes = {"studies": ["tldp_type1"], "datasets": {"tldp_type1": ["mnist"]}}
    project.configure(**changes, mirror=str(mirror))
    done = project.snakemake("resources/downloads/mnist/source.json", env=WARM, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    mirror.unlink()
    refused = project.snakemake("resources/datasets/mnist/digest.json", env=WARM, timeout=60)
    assert refused.returncode != 0
    assert sentences(refused.stdout + refused.stderr) == [
        f"error: the mirror folder {mirror} does not exist: correct `mirror` in config.yaml or unset it"
    ]
    project.configure(**changes)
    done = project.snakemake("resources/datasets/mnist/digest.json", env=WARM, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rule download" not in done.stdout + done.stderr


@pytest.mark.mirror
def test_a_mirror_that_goes_away_in_the_middle_of_a_file_is_one_sentence(
    real_mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = fetching._read

    def broken(stream: Any) -> Iterator[bytes]:
        yield next(read(stream))
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    monkeypatch.setattr(fetching, "_read", broken)
    with pytest.raises(InputError, match="cannot be copied: Stale file handle"):
        fetching.fetch("mnist", tmp_path / "out", mirror=real_mirror, offline=True)
    assert list((tmp_path / "out").iterdir()) == []
    monkeypatch.setattr(fetching, "_read", read)
    assert len(fetching.fetch("mnist", tmp_path / "out", mirror=real_mirror, offline=True).files) == 4
