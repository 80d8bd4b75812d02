"""TVG's Table IV: formulas, noise and exponents."""

import math

import pandas as pd
import pytest
from typed import exact_error

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp_papers.papers.tvg.growth_table import ENTRIES, KINDS, SIZES, growth_table, slope


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return growth_table(draws=12)


def test_a_power_law_has_its_exponent() -> None:
    assert slope([10, 100, 1000], [3.0 * n**2.5 for n in (10, 100, 1000)]) == pytest.approx(2.5)
    with pytest.raises(InputError, match="at least two sizes"):
        slope([10], [1.0])


def test_what_is_drawn_has_the_exact_error_within_five_standard_errors(table: pd.DataFrame) -> None:
    seen = table.dropna(subset=["measured"])
    assert len(seen) == len(ENTRIES) * sum(size <= 65_536 for size in SIZES)
    assert ((seen["measured"] - seen["exact"]).abs() <= 5 * seen["standard_error"]).all()


def test_the_formula_is_the_error_of_udn_idn_and_gaussian_noise_and_not_of_mvg(table: pd.DataFrame) -> None:
    ratio = (table["formula"] / table["exact"])[table["mechanism"] != "mvg"]
    assert ratio.tolist() == pytest.approx([1.0] * len(ratio), rel=1e-6)
    mvg = table[table["mechanism"] == "mvg"]  # I_1 I / B is I sqrt(I) / B only where I_1 = sqrt(I)
    assert (mvg["exact"] / mvg["formula"]).tolist() == pytest.approx((mvg["size"] ** 0.5 / mvg["rows"]).tolist())
    without = table[table["printed_exponent"].map(math.isnan)]["mechanism"]  # where the paper has no such mechanism
    assert set(without) == {"gaussian-analytic"}


def test_errors_as_multiples_of_idn(table: pd.DataFrame) -> None:
    times = table.set_index(["mechanism", "kind"]).sort_index()["times_idn"]
    assert times["idn"].tolist() == pytest.approx([1.0] * 3 * len(SIZES))
    assert (times["gaussian-analytic"] < 1.0).all()
    udn = table[(table["mechanism"] == "udn") & (table["kind"] == KINDS[1])]
    assert udn["times_idn"].tolist() == pytest.approx(udn["rows"].tolist())


def test_the_order_of_udn_and_the_gaussian_per_element_depends_on_the_first_dimension(table: pd.DataFrame) -> None:
    size, names = SIZES[0], ("udn", "gaussian-per-element")
    beside = table[(table["mechanism"] == names[1]) & (table["size"] == size)].iloc[0]
    assert beside["times_idn"] > beside["rows"]  # above UDN where I_1 = 16
    long = Box(-1.0, 1.0, (size // 4, 4))
    udn, gaussian = (exact_error(make(name, epsilon=1.0, domain=long)) for name in names)
    assert udn > gaussian


@pytest.mark.parametrize(
    ("mechanism", "kind", "formula", "exact"),
    [
        ("optimized", KINDS[0], 2.0, 2.0),
        ("idn", KINDS[1], 3.0, 3.0),
        ("udn", KINDS[1], 3.0, 3.0),
        ("mvg", KINDS[1], 3.5, 4.0),
        ("gaussian-per-element", KINDS[1], 3.05, 3.05),
        ("idn", KINDS[2], 3.0, 3.0),
        ("gaussian-analytic", KINDS[1], 2.0, 2.0),
    ],
)
def test_the_exponents(table: pd.DataFrame, mechanism: str, kind: str, formula: float, exact: float) -> None:
    row = table[(table["mechanism"] == mechanism) & (table["kind"] == kind)].iloc[0]
    assert [row["formula_exponent"], row["exact_exponent"]] == pytest.approx([formula, exact], abs=0.06)
