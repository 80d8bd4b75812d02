"""A mechanism from outside says everything about itself: one class, and every study and figure knows what to do."""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import contract
import pytest
import torch

from tensorldp import mechanisms
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS
from tensorldp.mechanisms import Box, Mechanism, register
from tensorldp.mechanisms.additive_noise import GAUSSIAN, LAPLACE, AdditiveNoise
from tensorldp.mechanisms.catalogue import page
from tensorldp.privacy import audit
from tensorldp_papers.nets.federated import ParameterRelease
from tensorldp_papers.papers.pldp_fl.clients import Preference, make_upload
from tensorldp_papers.papers.tvg.private_sgd import check_schedule, printed_noise
from tensorldp_papers.plots.style import FURTHER_COLOURS, label, look, order

COMPLETE = r'''
from tensorldp.errors import check_positive
from tensorldp.mechanisms import register
from tensorldp.mechanisms.additive_noise import LAPLACE, AdditiveNoise

@register
class Cautious(AdditiveNoise):
    """Lap(0, margin I R / epsilon) per element, more noise than the nominal epsilon asks for.

    Args:
        margin: by how much the noise exceeds what is needed, >= 1.
    """

    name = "toy-cautious"
    label = "Laplace with a margin"
    family = "cautious"
    domain_kind = "box"
    formula = r"x + \mathrm{Lap}(b)^I"
    source = "tests/mechanisms/test_plug_in.py"
    law = LAPLACE

    margin: float = 2.0

    def _prepare(self):
        self.margin = check_positive("margin of toy-cautious", self.margin)

    @property
    def scale(self):
        return self.margin * self.size * self.box.width / self.epsilon
'''
FOUR = Box(0, 1, (4,))
SCHEDULE = check_schedule(1.0, 1e-5, 10_000, 100, 1000)


@pytest.fixture(autouse=True)
def forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of the user's own, with the module `toy_cautious`; what registers itself is forgotten afterwards."""
    (tmp_path / "toy_cautious.py").write_text(COMPLETE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("toy_cautious", None)
    vars(MECHANISMS).pop("_points", None)  # the entry points that were found
    for name in set(MECHANISMS._members):
        if name.startswith("toy-"):
            MECHANISMS.remove(name)


def test_a_class_of_forty_lines_is_complete() -> None:
    assert len(COMPLETE.strip().splitlines()) <= 40
    before = {name: look(name) for name in MECHANISMS.names()}
    import_module("toy_cautious")
    assert "toy-cautious" in mechanisms.names()
    for shape in ((64,), (3, 8, 8), (1,)):
        m = contract.build("toy-cautious", shape)
        for check in contract.CHECKS:
            check(m)
        contract.check_audit(m, audit)
    contract.check_input_errors(*(contract.build("toy-cautious", (4, 5), clip=clip) for clip in (False, True)))
    contract.check_construction_errors("toy-cautious", (4, 5))
    made = mechanisms.make("toy-cautious", epsilon=1.0, domain=FOUR, margin=4)
    assert made.guarantee(0.0).epsilon == pytest.approx(0.25)
    assert repr(made) == "toy-cautious(epsilon=1, domain=Box(low=0.0, high=1.0, shape=(4,)), margin=4.0)"
    with pytest.raises(InputError, match="margin of toy-cautious must be a finite number above 0, got -1"):
        mechanisms.make("toy-cautious", epsilon=1.0, domain=FOUR, margin=-1)
    with pytest.raises(InputError, match="unknown option of toy-cautious 'margins': did you mean 'margin'"):
        mechanisms.make("toy-cautious", epsilon=1.0, domain=FOUR, margins=1)
    row = next(line for line in page(["toy-cautious"]).splitlines() if '<a id="toy-cautious"></a>' in line)
    assert "| Laplace with a margin |" in row
    assert "| pure |" in row
    assert r"$x + \mathrm{Lap}(b)^I$" in page(["toy-cautious"])
    assert "`toy-cautious`" not in page()
    assert label("toy-cautious") == "Laplace with a margin"
    assert look("toy-cautious").colour == FURTHER_COLOURS[0]
    assert FURTHER_COLOURS[0] not in {other.colour for other in before.values()}
    assert {name: look(name) for name in before} == before
    assert order({"toy-cautious", "none", "tldp-g"}) == ["none", "tldp-g", "toy-cautious"]
    assert make_upload("toy-cautious", Preference(0, 1.0, -1, 1), size=4, budget="model").per_weight is None
    with pytest.raises(InputError, match="Gaussian noise to a tensor, not toy-cautious"):
        printed_noise("toy-cautious", [(3, 5)], 1.0, SCHEDULE)


def test_a_users_mechanism_by_entry_point(tmp_path: Path) -> None:
    info = tmp_path / "toy_cautious-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-cautious\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[tensorldp.mechanisms]\ntoy-cautious = toy_cautious:Cautious\n")
    vars(MECHANISMS).pop("_points", None)
    assert "toy-cautious" in mechanisms.names()
    assert "toy_cautious" not in sys.modules
    assert mechanisms.make("toy-cautious", epsilon=1, domain=FOUR).guarantee(0.0).epsilon == pytest.approx(0.5)


def test_a_mechanism_that_acts_on_tensors_gets_tensors() -> None:
    seen: list[tuple[int, ...]] = []

    @register
    class Seeing(AdditiveNoise):
        name = "toy-tensor"
        family = "directional"
        acts_on = "tensor"
        law = GAUSSIAN

        @property
        def scale(self) -> float:
            return self.domain.diameter / self.epsilon

        def _randomize(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
            seen.append(tuple(x.shape))
            return super()._randomize(x, generator)

    def maker(domain: Box, **extra: object) -> Mechanism:
        return mechanisms.make("toy-tensor", domain=domain, **{"epsilon": 6.0, "delta": 3e-5, **extra})  # type: ignore[arg-type]

    shapes = [(3, 5), (3,), (4, 2, 2)]
    run = {"epsilon": 6.0, "delta": 3e-5, "clip": 1.0, "users": 3, "where": "user", "rounds": 2}
    release = ParameterRelease(maker, "toy-tensor", shapes=shapes, layers=[34], **run)  # type: ignore[arg-type]
    assert release.privatize(torch.zeros(34), 0, torch.Generator().manual_seed(0)).shape == (34,)
    assert seen == [(1, *shape) for shape in shapes]
    assert "one release per tensor, budget split equally over 3 tensors" in release.notes
    assert release.run_curve().epsilon(1e-5) < math.inf
    assert look("toy-tensor").family == look("tvg").family
    assert look("toy-tensor").colour in FURTHER_COLOURS
    noise = printed_noise("toy-tensor", shapes, 1.0, SCHEDULE)
    assert noise.sigmas[0] / noise.sigmas[1] == pytest.approx(math.sqrt(5))


@pytest.mark.parametrize(
    ("trait", "value", "message"),
    [
        ("acts_on", "pixel", "acts_on of Wrong must be one of element, vector, matrix, tensor, got 'pixel'"),
        ("epsilon_unit", 3, "epsilon_unit of Wrong must be one of record, element, run, got 3"),
        ("label", "two\nlines", "label of Wrong must be a line of text"),
        ("private", "no", "private of Wrong must be True or False, got 'no'"),
        ("unit", "pixel", "unit of Wrong must be one of record"),
        ("__annotations__", {"label": "str"}, "label of Wrong is a trait of the class: write it without an annotation"),
    ],
)
def test_a_trait_outside_the_vocabulary_is_one_sentence(trait: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        type("Wrong", (AdditiveNoise,), {trait: value})


def test_a_subclass_with_a_name_of_its_own_has_a_label_of_its_own() -> None:
    parent = mechanisms.mechanism_class("laplace")
    child: type[mechanisms.Mechanism] = type("Child", (parent,), {"name": "toy-child"})
    assert (child.label, child.family) == ("toy-child", "laplace")


class Hasty(Mechanism):
    name = "toy-hasty"

    def _randomize(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        self.last = x
        return x.add_(torch.randn(x.shape, generator=generator, dtype=x.dtype))

    def squared_error(self) -> float:
        return float(self.size)

    def curve(self) -> GaussianCurve:
        return GaussianCurve(self.domain.diameter)


class Flat(Hasty):
    def _randomize(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        return (x.view(-1) + torch.randn(x.numel(), generator=generator, dtype=x.dtype)).view(x.shape)


class HastyLaw(AdditiveNoise):
    name = "toy-hasty-law"
    law = replace(LAPLACE, add=lambda x, scale, generator: x.add_(torch.randn(x.shape, generator=generator)))
    scale = 1.0


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("block_bytes", [None, 64, 8 << 20])
@pytest.mark.parametrize("kind", [Hasty, HastyLaw])
def test_a_class_that_writes_in_place_leaves_the_callers_records_alone(
    kind: type[Mechanism], block_bytes: int | None, clip: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "block_bytes", block_bytes)
    m = kind(epsilon=1.0, domain=Box(0, 1, (3, 5)), clip=clip)
    for x in (torch.rand(40, 3, 5), torch.rand(40, 5, 3).transpose(1, 2), torch.full((40, 3, 5), 1.0 + 1e-7)):
        before = x.clone()
        y = m.privatize(x, torch.Generator())
        assert torch.equal(x, before)
        kept = y.clone()
        m.privatize(x, torch.Generator().manual_seed(2))
        assert torch.equal(y, kept)  # nor does a later release change an earlier one


def test_a_class_that_says_it_leaves_its_input_is_given_it_and_one_derived_from_it_says_so_anew() -> None:
    class Kept(Hasty):
        leaves_input = True

        def _randomize(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
            self.last = x
            return x + 1.0

    class Derived(Kept):
        _randomize = Hasty._randomize

    x = torch.rand(4, 3, 5)
    for kind, given in ((Kept, True), (type("Same", (Kept,), {}), True), (Derived, False), (Hasty, False)):
        mechanism = kind(epsilon=1.0, domain=Box(0, 1, (3, 5)))
        mechanism.privatize(x, torch.Generator())
        assert (mechanism.last.data_ptr() == x.data_ptr()) == given, kind


def test_layouts_make_no_difference_to_a_class_that_asks_for_contiguous_records() -> None:
    contract.check_layouts(Flat(epsilon=1.0, domain=Box(-1, 1, (3, 4, 5))))


@pytest.mark.parametrize("block_bytes", [None, 8 << 20])
@pytest.mark.parametrize(
    ("wrong", "got"),
    [
        (lambda x: x[:1], r"\(1, 3, 5\) of torch.float64"),  # one release for all
        (lambda x: x[:, :, :1], r"\(4, 3, 1\) of torch.float64"),
        (lambda x: x + 1j, r"\(4, 3, 5\) of torch.complex128"),
        (lambda x: 0.5, "a float"),
        (lambda x: x.numpy(), r"a NumPy array of shape \(4, 3, 5\)"),
        (lambda x: x.tolist(), "a list"),
        (lambda x: None, "None"),
    ],
)
def test_a_release_that_does_not_fit_its_input_is_one_sentence(
    wrong: Callable[[torch.Tensor], object], got: str, block_bytes: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hasty, "_randomize", lambda self, x, generator: wrong(x))
    monkeypatch.setattr(Hasty, "block_bytes", block_bytes)
    message = rf"^toy-hasty must release a tensor of real numbers of its input's shape \(4, 3, 5\), got {got}$"
    with pytest.raises(InputError, match=message):
        Hasty(epsilon=1.0, domain=Box(0, 1, (3, 5))).privatize(torch.rand(4, 3, 5).double(), torch.Generator())


@pytest.mark.parametrize(
    ("register_or_make", "message"),
    [
        (lambda: mechanisms.make("privunitt", epsilon=1, domain=FOUR), "did you mean 'privunit'"),
        (lambda: mechanisms.make("TLDP-L", epsilon=1, domain=FOUR), "did you mean 'tldp-l'"),
        (lambda: register(type("Nameless", (Mechanism,), {})), "name"),
        (lambda: register(type("Other", (Mechanism,), {"name": "laplace"})), "already registered"),
        (lambda: register(object), "only a class derived from Mechanism"),  # type: ignore[type-var]
    ],
)
def test_what_is_no_mechanism_is_told(register_or_make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        register_or_make()


@pytest.mark.parametrize(
    ("method", "value", "wanted"),
    [
        ("curve", 1.0, "a PrivacyCurve"),
        ("squared_error", "two", "a number of at least 0, or None"),
        ("squared_error", math.nan, "a number of at least 0, or None"),
        ("worst_pair", (torch.zeros(3), torch.ones(3)), "two tensors of the shape of a record"),
        ("worst_input", [0.0] * 4, "a tensor of the shape of a record"),
        ("worst_input", torch.zeros(9, 9).numpy(), "a tensor of the shape of a record"),
    ],
)
def test_what_a_class_says_of_itself_is_refused_in_one_sentence_where_it_cannot_be_read(
    method: str, value: object, wanted: str
) -> None:
    laplace = mechanisms.mechanism_class("laplace")
    wrong = type("Wrong", (laplace,), {"__module__": __name__, method: lambda self: value})
    made = wrong(epsilon=1.0, domain=FOUR)
    with pytest.raises(InputError, match=f"{method} of laplace must return {wanted}, got ") as caught:
        getattr(made, method)()
    assert len(str(caught.value).splitlines()) == 1
