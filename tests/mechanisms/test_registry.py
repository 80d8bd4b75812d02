import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import contract
import pytest

from tensorldp import mechanisms
from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS

TOY = '''
import torch
from tensorldp.mechanisms import Mechanism, register
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.randomness import add_laplace

@register
class Toy(Mechanism):
    """Lap(0, 2 I R / epsilon) per element: half of the budget is thrown away."""
    name = "toy-half"
    domain_kind = "box"
    @property
    def scale(self):
        return 2 * self.size * self.domain.width / self.epsilon
    def _randomize(self, x, generator):
        return add_laplace(x, self.scale, generator)
    def squared_error(self):
        return 2 * self.size * self.scale**2
    def curve(self):
        return LaplaceCurve(self.domain.width / self.scale, self.size)
    def worst_pair(self):
        return self.domain.constant(self.domain.low), self.domain.constant(self.domain.high)
'''


@pytest.fixture
def toy_folder(tmp_path: Path) -> Path:
    (tmp_path / "toy_half.py").write_text(textwrap.dedent(TOY))
    return tmp_path


def test_a_users_mechanism_by_one_import_line(toy_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanisms.names()
    monkeypatch.syspath_prepend(str(toy_folder))
    try:
        import toy_half  # type: ignore[import-not-found]  # noqa: F401

        assert "toy-half" in mechanisms.names()
        for shape in ((64,), (3, 8, 8), (1,)):
            m = contract.build("toy-half", shape)
            contract.check_release(m)
            contract.check_squared_error(m)
            contract.check_privacy(m)
            contract.check_worst_records(m)
            contract.check_likelihood(m)
            assert m.guarantee(0.0).epsilon == pytest.approx(0.5)
        contract.check_input_errors(contract.build("toy-half", (4, 5)), contract.build("toy-half", (4, 5), clip=True))
        contract.check_construction_errors("toy-half", (4, 5))
    finally:
        MECHANISMS.remove("toy-half")
        sys.modules.pop("toy_half", None)


def run_python(folder: Path, code: str, **environment: Any) -> str:
    env = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout


def test_a_users_mechanism_by_entry_point(toy_folder: Path) -> None:
    info = toy_folder / "toy_half-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-half\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[tensorldp.mechanisms]\ntoy-half = toy_half:Toy\n")
    out = run_python(
        toy_folder,
        "from tensorldp.mechanisms import names, make, Box\n"
        "assert 'toy-half' in names()\n"
        "print(make('toy-half', epsilon=1, domain=Box(0, 1, (4,))).guarantee(0.0).epsilon)",
    )
    assert float(out) == pytest.approx(0.5)


def test_every_class_says_where_it_comes_from() -> None:
    for name in mechanisms.names():
        cls = mechanisms.mechanism_class(name)
        assert cls.source
        assert cls.status in ("as printed", "reconstructed", "textbook")
        assert cls.__doc__


def test_unknown_names_and_options() -> None:
    box = mechanisms.Box(0, 1, (2,))
    for wrong, nearest in (("privunitt", "privunit"), ("TLDP-L", "tldp-l"), ("Laplace", "laplace")):
        with pytest.raises(InputError, match=f"did you mean '{nearest}'"):
            mechanisms.make(wrong, epsilon=1, domain=box)
    with pytest.raises(InputError, match="did you mean 'delta_range'"):
        mechanisms.make("laplace", epsilon=1, domain=box, delta_rang=2)
    with pytest.raises(InputError, match="name"):
        mechanisms.register(type("Nameless", (mechanisms.Mechanism,), {}))
    with pytest.raises(InputError, match="already registered"):
        mechanisms.register(type("Other", (mechanisms.Mechanism,), {"name": "laplace"}))
    with pytest.raises(InputError, match="only a class derived from Mechanism"):
        mechanisms.register(object)  # type: ignore[type-var]


def test_the_package_shows_what_it_has_without_tricks() -> None:
    assert {"Ball", "Box", "Mechanism", "make", "names", "register"} <= set(dir(mechanisms))
    assert not hasattr(mechanisms, "__getattr__")
