"""Check every planted lie and every honest randomizer of tests/privacy/lies, and write what was found.

Run from the repository's root:

    python benchmarks/lies.py --seeds 2                      # how soon each lie is refuted
    python benchmarks/lies.py --false-alarms 200             # how often an honest randomizer is; goes on where it ended
    python benchmarks/lies.py --page benchmarks/lies.md      # the tables of both
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tensorldp.audit.thresholds import upper_bound
from tensorldp.check import Verdict, check
from tensorldp.files import write_text
from tensorldp_papers.progress import track
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.provenance import commit

SUITE = Path(__file__).parents[1] / "tests" / "privacy" / "lies"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
BESIDE = (  # what tests a declaration that the claim does not rest on
    "releases against declared density and error",
    "law of the noise, tails to 1e-7",
    "independence of releases",
)
SMALL = {"samples": 256, "rounds": 1, "starts": 1, "minutes": 10.0}  # of one check of an honest randomizer


def checked(case: Any, *, seed: int, **options: Any) -> Verdict:
    """The verdict on a case at 95 %."""
    return check(
        case.make(),
        domain=case.domain,
        claim_epsilon=case.epsilon,
        claim_delta=case.delta,
        floating_point=case.floating_point,
        seed=seed,
        **options,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page from measurements."""
    options = parser(__doc__ or "")
    options.add_argument("--seeds", type=int, default=0, help="checks of each lie")
    options.add_argument("--minutes", type=float, default=2.0, help="for a lie")
    options.add_argument("--samples", type=int, default=200_000, help="for a lie")
    options.add_argument("--false-alarms", type=int, default=0, metavar="RUNS", help="of each honest randomizer")
    options.add_argument("--only", nargs="*", default=[], help="names of cases")
    options.add_argument("--out", type=Path, default=Path("benchmarks/lies.csv"), help="of the lies")
    options.add_argument("--honest", type=Path, default=Path("benchmarks/false_alarms.csv"), help="of the honest")
    options.add_argument("--page", type=Path, help="write both tables into this page")
    given = options.parse_args(arguments)
    sys.path.insert(0, str(SUITE))
    from honest import HONEST
    from planted import LIES

    wanted = set(given.only)
    lies, honest = ([case for case in cases if not wanted or case.name in wanted] for cases in (LIES, HONEST))
    if given.seeds:
        find_lies(lies, given.seeds, given.out, minutes=given.minutes, samples=given.samples)
    if given.false_alarms:
        count_alarms(honest, given.false_alarms, given.honest)
    if given.page is not None:
        write_page(given.page, list(measured(given.out).values()), list(measured(given.honest).values()))


def measured(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of a table of measurements by the name of their case; none where it is not there yet."""
    rows = pd.read_csv(path, keep_default_na=False).to_dict("records") if path.exists() else []
    return {str(row["name"]): {str(key): value for key, value in row.items()} for row in rows}


def keep(path: Path, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a table of measurements."""
    write_text(path, pd.DataFrame(list(rows.values())).to_csv(index=False))


def find_lies(cases: Sequence[Any], seeds: int, out: Path, **options: Any) -> None:
    """Check each lie with several seeds; its row in the table is replaced."""
    rows = measured(out)
    for case in track(cases, "lie"):
        verdicts = [checked(case, seed=seed, **options) for seed in range(seeds)]
        refuted = [v for v in verdicts if v.refuted]
        row = {
            "name": case.name,
            "claim": verdicts[0].claim,
            "truth": case.truth,
            "minutes": options["minutes"],
            "runs": seeds,
            "refuted": len(refuted),
            "releases": max(v.samples for v in refuted or verdicts),
            "seconds": round(max(v.seconds for v in verdicts), 1),
            "kinds": ", ".join(sorted({v.findings[0].kind for v in refuted})),
            "found_by": "; ".join(sorted({v.findings[0].event.split(" >=")[0].split(" <=")[0] for v in refuted})),
        }
        rows[case.name] = row
        keep(out, rows)
        print(json.dumps({key: row[key] for key in ("name", "refuted", "runs", "seconds", "releases")}), flush=True)


def count_alarms(cases: Sequence[Any], runs: int, out: Path) -> None:
    """Check each honest randomizer with seeds 0, 1, ...; seeds that the table counts are not repeated.

    Findings beside the claim are counted too: those about floats where the claim leaves them out, which are real leaks,
    and those about declarations, which are false alarms, with the error that each check allows them.
    """
    rows, code = measured(out), commit()
    counted = ("runs", "refuted", "releases", "seconds", "floats_beside", "wrong_beside", "error_beside")
    for seed in track(range(runs), "run of each honest randomizer"):
        for case in cases:
            row = rows.setdefault(case.name, {"name": case.name, "claim": "", **dict.fromkeys(counted, 0)})
            if seed < row["runs"]:
                continue
            found = checked(case, seed=seed, **SMALL)
            about_floats = sum(finding.kind == "floating point" for finding in found.findings)
            row |= {
                "claim": found.claim + ", floats included" * case.floating_point,
                "runs": seed + 1,
                "refuted": row["refuted"] + found.refuted,
                "releases": max(row["releases"], found.samples),
                "seconds": round(row["seconds"] + found.seconds, 2),
                "floats_beside": row["floats_beside"] + about_floats,
                "wrong_beside": row["wrong_beside"] + len(found.findings) - about_floats,
                "error_beside": sum(attempt.error for attempt in found.attempts if attempt.name in BESIDE),
                "commit": code,
            }
        keep(out, rows)


def write_page(page: Path, lies: Sequence[Mapping[str, Any]], honest: Sequence[Mapping[str, Any]]) -> None:
    """Put the tables of the measurements between the page's marks."""
    text = page.read_text()
    before, rest = text.split(START)
    after = rest.split(END)[1]
    write_text(page, f"{before}{START}\n{tables(lies, honest)}\n{origin(honest)}\n{END}{after}")


def origin(honest: Sequence[Mapping[str, Any]]) -> str:
    """In words: the findings beside the claim, and which code checked the honest randomizers last."""
    wrong = sum(row["wrong_beside"] for row in honest)
    allowed = sum(row["error_beside"] * row["runs"] for row in honest)
    return (
        f"\nBeside the claim, a declaration that is right was called wrong {wrong} times; the error of these tests "
        f"allows {allowed:.1f} times in expectation.\n"
        f"Commit of the last checks: {', '.join(sorted({str(row['commit']) for row in honest}))}."
    )


def tables(lies: Sequence[Mapping[str, Any]], honest: Sequence[Mapping[str, Any]]) -> str:
    """Both tables in Markdown."""
    lines = ["| lie | claim | truth | refuted | releases | CPU seconds | kind |", "|---|---|---|---|---|---|---|"]
    for row in lies:
        lines.append(
            f"| {row['name']} | {row['claim']} | {row['truth']} | {row['refuted']} of {row['runs']} "
            f"| {row['releases']:,} | {row['seconds']:.1f} | {row['kinds']} |"
        )
    lines += ["", "| honest | claim | releases | refuted | at most, at 95 % |", "|---|---|---|---|---|"]
    for row in honest:
        bound = float(upper_bound(row["refuted"], row["runs"], 0.05))
        lines.append(
            f"| {row['name']} | {row['claim']} | {row['releases']:,} | {row['refuted']} of {row['runs']} "
            f"| {bound:.3f} |"
        )
    runs, refuted = (sum(row[key] for row in honest) for key in ("runs", "refuted"))
    lines.append(f"| all | | | {refuted} of {runs} | {float(upper_bound(refuted, runs, 0.05)):.4f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    run(main)
