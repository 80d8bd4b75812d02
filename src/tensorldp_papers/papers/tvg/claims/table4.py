"""TVG's Table IV, decided from the table of the pipeline.

A printed order is met if the fitted exponent is within 0.1 of it, room for the logarithms that it leaves out.
"""

from __future__ import annotations

from tensorldp_papers.claims.base import Finding, NotRun, claim
from tensorldp_papers.claims.evidence import Evidence

EXPONENT = 0.1
TABLE4 = "tests/studies/test_growth_table.py::test_the_exponents"
KIND = "Types II and III"


def _grows(found: Evidence, entries: dict[str, float], kind: str = KIND) -> Finding:
    """Whether the exact error of each mechanism grows with its printed exponent, at a fixed I_1."""
    table = found.table("tvg_table4")
    own = table[table["kind"] == kind].groupby("mechanism")[["formula_exponent", "exact_exponent"]].first()
    missing = [name for name in entries if name not in own.index]
    if missing:
        raise NotRun(f"needs Table IV with {', '.join(missing)}")
    exact, formula = own["exact_exponent"], own["formula_exponent"]
    whole = table[table["mechanism"] == "gaussian-analytic"]["exact_exponent"]
    beside = f"; a Gaussian mechanism for the whole tensor has I^{whole.iloc[0]:.2f}" if len(whole) else ""
    return Finding(
        all(abs(exact[name] - power) < EXPONENT for name, power in entries.items()),
        ", ".join(
            f"{name} I^{exact[name]:.2f} (printed {power:g}; the formula with its bound I^{formula[name]:.2f})"
            for name, power in entries.items()
        )
        + beside,
        TABLE4,
    )


@claim("V14", expected="an exponent of 3")
def gaussian_order(found: Evidence) -> Finding:
    return _grows(found, {"gaussian-per-element": 3.0})


@claim("V15", expected="an exponent of 3 at a fixed I_1")
def mvg_order(found: Evidence) -> Finding:
    return _grows(found, {"mvg": 3.0})


@claim("V16", expected="exponents of 3 at a fixed I_1")
def directional_order(found: Evidence) -> Finding:
    return _grows(found, {"udn": 3.0, "idn": 3.0})


@claim("V17", expected="an exponent of 2")
def optimized_order(found: Evidence) -> Finding:
    return _grows(found, {"optimized": 2.0}, "Type I")
