"""Input made to do harm: code in data files, archives that leave their folder, parameters that are code."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.files import read_arrays
from tensorldp.registry import import_plugins
from tensorldp_papers.data.archives import tar_members
from tensorldp_papers.nets.mobilenet import MobileNet, load_imagenet
from tensorldp_papers.plots.means import read_metrics
from tensorldp_papers.run import forked
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings

ROOT = Path(__file__).parents[2]


class Bomb:
    """Unpickling it makes a folder."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


def write_bomb(path: Path, mark: Path) -> None:
    if path.suffix == ".npz":
        np.savez(path, allow_pickle=True, **{"features.0.0.weight": np.array([Bomb(mark)], dtype=object)})
    elif path.suffix == ".zip":  # torch's own format
        torch.save({"features.0.0.weight": Bomb(mark)}, path)
    else:
        path.write_bytes(pickle.dumps(Bomb(mark)))


def test_the_bomb_is_live(tmp_path: Path) -> None:
    write_bomb(tmp_path / "bomb.pth", tmp_path / "mark")
    pickle.loads((tmp_path / "bomb.pth").read_bytes())  # noqa: S301
    assert (tmp_path / "mark").is_dir()


@pytest.mark.parametrize("name", ["bomb.npz", "bomb.pth", "bomb.zip"])
def test_weights_with_code_in_them_are_refused_and_not_run(tmp_path: Path, name: str) -> None:
    write_bomb(tmp_path / name, tmp_path / "mark")
    try:
        with pytest.raises(InputError, match=rf"{name} cannot be read"):
            load_imagenet(MobileNet(2), tmp_path / name)
    finally:
        assert not (tmp_path / "mark").exists()


def test_data_and_tables_with_code_in_them_are_refused_and_not_run(tmp_path: Path) -> None:
    for name, reader in (("train.safetensors", read_arrays), ("metrics.parquet", read_metrics)):
        write_bomb(tmp_path / name, tmp_path / "mark")
        with pytest.raises(InputError, match=name):
            reader(tmp_path / name)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("header", [2**63 - 1, 2**40, 10**8])
def test_a_forged_length_in_a_data_file_is_refused_without_the_memory(tmp_path: Path, header: int) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(header.to_bytes(8, "little") + b"{}")
    with pytest.raises(InputError, match=r"x\.safetensors is truncated or not"):
        read_arrays(path)


def test_a_device_and_a_hard_link_in_an_archive_are_refused(tmp_path: Path) -> None:
    # traversing names and symbolic links are in tests/data/test_parsers.py
    for kind in (tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.LNKTYPE):
        path = tmp_path / "a.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            member = tarfile.TarInfo("train/x")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member, io.BytesIO())
        with pytest.raises(InputError, match="link or a device"):
            list(tar_members(path, lambda name: True))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.tar.gz"]


@pytest.mark.parametrize("name", ["../tldp_type1", "/etc/hostname", "tldp_type1/../tldp_type1", "tldp_type1.yaml"])
def test_a_study_outside_its_folder_is_unknown(name: str) -> None:
    with pytest.raises(InputError, match="unknown study"):
        make_plan(parse_settings({"studies": [name]}))


@pytest.mark.parametrize("name", ["no_such_module", "os; import shutil", "a/b", ".relative"])
def test_a_plugin_that_is_no_module_is_one_sentence(name: str) -> None:
    with pytest.raises(InputError, match="cannot be imported"):
        import_plugins([name])


def papermill(folder: Path, *parameters: str) -> subprocess.CompletedProcess[str]:
    notebook = ROOT / "notebooks" / "tldp_type1.ipynb"
    return subprocess.run(
        [
            *(sys.executable, "-IS", forked.__file__),
            *("-m", "papermill"),
            "--log-level",
            "WARNING",
            "--no-progress-bar",
            str(notebook),
            str(folder / "out.ipynb"),
            *parameters,
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.usefixtures("forks")
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (["-p", "metrics", "5"], "TypeError"),  # papermill turns what looks like a number into one
        (["-y", "metrics: [a, b]"], "TypeError"),
        (["-p", "metrics", "no/such.parquet"], "InputError: the table no/such.parquet is missing"),
        (["-r", "metrics", "'); import os; os.mkdir('pwned'); ('"], "is missing"),
    ],
)
def test_a_wrong_notebook_parameter_fails_clearly_and_draws_nothing(
    tmp_path: Path, parameters: list[str], words: str
) -> None:
    done = papermill(tmp_path, *parameters, "-r", "folder", str(tmp_path))
    assert done.returncode != 0
    assert words in done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.ipynb"]  # papermill's record of the failure
