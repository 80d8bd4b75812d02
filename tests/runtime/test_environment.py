"""What a run tells its jobs through the environment."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.run import environment, provenance
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
