"""What goes wrong in long runs: full disks, damaged caches, a mirror that goes away."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT, SNAKEMAKE, Project
from faults import TARGET, copy_of, leftovers, pending, ran, sentences, small, stored, tables

from tensorldp.errors import InputError
from tensorldp_papers.data import fetch as fetching

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.xdist_group("faults"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc"),
]


FRAGILE = r'''
from pathlib import Path

from tensorldp.mechanisms import Mechanism, register
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.randomness import add_laplace


@register
class Fragile(Mechanism):
    """Laplace noise whose scale at epsilon 5 stands in a file."""

    name, label, domain_kind = "fragile", "Fragile", "box"
    formula, source = r"x + \mathrm{Lap}(I R / \varepsilon)^I", "a test"

    def _randomize(self, x, generator):
        if self.epsilon == 5:
            Path("table.txt").read_text()
        return add_laplace(x, self.size * self.domain.width / self.epsilon, generator)

    def squared_error(self):
        return None

    def curve(self):
        return LaplaceCurve(self.epsilon / self.size, self.size)

    def worst_pair(self):
        return self.domain.constant(self.domain.low), self.domain.constant(self.domain.high)
'''
CELLS = "tldp_type1/digits/model=small_cnn"
BROKEN = f"{CELLS}/fragile/epsilon~5"
FAILED = f"cells failed, the results of the others are kept: {BROKEN} failed in perturb:"
ON_PURPOSE = """        if (cell.mechanism, cell.epsilon) == ("laplace", "1"):
            raise ZeroDivisionError("on purpose")
"""


def test_a_cell_that_raises_takes_no_other_along_and_is_told_with_the_command_that_repeats_it(tmp_path: Path) -> None:
    project = small(
        tmp_path / "copy",
        studies=["tldp_type1"],
        seeds=[0],
        plugins=["fragile"],
        mechanisms={"tldp_type1": ["laplace", "fragile"]},
        datasets={},
        training={"tldp_type1": {"epochs": 1, "limit": 200}},
    )
    (project.folder / "fragile.py").write_text(FRAGILE)
    failed = project.snakemake(TARGET, "--keep-going")
    text = failed.stdout + failed.stderr
    assert failed.returncode != 0
    last = sentences(failed.stderr.rpartition("Done and kept:")[2])  # of an audit, too
    (told,) = (line for line in last if "failed in perturb" in line)
    assert told.startswith(
        f"error: 1 of 4 cells failed, the results of the others are kept: {BROKEN} failed in perturb:"
    )
    assert "FileNotFoundError: [Errno 2] No such file or directory: 'table.txt'" in told
    settings = json.loads(told[told.index("Its settings: ") + 14 : told.index(". To repeat it alone: ")])
    assert (settings["mechanism"], settings["epsilon"]) == ("fragile", "5")
    kept = stored(project)
    others = {
        f"{CELLS}/{mechanism}/epsilon~{epsilon}" for mechanism in ("laplace", "fragile") for epsilon in (1, 5)
    } - {BROKEN}
    assert {name.rpartition("/")[0] for name in kept if "/seed~0" in name} == others
    assert not leftovers(project), text

    # the command that the sentence names computes that cell, and it fails again
    alone = shlex.split(told.partition("To repeat it alone: ")[2])
    assert Path(alone[0]).name == "snakemake"  # its whole path where the shell would find another one or none
    assert alone[1:] == ["--cores", "2", "--keep-going", "--", f"results/metrics/{BROKEN}.json"]
    repeated = project.snakemake(*alone[3:])
    assert repeated.returncode != 0
    assert (
        f"error: 1 of 1 cells failed, the results of the others are kept: {BROKEN} failed in perturb" in repeated.stderr
    )
    assert stored(project) == kept

    # the next run goes on with what is left, and once mended that is this cell
    assert {name.rpartition("/")[0] for name in pending(project) if "/seed~" in name} == {BROKEN}
    (project.folder / "table.txt").touch()
    ran(project, *alone[3:])
    ran(project)
    after = stored(project)
    assert {name: after[name] for name in kept} == kept
    assert {name.rpartition("/")[0] for name in after.keys() - kept.keys()} == {BROKEN}
    assert set(pd.read_parquet(project.folder / TARGET)["mechanism"]) == {"laplace", "fragile"}
    assert not leftovers(project)


@pytest.mark.parametrize(
    ("stage", "line"),
    [("train", "        if cell.factors.model != "), ("evaluate", "        model, scaling = restored(")],
)
def test_a_cell_that_raises_in_a_later_stage_keeps_the_others_too(tmp_path: Path, stage: str, line: str) -> None:
    """A mistake in the code of a method that one cell meets."""
    project = small(tmp_path / "copy", studies=["tldp_type1"], seeds=[0])
    method = project.folder / "src" / "tensorldp_papers" / "papers" / "tldp" / "learning.py"
    assert method.read_text().count(line) == 1
    method.write_text(method.read_text().replace(line, f"{ON_PURPOSE}{line}"))
    failed = project.snakemake(TARGET)
    assert failed.returncode != 0
    assert f"{CELLS}/laplace/epsilon~1 failed in {stage}: ZeroDivisionError: on purpose" in failed.stderr
    scored = {name.rpartition("/")[0] for name in stored(project) if "/seed~0" in name}
    cells = ("none/epsilon~inf", "tldp-l/epsilon~1", "tldp-l/epsilon~5", "laplace/epsilon~5")
    assert scored == {f"{CELLS}/{cell}" for cell in cells}
    assert not leftovers(project)


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
        env=project.environment() | {"PYTHONPATH": str(ROOT / "src")},
    )
    first = (project.folder / "full").read_text()
    assert done.stdout.split() == ["first", "1", "second", "0"], done.stderr + first[-3000:]
    assert tables(project) == tables(calm)
    assert not leftovers(project)
    assert "Traceback" not in first
    assert sentences(first)
    assert all("no space left on the disk that holds" in line for line in sentences(first))


CACHED = [
    "results/features/digits/tanh_cnn/train.safetensors",
    "results/features/digits/tanh_cnn/test.safetensors",
    "resources/datasets/digits/train.safetensors",
]


def rerun_study(project: Project) -> tuple[int, str]:
    done = project.snakemake("results/studies/tldp_type2/metrics.parquet", timeout=240)
    return done.returncode, done.stdout + done.stderr


DAMAGED = [
    (CACHED[0], "truncated"),
    *(pytest.param(name, "changed", marks=pytest.mark.weekly) for name in CACHED[1:]),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGED)
def test_a_damaged_cache_never_gives_wrong_numbers(calm: Project, tmp_path: Path, name: str, damage: str) -> None:
    project = copy_of(calm, tmp_path / "copy")
    path = project.folder / name
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    else:  # the same size, and still a safetensors file: its header is within the first half
        half = len(content) // 2
        path.write_bytes(content[:half] + content[half:][::-1])
    for result in stored(project):
        if result.startswith("tldp_type2"):
            (project.folder / "results" / "cells" / result).unlink()
    if name.startswith("resources"):  # the cells read features, so these must be made again
        shutil.rmtree(project.folder / "results" / "features")
    assert pending(project)
    code, text = rerun_study(project)
    if code == 0:
        assert tables(project) == tables(calm), "silently other numbers"
        return
    assert "Traceback" not in text
    assert sentences(text)
    assert all(name in line for line in sentences(text)), sentences(text)
    # the sentence says what to do, and that helps
    assert "delete" in sentences(text)[0]
    path.unlink()
    code, text = rerun_study(project)
    assert code == 0, text
    ran(project)
    assert tables(project) == tables(calm)


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
    done = project.snakemake("resources/datasets/mnist/digest.json", "--retries", "0", timeout=90)
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
    done = project.snakemake("resources/downloads/mnist/source.json", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    mirror.unlink()
    refused = project.snakemake("resources/datasets/mnist/digest.json", timeout=60)
    assert refused.returncode != 0
    assert sentences(refused.stdout + refused.stderr) == [
        f"error: the mirror folder {mirror} does not exist: correct `mirror` in config.yaml or unset it"
    ]
    project.configure(**changes)
    done = project.snakemake("resources/datasets/mnist/digest.json", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rule download" not in done.stdout + done.stderr


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
