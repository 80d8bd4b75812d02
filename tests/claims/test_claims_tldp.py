"""TLDP's claims: theorems come out as they are, and verdicts follow the runs."""

from __future__ import annotations

from pathlib import Path

import invented
import pytest

from tensorldp.claims import tldp_theorems


def test_retention_is_refuted_because_it_gains_nothing_in_the_range(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check compares two mechanisms: where retention does gain, it says so."""
    run = invented.Run((), tmp_path)
    found, observed = run.check("T02")
    assert found == "refuted"
    assert "1.000000 at 10," in observed
    gains = [float(word.split(" at ")[0].split()[-1]) for word in observed.split(", ") if " at 1" in word]
    assert max(gains) > 1.001
    monkeypatch.setattr(tldp_theorems, "SHARED", tldp_theorems.LARGE)
    assert run.check("T02")[0] == "reproduced"


def test_a_delta_that_no_run_used_is_not_decided(tmp_path: Path) -> None:
    assert invented.Run((), tmp_path).check("T53")[0] == "not run"
    run = invented.Run((invented.cell("tldp_type1", "mnist", "none", "inf"),), tmp_path)
    assert run.check("T53")[0] == "reproduced"
