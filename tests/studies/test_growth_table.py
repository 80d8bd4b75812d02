"""TVG's Table IV: formulas, noise and exponents."""

import math

import pytest

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box, make
from tensorldp_papers.papers.tvg.growth_table import ENTRIES, KINDS, SIZES, growth_table, slope


@pytest.fixture(scope="module")
def table():  # type: ignore[no-untyped-def]
    return growth_table(draws=12)


def test_a_power_law_has_its_exponent() -> None:
    assert slope([10, 100, 1000], [3.0 * n**2.5 for n in (10, 100, 1000)]) == pytest.approx(2.5)
    with pytest.raises(InputError, match="at least two sizes"):
        slope([10], [1.0])


def test_what_is_drawn_has_the_exact_error_within_five_standard_errors(table) -> None:  # type: ignore[no-untyped-def]
    seen = table.dropna(subset=["measured"])
    assert len(seen) == len(ENTRIES) * sum(size <= 65_536 for size in SIZES)
    assert ((seen["measured"] - seen["exact"]).abs() <= 5 * seen["standard_error"]).all()


def test_the_formula_is_the_error_of_udn_idn_and_gaussian_noise_and_not_of_mvg(table) -> None:  # type: ignore[no-untyped-def]
    ratio = (table["formula"] / table["exact"])[table["mechanism"] != "mvg"]
    assert ratio.tolist() == pytest.approx([1.0] * len(ratio), rel=1e-6)
    mvg = table[table["mechanism"] == "mvg"]  # I_1 I / B is I sqrt(I) / B only where I_1 = sqrt(I)
    assert (mvg["exact"] / mvg["formula"]).tolist() == pytest.approx((mvg["size"] ** 0.5 / mvg["rows"]).tolist())


def test_errors_as_multiples_of_idn(table) -> None:  # type: ignore[no-untyped-def]
    assert table[table["mechanism"] == "idn"]["times_idn"].tolist() == pytest.approx([1.0] * 3 * len(SIZES))
    udn = table[(table["mechanism"] == "udn") & (table["kind"] == KINDS[1])]
    assert udn["times_idn"].tolist() == pytest.approx(udn["rows"].tolist())
    whole = table[table["mechanism"] == "gaussian-analytic"]["times_idn"]
    assert (whole < 1.0).all()


def test_the_order_of_udn_and_the_gaussian_per_element_depends_on_the_first_dimension(table) -> None:  # type: ignore[no-untyped-def]
    size = SIZES[0]
    beside = table[(table["mechanism"] == "gaussian-per-element") & (table["size"] == size)].iloc[0]
    assert beside["times_idn"] > beside["rows"]  # above UDN where I_1 = 16
    long = Box(-1.0, 1.0, (size // 4, 4))
    udn, gaussian = (make(name, epsilon=1.0, domain=long).squared_error() for name in ("udn", "gaussian-per-element"))
    assert udn is not None
    assert gaussian is not None
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
def test_the_exponents(table, mechanism: str, kind: str, formula: float, exact: float) -> None:  # type: ignore[no-untyped-def]
    row = table[(table["mechanism"] == mechanism) & (table["kind"] == kind)].iloc[0]
    assert row["formula_exponent"] == pytest.approx(formula, abs=0.06)
    assert row["exact_exponent"] == pytest.approx(exact, abs=0.06)


def test_a_printed_exponent_is_missing_only_where_the_table_has_no_such_mechanism(table) -> None:  # type: ignore[no-untyped-def]
    without = set(table[table["printed_exponent"].map(math.isnan)]["mechanism"])
    assert without == {"gaussian-analytic"}
