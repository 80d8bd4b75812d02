"""TLDP's Table 5: printed, corrected and measured."""

import pandas as pd
import pytest

from tensorldp_papers.papers.tldp.error_table import error_table


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return error_table(draws=50).set_index(["setting", "mechanism", "epsilon"])


@pytest.mark.parametrize(
    ("mechanism", "printed", "corrected"),
    [
        ("laplace", 7.948e6, 7.9412e6),
        ("gaussian", 2.810e6, 1.4187e5),
        ("mvg", 1.262e9, None),
        ("idn", 3.974e6, None),
        ("tldp-l", 1.014e4, 10129.03),
        ("tldp-g", 3584, 5066.9),
    ],
)
def test_the_printed_and_the_corrected_column_at_epsilon_1(
    table: pd.DataFrame, mechanism: str, printed: float, corrected: float | None
) -> None:
    row = table.loc[("images 28x28, values 0 to 255", mechanism, 1.0)]  # type: ignore[index]
    assert row["printed"] == pytest.approx(printed, rel=1e-3)
    if corrected is not None:
        assert row["corrected"] == pytest.approx(corrected, rel=1e-4)


def test_the_corrected_column_is_what_is_measured_within_five_standard_errors(table: pd.DataFrame) -> None:
    assert ((table["measured"] - table["corrected"]).abs() <= 5 * table["standard_error"]).all()
