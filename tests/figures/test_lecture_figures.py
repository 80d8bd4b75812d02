"""The lecture's figures show what the metrics say: laws beside measurements, costs, members found and victims named."""

import math
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from tensorldp.errors import InputError
from tensorldp.files import write_arrays
from tensorldp_papers.papers.lecture.attack_pictures import picture_key
from tensorldp_papers.papers.lecture.figures import (
    MISSING,
    draw_cost,
    draw_membership,
    draw_one_victim,
    draw_pictures,
    draw_sensitivity,
    draw_sweeps,
    draw_table1,
    fitted_slope,
    one_victim,
)
from tensorldp_papers.plots.sheets import PHONE, on, save
from tensorldp_papers.plots.style import look


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def row(
    variant: str, metric: str, value: float, mechanism: str = "none", at: float = math.inf, **other: object
) -> dict[str, object]:
    """A row of the metrics; a guarantee is that of `at` unless it is given."""
    return {
        "study": "reconstruction",
        "dataset": "synthetic",
        "variant": variant,
        "mechanism": mechanism,
        "epsilon": at,
        "delta": 1e-5,
        "seed": 0,
        "metric": metric,
        "value": value,
        "guarantee_epsilon": at,
        "guarantee_pure_epsilon": at,
        "guarantee_unit": "record",
        **other,
    }


def words(figure: Figure) -> str:
    """All that stands around and in the panels, in one line."""
    texts = [text.get_text() for ax in figure.axes for text in ax.texts]
    return " ".join([*(text.get_text() for text in figure.texts), *texts])


def tensor(batch_exponent: float = 0.3) -> pd.DataFrame:
    """Errors of the tensor attack that follow the law in width and dimension."""
    rows = []
    cells = [(4, 30, m) for m in (5000, 20000)] + [(4, 20, 20000)] + [(2, 30, 20000)]
    for batch, d, m in cells:
        variant = f"B={batch},attack=tensor,d={d},defence=none,m={m}"
        rows.append(row(variant, "error", (batch / 4) ** batch_exponent * math.sqrt(d / m)))
        rows.append(row(variant, "gradient_rms", 1.0))
    return pd.DataFrame(rows)


def defended(error: float) -> pd.DataFrame:
    """The same with noise, that makes the error so many times as large, and with clipping, which changes nothing."""
    base = math.sqrt(30 / 20000)
    ends = "d=30,defence={},m=20000,strength=1"
    more = [
        row(f"B=4,attack=tensor,{ends.format(name)}", "error", base * by)
        for name, by in (("noise", error), ("clip", 1))
    ]
    return pd.concat([tensor(), pd.DataFrame(more)])


def test_a_slope_is_an_exponent() -> None:
    assert fitted_slope([1, 2, 4], [3, 12, 48]) == pytest.approx(2.0)


def test_sweeps_say_where_the_error_follows_the_law() -> None:
    assert "Error follows the lecture's law in width and dimension, and grows slower in batch size" in words(
        draw_sweeps(tensor())
    )
    figure = draw_sweeps(tensor(1.0))
    assert "Error follows the lecture's law in width, dimension and batch size" in words(figure)
    assert figure.axes[0].get_title(loc="left") == "exponent −0.50, law −0.5"
    measured, law = figure.axes[0].get_lines()
    assert (measured.get_linestyle(), law.get_linestyle()) == ("-", "--")
    assert np.asarray(measured.get_ydata()) == pytest.approx(np.asarray(law.get_ydata()))
    with pytest.raises(InputError, match="no sweep"):
        draw_sweeps(tensor().query("variant.str.startswith('B=2')"))


def test_table_1_says_under_which_defences_its_bound_is_exceeded() -> None:
    assert "Except under gradient noise, the error grows at most as in Table 1" in words(draw_table1(defended(4.0)))
    figure = draw_table1(defended(1.2))
    assert "Under every defence the attack's error grows at most as in Table 1" in words(figure)
    assert [ax.get_title(loc="left") for ax in figure.axes if ax.get_visible()] == ["Gradient noise", "Clipping"]


@pytest.mark.parametrize(("power", "said"), [(1.5, "with m to the power 1.5, not 1"), (0.9, "How much one record")])
def test_sensitivity_says_which_weights_exceed_the_law(power: float, said: str) -> None:
    rows = [
        row(f"attack=sensitivity,d={d},m={m},scaling={scaling}", "change", 10 * m**exponent)
        for scaling, exponent in (("mean", 0.9), ("sign", power))
        for m, d in ((100, 40), (400, 40), (400, 10))
    ]
    assert said in words(draw_sensitivity(pd.DataFrame(rows)))


def costs(accuracy: float) -> pd.DataFrame:
    """Gradient inversion without defence, with clipping that hides nothing, and under PrivUnit."""
    rows = []
    for variant, mechanism, at, scores in (
        ("attack=cosine,defence=none", "none", math.inf, (0.9, 50.0, 1.0)),
        ("attack=cosine,defence=clip,strength=1", "none", math.inf, (0.8, 49.0, 1.0)),
        ("attack=cosine,defence=mechanism,strength=1", "privunit", 1000.0, (accuracy, 3.0, 0.2)),
    ):
        for metric, value in zip(("accuracy", "psnr", "identification"), scores, strict=True):
            rows.append(row(variant, metric, value, mechanism, at, dataset="mnist"))
    return pd.DataFrame(rows)


def test_cost_names_the_defences_that_lose_accuracy_and_hide_nothing() -> None:
    figure = draw_cost(costs(0.9))
    assert "Clipping costs accuracy, yet pictures are recovered" in words(figure)
    free = costs(0.9).replace({"value": {0.8: 0.9}})
    assert "What a defence costs, and what an attacker still gets" in words(draw_cost(free))
    left, right = figure.axes
    assert [text.get_text() for text in left.get_yticklabels()] == [
        "no defence",
        "clipping to 1",
        "PrivUnit, ε = 1,000",
    ]
    dots = {str(line.get_label()): line for line in right.get_lines()}
    assert np.asarray(dots["_1"].get_xdata()) == pytest.approx([10.0])
    assert dots["_2"].get_color() == look("privunit").colour
    with pytest.raises(InputError, match="no gradient inversion"):
        draw_cost(tensor())


def members(found: float, bound: float = 1.0) -> pd.DataFrame:
    rows = []
    for name, at, share, most in (
        ("laplace", 10.0, 0.1, 0.2),
        ("tldp-l", 10.0, found, bound),
        ("none", math.inf, 1.0, 1.0),
    ):
        for metric, value in (
            ("tpr_at_fpr_0.1", 0.1),
            ("canary_tpr_at_fpr_0.1", share),
            ("tpr_bound_at_fpr_0.1", most),
            ("members", 400.0),
        ):
            true = 700.0 if name == "tldp-l" else at
            rows.append(row("attack=membership", metric, value, name, at, dataset="mnist", guarantee_epsilon=true))
    return pd.DataFrame(rows)


def test_membership_compares_one_printed_epsilon_and_orders_rows_by_the_true_one() -> None:
    figure = draw_membership(members(0.8))
    assert "At a printed ε = 10 an attack finds 80 % of TLDP-L's canaries, 10 % of Laplace's" in words(figure)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == [
        "Laplace, true ε 10",
        "TLDP-L, true ε 700",
        "no privacy",
    ]
    assert "no more than the guarantees allow" in words(draw_membership(members(0.12)))
    assert "more members than the guarantee of TLDP-L allows" in words(draw_membership(members(0.8, bound=0.3)))


def attacked(named: float = 0.98, dataset: str = "mnist", printed: tuple[float, ...] = (0.1, 1.0)) -> pd.DataFrame:
    """Victims named under Laplace and TLDP-L at printed epsilons, and under Laplace at TLDP-L's true ones."""
    rows = []
    for epsilon in printed:
        true = 400 * epsilon
        for name, at, guarantee, value in (
            ("laplace", epsilon, epsilon, 0.01),
            ("tldp-l", epsilon, true, named),
            ("laplace", 784 * epsilon, true, 0.99),
        ):
            rows.append(
                row(
                    "attack=likelihood", "identification", value, name, at, dataset=dataset, guarantee_epsilon=guarantee
                )
            )
    return pd.DataFrame(rows)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    picture = np.arange(784, dtype=np.uint8).reshape(28, 28)
    arrays = {
        picture_key(str(cell["dataset"]), kind, cell): picture
        for cell in attacked().to_dict("records")
        for kind in ("original", "released", "reconstructed")
    }
    write_arrays(tmp_path / "pictures.safetensors", arrays)
    return tmp_path / "pictures.safetensors"


def test_pictures_show_the_original_once_and_two_for_each_mechanism_and_epsilon(stored: Path) -> None:
    for axis, said in (
        ("nominal", "At a printed ε = 1, 1 % of victims are named under Laplace, 98 % under TLDP-L"),
        ("guaranteed", "At one true ε (400) TLDP-L hides as much as Laplace: 98 % and 99 % are named"),
    ):
        figure = draw_pictures(attacked(), stored, axis)
        (canvas,) = figure.axes
        assert said in words(figure)
        assert len(canvas.images) == 1 + 2 * 2 * 2
        assert sum("named" in text.get_text() for text in canvas.texts) == 4
    low = words(draw_pictures(attacked(0.2), stored, "guaranteed"))
    assert "At one true ε (400), 99 % of victims are named under Laplace, 20 % under TLDP-L" in low


def test_small_numbers_keep_their_digits_in_the_files(tmp_path: Path) -> None:
    small = attacked().assign(guarantee_epsilon=lambda rows: rows["guarantee_epsilon"].replace(0.1, 0.00854))
    save(lambda: draw_pictures(small, None), tmp_path / "pictures")
    for name in ("pictures.svg", "pictures_phone.svg"):
        assert "true ε 0.00854" in (tmp_path / name).read_text()


def test_data_sets_with_one_epsilon_have_mechanisms_side_by_side() -> None:
    both = pd.concat([attacked(), attacked(dataset="cifar10", printed=(1.0,))])
    for sheet_words in (words(draw_pictures(both, None)), _on_a_phone(both)):
        assert "CIFAR-10, printed ε = 1" in sheet_words
        assert "MNIST" in sheet_words
        assert "cifar10" not in sheet_words


def _on_a_phone(metrics: pd.DataFrame) -> str:
    with on(PHONE):
        return words(draw_pictures(metrics, None))


def test_results_without_pictures_draw_the_numbers_and_say_so(tmp_path: Path) -> None:
    for missing in (None, tmp_path / "missing.safetensors"):
        figure = draw_pictures(attacked(), missing)
        assert not figure.axes[0].images
        assert "98 % named" in words(figure)
        assert MISSING in words(figure)


def test_a_mechanism_that_was_not_run_in_a_column_has_a_gap() -> None:
    fewer = attacked().query("mechanism != 'laplace' or epsilon != 0.1")
    assert "no run here" in words(draw_pictures(fewer, None))


def test_one_victim_is_shown_under_both_labels_with_the_true_epsilons(stored: Path) -> None:
    for sheet in (None, PHONE):
        figure = draw_one_victim(attacked(), stored) if sheet is None else _victim_on(stored)
        assert len(figure.axes[0].images) == 5
        said = words(figure)
        assert "Same label, ε = 1: an attacker names 1 % of victims under Laplace, 98 % under TLDP-L" in said
        assert "true ε 1, as printed" in said
        assert "true ε 400" in said
    alone = attacked().query("mechanism != 'laplace'")
    assert one_victim(alone).empty
    assert "not attacked in this run" in words(draw_one_victim(alone, None))


def _victim_on(stored: Path) -> Figure:
    with on(PHONE):
        return draw_one_victim(attacked(), stored)


def test_one_victim_under_a_laplace_that_names_some_has_both_shares() -> None:
    some = attacked().assign(value=lambda rows: rows["value"].where(rows["mechanism"] == "tldp-l", 0.4))
    assert "an attacker names 40 % of victims under Laplace, 98 % under TLDP-L" in words(draw_one_victim(some, None))
