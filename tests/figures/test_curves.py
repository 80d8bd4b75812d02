"""Scores at printed and at true epsilon, side by side, and the first picture: titles follow the numbers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_up import GRID, lines, named_rows, points, rows, said, table, title, words

from tensorldp.errors import InputError
from tensorldp.mechanism_table import MECHANISMS, NO_PRIVACY
from tensorldp.mechanisms.pldp_fl import PdpmCurve
from tensorldp_papers.papers.tvg.figures import draw_tvg
from tensorldp_papers.plots.curves import by_family, draw_every_mechanism, draw_study, main_setting, with_lines
from tensorldp_papers.plots.epsilon_you_get import draw_epsilons, epsilons, sentence
from tensorldp_papers.plots.lines import MOST_LINES
from tensorldp_papers.plots.means import study_data
from tensorldp_papers.plots.sheets import save
from tensorldp_papers.plots.style import look

TLDP = {"study": "tldp_type1", "source": "TLDP, Figure 1"}


def test_the_printed_axis_ends_with_the_papers_grid_and_the_true_one_shows_all() -> None:
    printed, true = (points(ax) for ax in draw_study(table(), **TLDP).axes)
    assert (printed["TLDP-L"][0], printed["Laplace"][0]) == ([1.0, 5.0], [1.0])
    assert "no privacy" in printed
    assert true["TLDP-L"] == ([64.0, 320.0], pytest.approx([0.55, 0.55]))
    assert true["Laplace"] == ([1.0, 64.0], pytest.approx([0.55, 0.55]))
    parts = [line for line in draw_study(table(), **TLDP).axes[1].get_lines() if line.get_label() == "Laplace"]
    assert max(len(np.atleast_1d(line.get_xdata())) for line in parts) == 1  # nothing was run between, so no line
    assert study_data(table(), "tldp_type1")["count"].eq(2).all()


def test_the_printed_axis_says_whose_epsilon_is_not_of_a_record() -> None:
    drawn = {name: draw_study(table([(name, (1.0, 5.0), 64.0)]), part="pixel", **TLDP) for name in ("tldp-l", "pdpm")}
    said_of = {name: figure.axes[0].get_xlabel().replace("\n", " ") for name, figure in drawn.items()}
    assert said_of == {
        "tldp-l": "printed ε (nats; TLDP's is of one pixel)",
        "pdpm": "printed ε (nats; PLDP-FL's is of one pixel)",
    }


@pytest.mark.parametrize(
    ("tldp", "factor", "answer"),
    [
        (0.5, 64.0, "TLDP's lead is a relabelled axis: at one true ε Laplace does as well"),
        (0.9, 64.0, "At one true ε TLDP leads on digits"),
        (0.9, 4.0, "The same runs at their printed and at their true ε"),
    ],
)
def test_the_title_says_what_the_numbers_support(tldp: float, factor: float, answer: str) -> None:
    own = table([("tldp-l", (1.0, 5.0), factor)], value=tldp)
    assert title(draw_study(pd.concat([own, table(GRID[1:])]), **TLDP)) == answer


@pytest.mark.slow
def test_the_title_says_on_which_data_sets_each_mechanism_does_as_well() -> None:
    def on(dataset: str, laplace: float, privunit: float) -> pd.DataFrame:
        values = {"tldp-l": 0.5, "laplace": laplace, "privunit": privunit}
        return pd.concat([table([(name, (1.0, 5.0), 1.0)], value=v, dataset=dataset) for name, v in values.items()])

    both = pd.concat([on("digits", 0.5, 0.5), on("mnist", 0.5, 0.8)])
    alike = "TLDP's lead is a relabelled axis: at one true ε"
    assert title(draw_study(both, **TLDP)) == f"{alike} Laplace and PrivUnit do as well"
    apart = pd.concat([on("digits", 0.5, 0.2), on("mnist", 0.2, 0.5)])
    assert title(draw_study(apart, **TLDP)) == f"{alike} Laplace does as well on digits, PrivUnit on MNIST"


def test_five_mechanisms_tell_most_and_the_heat_map_has_all() -> None:
    names = {n for n in MECHANISMS.names() if n not in (NO_PRIVACY, "k-rr", "k-rr-secure")}
    runs = table([(name, (1.0, 5.0), 1.0) for name in names])
    assert {"TLDP-L", "TLDP-G", "PrivUnit", "Laplace"} < set(lines(draw_study(runs, **TLDP).axes[1]))
    assert {look(name).label for name in names} == set(named_rows(draw_every_mechanism(runs, **TLDP)))
    groups = by_family(names)
    assert {name for group in groups for name in group} == names
    assert max(map(len, groups)) <= MOST_LINES
    assert [{"tldp-l", "tldp-l-w"} <= set(group) for group in groups].count(True) == 1


def test_each_data_set_shows_its_main_setting_with_noise_by_users() -> None:
    users, server, printed = (
        f"model=fcn,{rest}" for rest in ("where=user", "where=server", "range=printed,where=user")
    )
    other = table(GRID[:1], variant="model=mobilenet_v2,where=user")
    runs = pd.concat([table(variant=server), table(variant=users), table(variant=printed, value=0.1), other])
    assert set(main_setting(with_lines(runs))["setting"]) == {users}
    told = said(draw_study(runs, **TLDP))
    assert "Fully connected network, noise added by users." in told
    assert "With the printed Δ of 256, not drawn, TLDP has 0.15 at ε = 5." in told


def test_what_is_missing_is_said() -> None:
    told = said(draw_study(table().assign(guarantee_epsilon=math.inf), **TLDP))
    assert "Not drawn at their true ε, which is infinite at that δ: some of Laplace and TLDP-L." in told
    with pytest.raises(InputError, match="no rows of study tldp_type9"):
        draw_study(table(), "tldp_type9", source="")
    one, both = (draw_study(runs, **TLDP).axes[0] for runs in (table().query("seed == 0"), table()))
    for ax in (one, both):  # also one seed has a line
        assert {str(line.get_label()): line for line in ax.get_lines()}["TLDP-L"].get_linestyle() == "-"
    heights = [
        np.ptp(np.asarray(band.get_paths()[0].vertices)[:, 1]) for ax in (one, both) for band in ax.collections[:1]
    ]
    assert heights == pytest.approx([math.nan, 0.1], nan_ok=True)  # no band of one seed


def test_saved_figures_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(lambda: draw_study(table(), **TLDP), tmp_path / name)
    for ending in (".png", "_dark.png", ".svg", "_phone.svg"):
        assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


def test_figures_of_each_paper_say_that_data_are_the_users_own() -> None:
    tvg = table([("idn", (1.0, 2.0), 1.0)], study="tvg_features", dataset="mine", variant="unit=batch")
    for figure in (draw_study(table(dataset="mine"), **TLDP), draw_tvg(tvg, "tvg_features", source="TVG, Figure 4")):
        assert any(text.startswith("Your data, as in T") for text in words(figure))


# the first picture


@pytest.fixture
def metrics() -> pd.DataFrame:
    cells = [
        ("tldp_type1", "tldp-l", 1.0, "model=a", 0.9, 382.3, 784.0),
        ("tldp_type1", "tldp-l", 1.0, "model=b", 0.8, 382.3, 784.0),
        ("tldp_type1", "tldp-l", 5.0, "model=a", 0.99, 3330.0, math.inf),
        ("tldp_type1", "tldp-l", 1.0, "model=a,range=printed", 1.0, 382.3, math.inf),
        ("pldp_fl", "pdpm", 1.0, "eps=e3,tau=t1", 0.8, 9e4, math.inf),
        ("pldp_fl", "pdpm", 1.0, "eps=e1,tau=t1", 0.9, 9e4, math.inf),
        ("frontier", "privunit", 1.0, "backbone=strokes", 0.96, 0.99, 1.0),
        ("frontier", "privunit", 1.0, "backbone=strokes,private=record", 0.99, 0.99, math.inf),
        ("tvg_testing", "idn", 1e6, "model=lenet,unit=batch", 0.93, 2782.0, math.inf),
    ]
    keys = ("study", "mechanism", "epsilon", "variant", "value", "guarantee_epsilon", "guarantee_pure_epsilon")
    found = rows([dict(zip(keys, cell, strict=True)) for cell in cells], dataset="mnist")
    tvg = found["study"] == "tvg_testing"
    bounds = found["study"] != "pldp_fl"
    return found.assign(metric=tvg.map({True: "accuracy_perturbed_test", False: "accuracy"}), guarantee_exact=bounds)


def test_each_mechanism_has_the_best_setting_at_the_epsilon_that_its_paper_prints(metrics: pd.DataFrame) -> None:
    found = epsilons(metrics).set_index("name")
    assert list(found.loc["TLDP-L on images", ["printed", "guaranteed", "accuracy"]]) == [1.0, 382.3, 0.9]
    assert list(found.loc["PLDP-FL, mode e3", ["guaranteed", "exact", "accuracy"]]) == [9e4, False, 0.8]
    assert found.loc["TVG's IDN, test images", "guaranteed"] == 2782.0
    assert list(found.loc["PrivUnit, public features", ["guaranteed", "pure", "accuracy"]]) == [1.0, True, 0.96]
    assert len(found) == 4
    told = words(draw_epsilons(epsilons(metrics)))
    assert told.count("as printed") == 1
    assert {"382", "◇ ≤ 90,000", "2,782", "1,000,000", "96 %", "90 %", "80 %", "93 %"} <= set(told)


def test_a_bound_is_hollow_unless_it_is_proved_and_is_that_of_the_largest_client(metrics: pd.DataFrame) -> None:
    curve = PdpmCurve(1.0, 2000)
    pdpm = metrics["mechanism"] == "pdpm"
    values = {"guarantee_epsilon": curve.epsilon(1e-5), "guarantee_pure_epsilon": curve.pure_epsilon}
    own = metrics.assign(**{key: metrics[key].mask(pdpm, value) for key, value in values.items()})
    clients = own[pdpm & own["variant"].str.contains("eps=e3")]
    clients = pd.concat([clients.assign(metric="client_epsilon", client=client) for client in (0, 1, 2)])
    for least, written in ((1.0, "≤ "), (0.9, "◇ ≤ ")):
        found = pd.concat(
            [
                own.assign(
                    guarantee_epsilon=own["guarantee_epsilon"].where(~pdpm, least * values["guarantee_epsilon"])
                ),
                clients,
            ]
        )
        told = words(draw_epsilons(epsilons(found)))
        assert f"{written}{least * values['guarantee_epsilon']:.0f}" in told
        assert "PLDP-FL's ε is the largest of 1 seed × 3 clients." in " ".join(told)
        assert ("not proved" in " ".join(told)) == (least < 1.0)


@pytest.mark.parametrize(
    ("studies", "answer"),
    [
        ({"tldp_type1", "frontier"}, "The ε on the label is not the ε you get"),
        ({"frontier", "tvg_testing"}, "The ε on the label is guaranteed"),
        ({"none"}, "No paper's mechanism is in this run"),
    ],
)
def test_the_first_title_is_what_the_rows_say(metrics: pd.DataFrame, studies: set[str], answer: str) -> None:
    assert title(draw_epsilons(epsilons(metrics[metrics["study"].isin(studies)]))) == answer


def test_a_run_without_mnist_shows_what_it_has_and_names_it() -> None:
    found = epsilons(table())
    assert found["dataset"].tolist() == ["digits"]
    assert "test records of digits" in said(draw_epsilons(found))
    assert sentence(found) == "TLDP-L on images: printed 1, guaranteed 64, accuracy 55%"
