"""What a run tells its jobs through the environment, and which arithmetic networks compute in."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.run import environment, provenance
from tensorldp_papers.run.precision import instruction_set, resolve_precision
from tensorldp_papers.run.settings import parse_settings


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("MIRROR", "PLUGINS", "DEVICE", "GPU", "PRECISION", "PROVENANCE"):
        monkeypatch.setenv(f"TENSORLDP_{key}", "")
        monkeypatch.delenv(f"TENSORLDP_{key}")


def export(main_process: bool = True, **raw: object) -> None:
    environment.export(parse_settings({"studies": ["s"], **raw}), main_process=main_process)


def test_jobs_get_mirror_device_and_plugins(tmp_path: Path) -> None:
    export(mirror=str(tmp_path), device="cpu", plugins=["a", "b"])
    assert (os.environ["TENSORLDP_MIRROR"], os.environ["TENSORLDP_PLUGINS"]) == (str(tmp_path), "a,b")
    assert (environment.device(), environment.gpu_slots()) == ("cpu", 0)
    with pytest.raises(InputError, match="mirror folder /no/such does not exist"):
        export(mirror="/no/such")


def test_a_mirror_in_the_users_folder_is_found_though_no_shell_reads_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "files").mkdir()
    export(mirror="~/files")
    assert os.environ["TENSORLDP_MIRROR"] == str(tmp_path / "files")


def test_a_cluster_job_takes_over_whether_there_is_a_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environment, "GPU_NODE", tmp_path)  # a compute node with a GPU
    monkeypatch.setenv("TENSORLDP_GPU", "0")  # a submitting host without
    export(main_process=False)
    assert environment.gpu_slots() == 0
    export()
    assert environment.gpu_slots() == 1


def test_jobs_record_the_commit_and_versions_of_the_start_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORLDP_PROVENANCE", '{"commit": "of another run", "versions": {}}')
    export()
    found = json.loads(os.environ["TENSORLDP_PROVENANCE"])
    assert found["commit"] != "of another run"
    assert "torch" in found["versions"]
    monkeypatch.setenv("TENSORLDP_PROVENANCE", json.dumps({**found, "commit": "abc"}))
    record = provenance.Stopwatch().record("cpu")
    provenance.commit.cache_clear()
    assert (provenance.commit(), record["versions"]) == ("abc", found["versions"])
    provenance.commit.cache_clear()


def test_a_cluster_job_computes_in_the_precision_of_the_submitting_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "instruction_set", lambda: "amx_bf16")
    monkeypatch.setattr(environment, "available", lambda source: source.name == "steps.cpp")
    desk: dict[str, Any] = {"scale": "desk", "device": "cpu"}
    export(**desk)
    assert environment.precision() == ("compiled", "bfloat16")
    monkeypatch.setattr(environment, "instruction_set", lambda: "avx2")  # a compute node
    monkeypatch.setattr(environment, "available", lambda source: False)
    export(main_process=False, **desk)
    assert environment.precision() == ("compiled", "bfloat16")
    export(**desk)
    assert environment.precision() == ()


GPU: dict[str, bool] = {"gpu": True}
COMPILES: dict[str, bool] = {"compiles": True}
EMBEDDED: dict[str, bool] = {"embedded": True}


@pytest.mark.parametrize(
    ("wish", "instructions", "facts", "expected"),
    [
        ("auto", "amx_bf16", {}, ("bfloat16",)),  # where it gains
        ("auto", "avx512_bf16", {}, ()),
        ("auto", "avx2", {}, ()),
        ("auto", "avx2", GPU, ("bfloat16",)),
        ("auto", "amx_bf16", EMBEDDED, ()),
        ("auto", "avx2", GPU | EMBEDDED, ()),
        ("float32", "amx_bf16", COMPILES, ()),
        ("float32", "avx2", COMPILES | GPU, ()),
        ("auto", "amx_bf16", COMPILES, ("compiled", "bfloat16")),  # the compiled loop first
        ("auto", "avx2", COMPILES | EMBEDDED, ("compiled",)),
        ("auto", "amx_bf16", COMPILES | GPU, ("bfloat16",)),
        ("compiled", "amx_bf16", COMPILES, ("compiled",)),
        ("bfloat16", "amx_bf16", COMPILES, ("bfloat16",)),
        ("bfloat16", "avx512_bf16", EMBEDDED, ("bfloat16",)),  # a wish counts where the machine can
        ("compiled", "avx2", {}, r"precision is 'compiled' but no C\+\+ compiler"),
        ("compiled", "avx2", COMPILES | GPU, "precision is 'compiled' but jobs use a GPU"),
        ("bfloat16", "avx2", {}, r"precision is 'bfloat16' but this machine \(avx2\) has no instructions for it"),
        ("half", "avx2", {}, "precision must be auto, float32, bfloat16 or compiled, got 'half'"),
    ],
)
def test_networks_compute_in_what_is_asked_for_or_gains_here(
    wish: str, instructions: str, facts: dict[str, bool], expected: Any
) -> None:
    asked: dict[str, Any] = {"gpu": False, "embedded": False, **facts, "instructions": instructions}
    if isinstance(expected, tuple):
        assert resolve_precision(wish, **asked) == expected
    else:
        with pytest.raises(InputError, match=expected):
            resolve_precision(wish, **asked)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("fpu avx2 avx512f avx512_bf16 amx_bf16", "amx_bf16"), ("fpu avx2 avx512f", "avx512f"), ("fpu avx2", "avx2")],
)
def test_the_widest_instruction_set_is_read(tmp_path: Path, flags: str, expected: str) -> None:
    source = tmp_path / "cpuinfo"
    source.write_text(f"processor : 0\nflags\t\t: {flags}\nbugs : none\n")
    assert instruction_set(source) == expected
    other = tmp_path / "of ARM"
    other.write_text("processor : 0\nFeatures : fp asimd\n")
    assert instruction_set(other) == instruction_set(tmp_path / "none") != ""  # the architecture
