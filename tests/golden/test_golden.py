"""Today's numbers are those of the versions that methods and mechanisms state."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from golden import Golden, complaints, golden_cells, of_releases, of_study, read

from tensorldp.mechanism_table import MECHANISMS
from tensorldp.mechanisms import laplace

STUDIES = sorted({cell.study for cell in golden_cells()})


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_scores_and_guarantees_are_those_of_the_stated_versions(study: str, tmp_path: Path) -> None:
    assert complaints(read(), of_study(study, tmp_path)) == []


def test_releases_are_those_of_the_stated_versions() -> None:
    assert complaints(read(), of_releases()) == []


def test_every_study_and_mechanism_has_a_golden_value_and_none_is_left_over() -> None:
    cells = {text + cell.path for cell in golden_cells() for text in ("", "guarantee ")}
    assert set(read()) == cells | {f"release {name}" for name in MECHANISMS.names()}


def test_a_changed_constant_of_one_mechanism_asks_for_its_version_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace.Laplace, "scale", property(lambda m: 1.1 * m.size * m.range / m.epsilon))
    (told,) = complaints(read(), of_releases())
    assert told == "release laplace changed: raise the version of the mechanism laplace, or mend"


def made(of: str, method: str, mechanism: str, value: float = 0.5, version: int = 1, where: str = "here") -> Golden:
    return Golden(of, method, mechanism, 1, version, where, str(value), (value,))


CELLS = [made(f"{method}/{name}", method, name) for method in ("learning", "testing") for name in ("none", "laplace")]
KEPT = {cell.of: cell for cell in CELLS}


def changed(*names: str, value: float = 0.6, where: str = "here") -> list[Golden]:
    """The same cells, in which some have another value."""
    other = {"values": (value,), "digest": str(value), "processor": where}
    return [replace(cell, **other) if cell.of in names else cell for cell in CELLS]  # type: ignore[arg-type]


def test_a_method_is_blamed_for_all_its_cells_and_a_mechanism_for_the_rest() -> None:
    assert complaints(KEPT, changed()) == []
    both = changed("learning/laplace", "testing/laplace")
    assert complaints(KEPT, both) == [
        "learning/laplace, testing/laplace changed: raise the version of the mechanism laplace, or mend"
    ]
    assert complaints(KEPT, changed("testing/none", "testing/laplace")) == [
        "all 2 golden cells of the method testing changed: raise its version, or mend"
    ]


def test_last_bits_of_another_processor_are_told_from_changes() -> None:
    for value, where, count in ((0.51, "there", 0), (0.5001, "here", 1), (0.8, "there", 1)):
        assert len(complaints(KEPT, changed("testing/none", value=value, where=where))) == count
    release = made("release laplace", "", "laplace")
    other = replace(release, values=(0.51,), digest="other", processor="there")
    assert len(complaints({release.of: release}, [other])) == 1


def test_a_raised_version_or_a_new_cell_asks_for_new_golden_values() -> None:
    raised = [replace(cell, mechanism_version=2) if cell.mechanism == "laplace" else cell for cell in CELLS]
    (told,) = complaints(KEPT, raised)
    assert told.startswith("versions of learning/laplace, testing/laplace were raised")
    (told,) = complaints(KEPT, [*CELLS, made("testing/idn", "testing", "idn")])
    assert told == "testing/idn has no golden values: run python tests/golden/golden.py"
