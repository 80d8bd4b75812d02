"""The lecture's figures show what the metrics say: laws beside measurements, costs, members found and victims named."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_up import Row, headings, named_rows, points, rows, said, scores, title

from tensorldp.errors import InputError
from tensorldp.files import write_arrays
from tensorldp_papers.papers.lecture import figures as lecture
from tensorldp_papers.papers.lecture.attack_pictures import picture_key
from tensorldp_papers.plots.sheets import PAGE, PHONE, Sheet, on, save
from tensorldp_papers.plots.style import look


def table(parts: list[Row], dataset: str = "synthetic") -> pd.DataFrame:
    return rows(parts, study="reconstruction", dataset=dataset)


def tensor(batch_exponent: float = 0.3, noise: float = 0.0) -> pd.DataFrame:
    """Errors of the tensor attack that follow the law in width and dimension.

    With noise also those under it, so many times as large, and under clipping that changes nothing.
    """
    parts = []
    for batch, d, m in [(4, 30, 5000), (4, 30, 20000), (4, 20, 20000), (2, 30, 20000)]:
        values = {"error": (batch / 4) ** batch_exponent * math.sqrt(d / m), "gradient_rms": 1.0}
        parts += scores(values, variant=f"B={batch},attack=tensor,d={d},defence=none,m={m}")
    for name, by in (("noise", noise), ("clip", 1.0)) if noise else ():
        variant = f"B=4,attack=tensor,d=30,defence={name},m=20000,strength=1"
        parts += scores({"error": by * math.sqrt(30 / 20000)}, variant=variant)
    return table(parts)


def test_sweeps_say_where_the_error_follows_the_law() -> None:
    assert lecture.fitted_slope([1, 2, 4], [3, 12, 48]) == pytest.approx(2.0)
    follows = "Error follows the lecture's law in width"
    assert title(lecture.draw_sweeps(tensor())) == f"{follows} and dimension, and grows slower in batch size"
    figure = lecture.draw_sweeps(tensor(1.0))
    assert title(figure) == f"{follows}, dimension and batch size"
    assert headings(figure)[0] == "exponent −0.50, law −0.5"
    measured, law = figure.axes[0].get_lines()
    assert (measured.get_linestyle(), law.get_linestyle()) == ("-", "--")
    assert np.asarray(measured.get_ydata()) == pytest.approx(np.asarray(law.get_ydata()))
    with pytest.raises(InputError, match="no sweep"):
        lecture.draw_sweeps(tensor().query("variant.str.startswith('B=2')"))


@pytest.mark.parametrize(("noise", "answer"), [(4.0, "Except under gradient noise, the"), (1.2, "Under every defence")])
def test_table_1_says_under_which_defences_its_bound_is_exceeded(noise: float, answer: str) -> None:
    figure = lecture.draw_table1(tensor(noise=noise))
    assert answer in title(figure)
    assert title(figure).endswith("error grows at most as in Table 1")
    assert headings(figure) == ["Gradient noise", "Clipping"]


@pytest.mark.parametrize(("power", "answer"), [(1.5, "with m to the power 1.5, not 1"), (0.9, "How much one record")])
def test_sensitivity_says_which_weights_exceed_the_law(power: float, answer: str) -> None:
    parts: list[Row] = []
    for scaling, exponent in (("mean", 0.9), ("sign", power)):
        for m, d in ((100, 40), (400, 40), (400, 10)):
            variant = f"attack=sensitivity,d={d},m={m},scaling={scaling}"
            parts += scores({"change": 10 * m**exponent}, variant=variant)
    assert answer in said(lecture.draw_sensitivity(table(parts)))


@pytest.mark.parametrize(
    ("clipped", "answer"), [(0.8, "Clipping costs accuracy, yet pictures are recovered"), (0.9, "What a defence costs")]
)
def test_cost_names_the_defences_that_lose_accuracy_and_hide_nothing(clipped: float, answer: str) -> None:
    parts: list[Row] = []
    for defence, accuracy, psnr, found, of in (
        ("none", 0.9, 50.0, 1.0, {}),
        ("clip,strength=1", clipped, 49.0, 1.0, {}),
        ("mechanism,strength=1", 0.9, 3.0, 0.2, {"mechanism": "privunit", "epsilon": 1000.0}),
    ):
        values = {"accuracy": accuracy, "psnr": psnr, "identification": found}
        parts += scores(values, variant=f"attack=cosine,defence={defence}", **of)
    figure = lecture.draw_cost(table(parts, "mnist"))
    assert answer in said(figure)
    assert named_rows(figure) == ["no defence", "clipping to 1", "PrivUnit, ε = 1,000"]
    dots = {str(line.get_label()): line for line in figure.axes[1].get_lines()}
    assert points(figure.axes[1])["_1"][0] == pytest.approx([100 * (0.9 - clipped)])
    assert dots["_2"].get_color() == look("privunit").colour
    with pytest.raises(InputError, match="no gradient inversion"):
        lecture.draw_cost(tensor())


@pytest.mark.parametrize(
    ("found", "bound", "answer"),
    [
        (
            0.8,
            1.0,
            "At a printed ε = 10 an attack finds 80 % of TLDP-L's canaries (true ε 700), 10 % of Laplace's (true ε 10)",
        ),
        (0.12, 1.0, "no more than the guarantees allow"),
        (0.8, 0.3, "more members than the guarantee of TLDP-L allows"),
    ],
)
def test_membership_compares_a_printed_epsilon_and_orders_by_the_true_one(
    found: float, bound: float, answer: str
) -> None:
    parts: list[Row] = []
    for name, at, true, share, most in (
        ("laplace", 10.0, 10.0, 0.1, 0.2),
        ("tldp-l", 10.0, 700.0, found, bound),
        ("none", math.inf, math.inf, 1.0, 1.0),
    ):
        values = {"tpr_at_fpr_0.1": 0.1, "canary_tpr_at_fpr_0.1": share, "tpr_bound_at_fpr_0.1": most, "members": 400.0}
        parts += scores(values, variant="attack=membership", mechanism=name, epsilon=at, guarantee_epsilon=true)
    figure = lecture.draw_membership(table(parts, "mnist"))
    assert answer in said(figure)
    assert named_rows(figure) == ["Laplace, true ε 10", "TLDP-L, true ε 700 (10 printed)", "no privacy"]


# pictures of what an attacker gets


def attacked(named: float = 0.98, laplace: float = 0.01, privunit: float = 0.0) -> pd.DataFrame:
    """Victims named under Laplace and TLDP-L at printed epsilons, and under Laplace and PrivUnit at TLDP-L's true ones.

    None under PrivUnit is no run of it.
    """
    cells = [
        {
            "mechanism": name,
            "epsilon": at * epsilon,
            "guarantee_epsilon": true * epsilon,
            "seed": seed,
            "value": value + 0.02 * seed - 0.01,
        }
        for epsilon in (0.1, 1.0)
        for name, at, true, value in (
            ("laplace", 1, 1, laplace),
            ("tldp-l", 1, 400, named),
            ("laplace", 784, 400, 0.99),
            ("privunit", 400, 400, privunit),
        )
        for seed in (0, 1)
        if value
    ]
    return table(cells, "mnist").assign(metric="identification", variant="attack=likelihood")


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    kinds = ("original", "released", "reconstructed")
    keys = [picture_key("mnist", kind, cell) for cell in attacked().to_dict("records") for kind in kinds]
    picture = np.arange(784, dtype=np.uint8).reshape(28, 28)
    write_arrays(tmp_path / "pictures.safetensors", dict.fromkeys(keys, picture))
    return tmp_path / "pictures.safetensors"


@pytest.mark.parametrize(
    ("axis", "named", "answer"),
    [
        ("nominal", 0.98, "At a printed ε = 1, 1 % of victims are named under Laplace, 98 % under TLDP-L"),
        ("guaranteed", 0.98, "At one true ε (400) TLDP-L hides as much as Laplace: 98 % and 99 % are named"),
        ("guaranteed", 0.2, "At one true ε (400) Laplace's releases name 99 % of victims, TLDP-L's 20 %"),
    ],
)
def test_pictures_show_the_original_and_two_of_each_cell(stored: Path, axis: str, named: float, answer: str) -> None:
    figure = lecture.draw_pictures(attacked(named), stored, axis)
    (canvas,) = figure.axes
    assert answer in said(figure)
    assert len(canvas.images) == 1 + 2 * 2 * 2
    assert sum("named" in text.get_text() for text in canvas.texts) == 4


def test_the_title_names_our_remedy_where_an_attacker_gets_most_from_it() -> None:
    figure = lecture.draw_pictures(attacked(0.3, privunit=0.97).query("mechanism != 'laplace'"), None, "guaranteed")
    answer = "At one true ε (400) PrivUnit's releases name 97 % of victims, TLDP-L's 30 %"
    assert title(figure) == answer


def test_small_numbers_keep_their_digits_in_the_files(tmp_path: Path) -> None:
    small = attacked().replace({"guarantee_epsilon": {0.1: 0.00854}})
    save(lambda: lecture.draw_pictures(small, None), tmp_path / "pictures")
    for name in ("pictures.svg", "pictures_phone.svg"):
        assert "true ε 0.00854" in (tmp_path / name).read_text()


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    for missing in (None, tmp_path / "missing.safetensors"):
        figure = lecture.draw_pictures(attacked(), missing)
        assert not figure.axes[0].images
        assert "98 % named" in said(figure)
        assert lecture.MISSING in said(figure)
    assert "no run here" in said(
        lecture.draw_pictures(attacked().query("epsilon != 0.1 or mechanism != 'laplace'"), None)
    )
    alone = attacked().query("mechanism != 'laplace'")
    assert lecture.one_victim(alone).empty
    assert "not attacked in this run" in said(lecture.draw_one_victim(alone, None))


@pytest.mark.parametrize("sheet", [PAGE, PHONE], ids=["page", "phone"])
def test_one_victim_is_shown_under_both_labels_and_data_sets_side_by_side(stored: Path, sheet: Sheet) -> None:
    both = pd.concat([attacked(), attacked().query("epsilon >= 1 and epsilon < 784").assign(dataset="cifar10")])
    with on(sheet):
        figure = lecture.draw_one_victim(attacked(), stored)
        some = said(lecture.draw_one_victim(attacked(laplace=0.4), None))
        pictures = said(lecture.draw_pictures(both, None))
    assert len(figure.axes[0].images) == 5
    answer = "Same label, ε = 1: an attacker names 1 % of victims under Laplace, 98 % under TLDP-L"
    assert all(part in said(figure) for part in (answer, "true ε 1, as printed", "true ε 400"))
    assert "an attacker names 40 % of victims under Laplace, 98 % under TLDP-L" in some
    assert "CIFAR-10, printed ε = 1" in pictures
    assert "MNIST" in pictures
