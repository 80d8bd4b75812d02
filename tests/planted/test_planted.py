"""Faults that are planted on purpose are noticed by the tests that are said to notice them."""

from __future__ import annotations

from pathlib import Path

import pytest
from plant import CAUGHT, FAULTS, HERE, ROOT, failed, git


def test_every_fault_has_tests_that_are_said_to_notice_it() -> None:
    assert sorted(CAUGHT) == FAULTS
    assert len(FAULTS) >= 10
    for tests in CAUGHT.values():
        assert tests
        for test in tests:
            path, _, name = test.partition("::")
            assert f"def {name}(" in (ROOT / path).read_text(), test


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_can_still_be_planted(fault: str) -> None:
    done = git(ROOT, "apply", "--check", str(HERE / f"{fault}.patch"))
    assert done.returncode == 0, done.stderr


@pytest.mark.weekly
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault: str, tmp_path: Path) -> None:
    found = failed(fault, CAUGHT[fault], tmp_path)
    assert [test for test in CAUGHT[fault] if not any(name.startswith(test) for name in found)] == []
