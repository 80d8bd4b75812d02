"""What the report's calculator is given is what the library says."""

import json
import math
from importlib.resources import files

import pytest

from tensorldp.errors import InputError
from tensorldp.mechanisms.sampled_coordinates import HYBRID_THRESHOLD
from tensorldp_papers.report.stored_curves import FILE, MECHANISMS, STEPPED, curves_of, steps_of, zeros_of

STORED = json.loads(files("tensorldp_papers.report.page").joinpath(FILE).read_text())


def test_the_file_has_every_mechanism_as_the_library_has_it_now() -> None:
    assert [*STORED["curves"], *STORED["laws"]] == list(MECHANISMS)
    assert STORED["curves"]["gaussian"]["8x8"] == curves_of("gaussian", (8, 8))
    for name, part in STEPPED.items():
        law = STORED["laws"][name]
        assert (law["part"], law["epsilons"]) == (part, steps_of(name))
        assert law["zeros"]["8x8"] == pytest.approx(zeros_of(name, (8, 8)), rel=1e-6)


def test_the_jump_of_the_hybrid_law_has_a_point_on_either_side() -> None:
    zeros = dict(zip(steps_of("hybrid"), zeros_of("hybrid", (8, 8)), strict=True))
    assert zeros[HYBRID_THRESHOLD] == 0.0
    assert zeros[math.nextafter(HYBRID_THRESHOLD, 1.0)] > 0.02


def test_a_loss_of_another_law_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STEPPED, "laplace", None)
    with pytest.raises(InputError, match="laplace at epsilon"):
        zeros_of("laplace", (8, 8))
