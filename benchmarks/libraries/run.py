"""Check randomizers and accountants of packages on the index, and write the table and its page.

Run from the repository's root, in an environment that has the project:

    python benchmarks/libraries/run.py                       # goes on where it ended; about an hour
    python benchmarks/libraries/run.py --only pure_ldp opendp
    python benchmarks/libraries/run.py --ours                # only our own accountant anew, on an idle machine
    python benchmarks/libraries/run.py --page                # only the page, from the tables

Each file of `packages/` is installed into a folder of its own, without dependencies, that lies before the project's
packages on the path; its functions run in a process of its own.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from independent import bounds
from kit import CASES, Accountant, Case, Package, Randomizer

from tensorldp.check import check
from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import PureCurve
from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.curves.gaussian import GaussianCurve
from tensorldp.curves.laplace import LaplaceCurve
from tensorldp.files import write_text
from tensorldp_papers.run.cli import parser, run

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAMES = sorted(path.stem for path in (HERE / "packages").glob("*.py"))
TABLES = {"randomizers": HERE / "randomizers.csv", "accountants": HERE / "accountants.csv"}
COLUMNS = {
    "randomizers": [
        "package",
        "version",
        "function",
        "claim",
        "delta",
        "says",
        "where",
        "verdict",
        "bound",
        "seconds",
        "minutes",
        "exact",
        "honest",
        "note",
    ],
    "accountants": [
        "package",
        "version",
        "function",
        "case",
        "epsilon",
        "low",
        "high",
        "ours",
        "milliseconds",
        "our_milliseconds",
        "says",
        "where",
    ],
}
PAGE = ROOT / "docs" / "libraries.md"
INSTALL = ("-m", "pip", "install", "--no-deps", "--target")  # before a folder of its own, and pins
CONFIDENCE = 1 - 0.05 / 100  # of one check: all together are wrong with a chance of 5 %
TEXT = """# Libraries under check

For anyone who chooses a library for local differential privacy. After this page you know what {randomizers} randomizers
of {of} packages claim, whether [`check`](checking.md) refuted that, and what {accountants} accountants of {their}
packages answer. The command `python benchmarks/libraries/run.py` makes the tables and this page; the wrappers are in
`benchmarks/libraries/packages/`.

A claim is what the package's documentation says, in its own unit, for one record. A claim that is not refuted within
seconds is not proved. The command checks at 99.95 % each, so that all together call something true refuted with a
chance of 5 % at most. Where our algebra has an ε, it is for the same record
and δ.

- Of {honest} functions whose claims we have no reason to doubt, {false} are refuted.
- Of the other {others}, {found} are; a remark says what a user should know.
- Of {answers} answers of accountants, {below} are below the independent interval.

## Randomizers

Seconds are of processor time. A bound is on ε at the δ of the claim.

| function | claimed ε | what its documentation says, and where | verdict | bound | s | our ε | remark |
|---|---|---|---|---|---|---|---|
{checked}

## Accountants

At δ = 1e-5. The independent number is by mpmath, or by losses on a lattice, rounded down and up. An accountant that
promises an upper bound may be above. Milliseconds are of a warm call; ours were taken later, on a slower machine.

| accountant | case | its ε | independent | off by a share of | our ε | ms | our ms |
|---|---|---|---|---|---|---|---|
{asked}
"""
MOST_SECONDS = 1800.0  # of one package's process


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what has no result yet, and write the tables and the page."""
    options = parser(__doc__ or "")
    options.add_argument(
        "--only", nargs="*", default=NAMES, choices=NAMES, metavar="PACKAGE", help="files of packages/"
    )
    options.add_argument("--out", type=Path, default=Path("build/libraries"), help="environments and results")
    options.add_argument("--ours", action="store_true", help="only time our own curves again, and write the page")
    options.add_argument("--page", action="store_true", help="only write the page")
    options.add_argument("--alone", metavar="PACKAGE", help="run that package in this process")
    given = options.parse_args(arguments)
    if given.alone:
        measure(given.alone, given.out)
        return
    if given.ours:
        time_ours()
    elif not given.page:
        for name in given.only:
            in_own_process(name, given.out)
        gather(given.out)
    write_text(PAGE, page(*(pd.read_csv(path, keep_default_na=False) for path in TABLES.values())))


def package_of(name: str) -> Package:
    """What a file of packages/ states."""
    found = importlib.import_module(f"packages.{name}").package
    assert isinstance(found, Package)
    return found


def state(name: str) -> str:
    """The hash of all that a package's results depend on but the checking code."""
    return hashlib.sha256((HERE / "packages" / f"{name}.py").read_bytes()).hexdigest()[:12]


def results(name: str, out: Path) -> dict[str, Any]:
    """The results that the package's file still stands for."""
    path = out / "results" / f"{name}.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    return kept if kept.get("state") == state(name) else {"state": state(name), "randomizers": {}, "accountants": {}}


def in_own_process(name: str, out: Path) -> None:
    """Install a package, unless it is, and run its functions that have no result."""
    package, kept = package_of(name), results(name, out)
    wanted = [randomizer.name for randomizer in package.randomizers]
    asked = [f"{accountant.name}: {case.name}" for accountant, case in questions(package)]
    if set(wanted) <= kept["randomizers"].keys() and set(asked) <= kept["accountants"].keys():
        return
    pins = [f"{package.name}=={package.version}", *package.beside]
    folder = out / "environments" / name / hashlib.sha256(" ".join(pins).encode()).hexdigest()[:12]
    if not (folder / "installed").exists():
        install = [sys.executable, *INSTALL, str(folder), "--quiet", "--upgrade", *pins]
        if subprocess.run(install, check=False).returncode:
            print(f"{name}: could not be installed", flush=True)
            return
        (folder / "installed").touch()
    path = os.pathsep.join([str(folder.resolve()), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, str(Path(__file__).resolve()), "--alone", name, "--out", str(out)]
    try:
        ended = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, timeout=MOST_SECONDS, check=False)
        print(f"{name}: exit code {ended.returncode}", flush=True)
    except subprocess.TimeoutExpired:
        print(f"{name}: not done after {MOST_SECONDS:g} s", flush=True)


def questions(package: Package) -> list[tuple[Accountant, Case]]:
    """Each accountant with each case that it knows."""
    return [(accountant, case) for accountant in package.accountants for case in CASES if accountant.knows(case)]


def measure(name: str, out: Path) -> None:
    """Check and ask what has no result yet; each result is kept at once."""
    package, kept = package_of(name), results(name, out)

    def keep() -> None:
        (out / "results").mkdir(parents=True, exist_ok=True)
        write_text(out / "results" / f"{name}.json", json.dumps(kept, indent=1))

    for randomizer in package.randomizers:
        if randomizer.name not in kept["randomizers"]:
            found = checked(randomizer)
            print(name, randomizer.name, found, flush=True)
            if "error" not in found:
                kept["randomizers"][randomizer.name] = found
                keep()
    for accountant, case in questions(package):
        key = f"{accountant.name}: {case.name}"
        if key not in kept["accountants"]:
            found = answered(accountant, case)
            print(name, key, found, flush=True)
            if "error" not in found:
                kept["accountants"][key] = found
                keep()


def checked(randomizer: Randomizer) -> dict[str, Any]:
    """The verdict on a randomizer, or the error that there is in its place."""
    start = time.process_time()
    try:
        verdict = check(
            randomizer.make(),
            domain=randomizer.records,
            call=randomizer.call,
            claim_epsilon=randomizer.epsilon,
            claim_delta=randomizer.delta,
            minutes=randomizer.minutes,
            confidence=CONFIDENCE,
        )
    except Exception as error:  # a library may raise anything
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    return {
        "verdict": "refuted" if verdict.refuted else "not refuted",
        "bound": round(verdict.epsilon_lower, 3),
        "seconds": round(time.process_time() - start, 1),
    }


def answered(accountant: Accountant, case: Case) -> dict[str, Any]:
    """Epsilon and milliseconds of a warm call, the accountant's and ours."""
    try:
        epsilon, milliseconds = timed(lambda: accountant.of(case))
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    ours, our_milliseconds = timed(lambda: curve(case).epsilon(case.delta))
    numbers = {"epsilon": epsilon, "ours": ours}
    times = {"milliseconds": milliseconds, "our_milliseconds": our_milliseconds}
    return numbers | {key: float(f"{value:.2g}") for key, value in times.items()}


def time_ours() -> None:
    """Answers each case with our own curve again, and writes epsilon and milliseconds into its rows."""
    path = TABLES["accountants"]
    table = pd.read_csv(path, keep_default_na=False)
    for case in CASES:
        ours, milliseconds = timed(lambda case=case: curve(case).epsilon(case.delta))
        table.loc[table["case"] == case.name, ["ours", "our_milliseconds"]] = ours, float(f"{milliseconds:.2g}")
    write_text(path, table.to_csv(index=False))


def timed(call: Any) -> tuple[float, float]:
    """What a call returns and the least milliseconds of it, once it is warm: of five calls, or of two slow ones."""
    value, times = float(call()), list[float]()
    while len(times) < 5 and (len(times) < 2 or sum(times) < 5.0):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return value, 1e3 * min(times)


def curve(case: Case) -> PrivacyCurve:
    """Our own curve of a case."""
    if case.rate < 1:
        return DpSgdCurve(case.noise, case.rate, case.steps)
    if case.kind == "gaussian":
        return GaussianCurve(case.steps**0.5 / case.noise)
    if case.kind == "laplace":
        return LaplaceCurve(1 / case.noise).compose(case.steps)
    return PureCurve(case.noise).compose(case.steps)


def gather(out: Path) -> None:
    """Write both tables from the results; a function that has none here keeps its row of the same version."""
    before = {key: _rows_of(path) for key, path in TABLES.items()}
    rows: dict[str, list[dict[str, Any]]] = {"randomizers": [], "accountants": []}
    independent = {case.name: dict(zip(("low", "high"), bounds(case), strict=True)) for case in CASES}
    for name in NAMES:
        package, kept = package_of(name), results(name, out)
        same = {"package": package.name, "version": package.version}
        for each in package.randomizers:
            found = kept["randomizers"].get(each.name)
            if found:
                claim = {"claim": each.epsilon, "delta": each.delta, "says": each.says, "where": each.where}
                verdict = {key: found[key] for key in ("verdict", "bound", "seconds")}
                exact = "" if each.exact is None else float(f"{each.exact:.6g}")
                row = same | {"function": each.name} | claim | verdict | {"minutes": each.minutes, "exact": exact}
                rows["randomizers"].append(row | {"honest": "yes" if each.honest else "no", "note": each.note})
            elif kept_row := before["randomizers"].get((package.name, package.version, each.name, "")):
                rows["randomizers"].append(kept_row)
        for accountant, case in questions(package):
            found = kept["accountants"].get(f"{accountant.name}: {case.name}")
            if found:
                said = {"says": accountant.says, "where": accountant.where}
                rows["accountants"].append(
                    same | {"function": accountant.name, "case": case.name} | found | independent[case.name] | said
                )
            elif kept_row := before["accountants"].get((package.name, package.version, accountant.name, case.name)):
                rows["accountants"].append(kept_row)
    for key, path in TABLES.items():
        write_text(path, pd.DataFrame(rows[key], columns=COLUMNS[key]).to_csv(index=False))


def _rows_of(path: Path) -> dict[tuple[str, str, str, str], dict[str, Any]]:
    """The rows of a table, by package, version, function and case."""
    if not path.exists():
        return {}
    rows: list[dict[str, Any]] = pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")  # type: ignore[assignment]
    return {(row["package"], row["version"], row["function"], row.get("case", "")): row for row in rows}


def page(randomizers: pd.DataFrame, accountants: pd.DataFrame) -> str:
    """The page of both tables."""
    words = {
        "randomizers": len(randomizers),
        "of": randomizers.package.nunique(),
        "accountants": accountants.groupby(["package", "function"]).ngroups,
        "their": accountants.package.nunique(),
        "honest": (randomizers.honest == "yes").sum(),
        "others": (randomizers.honest == "no").sum(),
        "found": ((randomizers.honest == "no") & (randomizers.verdict == "refuted")).sum(),
        "false": ((randomizers.honest == "yes") & (randomizers.verdict == "refuted")).sum(),
        "below": (accountants.epsilon.astype(float) < accountants.low.astype(float) * (1 - 1e-9)).sum(),
        "answers": len(accountants),
    }
    checked = [_row(_randomizer(row)) for row in randomizers.to_dict("records")]
    asked = [_row(_accountant(row)) for row in accountants.to_dict("records")]
    return TEXT.format(**words, checked="\n".join(checked), asked="\n".join(asked))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "&#124;") for cell in cells) + " |"


def _randomizer(row: dict[Any, Any]) -> list[str]:
    """The cells of a randomizer: a bound stands for a refutation alone, as others are below their claims."""
    claim = f"{row['claim']:.4g}" + (f", δ {row['delta']:g}" if row["delta"] else "")
    bound = f"≥ {row['bound']:.3g}" if row["verdict"] == "refuted" else ""
    exact = "" if row["exact"] == "" else "∞" if float(row["exact"]) == math.inf else f"{float(row['exact']):.4g}"
    said = f"{row['says']} ({row['where']})"
    function = f"{row['package']} {row['version']}: {row['function']}"
    return [function, claim, said, row["verdict"], bound, f"{row['seconds']:.0f}", exact, row["note"]]


def _accountant(row: dict[Any, Any]) -> list[str]:
    """The cells of an accountant's answer: by how much it is off the independent interval, if it is."""
    epsilon, low, high = (float(row[key]) for key in ("epsilon", "low", "high"))
    middle = (low + high) / 2
    truth = f"{middle:.10g}" if low == high else f"{middle:.6g} ± {(high - low) / 2:.1g}"
    off = epsilon / (high if epsilon > high else low if epsilon < low else epsilon) - 1
    verdict = "agrees" if abs(off) < 1e-6 else f"{abs(off):.2g} {'above' if off > 0 else 'BELOW'}"
    times = [f"{float(row[key]):.2g}" for key in ("milliseconds", "our_milliseconds")]
    function = f"{row['package']} {row['version']}: {row['function']}"
    return [function, row["case"], f"{epsilon:.10g}", truth, verdict, f"{float(row['ours']):.10g}", *times]


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    run(main)
