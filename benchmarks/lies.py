"""Check every planted lie and every honest randomizer of tests/privacy/lies, and write what was found.

Run from the repository's root: python benchmarks/lies.py --runs 200 --out results.json --page docs/checking.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tensorldp.privacy.auditing.confidence import upper_bound
from tensorldp.privacy.checking import Verdict, check
from tensorldp.runtime.cli import parser, run
from tensorldp.runtime.files import read_json, write_json, write_text
from tensorldp.runtime.progress import track

SUITE = Path(__file__).parents[1] / "tests" / "privacy" / "lies"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"


def checked(case: object, *, seed: int, minutes: float, samples: int) -> Verdict:
    """The verdict on a case."""
    return check(
        case.make(),  # type: ignore[attr-defined]
        domain=case.domain,  # type: ignore[attr-defined]
        claim_epsilon=case.epsilon,  # type: ignore[attr-defined]
        claim_delta=case.delta,  # type: ignore[attr-defined]
        floating_point=case.floating_point,  # type: ignore[attr-defined]
        minutes=minutes,
        samples=samples,
        seed=seed,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page from measurements."""
    options = parser(__doc__ or "")
    options.add_argument("--seeds", type=int, default=3, help="checks of each lie")
    options.add_argument("--runs", type=int, default=200, help="checks of each honest randomizer")
    options.add_argument("--minutes", type=float, default=2.0, help="for a lie")
    options.add_argument("--honest-minutes", type=float, default=0.05, help="for an honest randomizer")
    options.add_argument("--samples", type=int, default=200_000)
    options.add_argument("--only", nargs="*", default=[], help="names of cases")
    options.add_argument("--out", type=Path, default=Path("benchmarks/lies.json"))
    options.add_argument("--page", type=Path, help="write the tables of --out into this page, and measure nothing")
    given = options.parse_args(arguments)
    if given.page is not None:
        write_page(given.page, read_json(given.out))
        return
    sys.path.insert(0, str(SUITE))
    from honest import HONEST
    from planted import LIES

    wanted = set(given.only)
    rows = read_json(given.out) if given.out.exists() else []
    for kind, cases, seeds, minutes in (
        ("lie", LIES, given.seeds, given.minutes),
        ("honest", HONEST, given.runs, given.honest_minutes),
    ):
        for case in track([case for case in cases if not wanted or case.name in wanted], kind):
            verdicts = [checked(case, seed=seed, minutes=minutes, samples=given.samples) for seed in range(seeds)]
            if not verdicts:
                continue
            refuted = [v for v in verdicts if v.refuted]
            row = {
                "kind": kind,
                "name": case.name,
                "claim": verdicts[0].claim,
                "truth": case.truth,
                "floating_point": case.floating_point,
                "runs": seeds,
                "minutes": minutes,
                "refuted": len(refuted),
                "seconds": sorted(v.seconds for v in verdicts),
                "samples": sorted(v.samples for v in refuted or verdicts),
                "found_by": sorted({v.findings[0].event.split(" >=")[0].split(" <=")[0] for v in refuted}),
                "kinds": sorted({v.findings[0].kind for v in refuted}),
            }
            rows = [old for old in rows if (old["kind"], old["name"]) != (kind, case.name)] + [row]
            write_json(given.out, rows)
            print(json.dumps({key: row[key] for key in ("name", "refuted", "runs", "seconds", "samples")}), flush=True)


def write_page(page: Path, rows: list[dict[str, Any]]) -> None:
    """Put the tables of the measurements between the page's marks."""
    text = page.read_text()
    before, rest = text.split(START)
    after = rest.split(END)[1]
    write_text(page, before + START + "\n" + tables(rows) + "\n" + END + after)


def tables(rows: list[dict[str, Any]]) -> str:
    """Both tables in Markdown."""
    lines = ["| lie | claim | truth | refuted | releases | seconds | kind |", "|---|---|---|---|---|---|---|"]
    for row in (row for row in rows if row["kind"] == "lie"):
        lines.append(
            f"| {row['name']} | {row['claim']} | {row['truth']} | {row['refuted']} of {row['runs']} "
            f"| {row['samples'][-1]:,} | {row['seconds'][-1]:.1f} | {', '.join(row['kinds'])} |"
        )
    lines += ["", "| honest | claim | refuted | at most, at 95 % |", "|---|---|---|---|"]
    for row in (row for row in rows if row["kind"] == "honest"):
        bound = float(upper_bound(row["refuted"], row["runs"], 0.05))
        floats = ", floats included" if row["floating_point"] else ""
        lines.append(f"| {row['name']} | {row['claim']}{floats} | {row['refuted']} of {row['runs']} | {bound:.3f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    run(main)
