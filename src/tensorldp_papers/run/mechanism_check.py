"""The check of one mechanism of a config, on a record that is small enough to be looked at closely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp.pages import plain
from tensorldp_papers.run.sealed import read_sealed, write_sealed

EPSILON, SHAPE = 1.0, (2, 2)  # small records leave more releases to a minute
CONFIDENCE = 0.999  # a run has dozens of checks, and one refutation stops it


def check_mechanism(name: str, options: Mapping[str, Any], minutes: float, folder: Path) -> None:
    """Checks a mechanism at epsilon 1 on records of 2 x 2; writes verdict.json and verdict.html into `folder`.

    A mechanism that cannot be checked (its releases have another shape, or an option refuses such records) has a
    verdict that says why, with `tried` False.
    """
    from tensorldp.check.check import check  # they import torch, which readers of verdicts can do without
    from tensorldp.check.verdict import write_verdict
    from tensorldp.mechanisms import Box, make, mechanism_class

    found = mechanism_class(name)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        mechanism = make(name, epsilon=EPSILON, domain=Box(0.0 if found.integer else -1.0, 1.0, SHAPE), **options)
        if not mechanism.same_shape:
            raise InputError(f"{name} does not release a tensor of the record's shape")
    except InputError as error:
        found_nothing = {"subject": name, "refuted": False, "tried": False, "reason": str(error)}
        write_sealed(folder / "verdict.json", found_nothing, folder.name)
        write_text(folder / "verdict.html", plain(name, f"Not checked: {error}."))
        return
    verdict = check(mechanism, minutes=minutes, confidence=CONFIDENCE, progress=lambda text: print(text, flush=True))
    print(verdict)
    write_verdict(folder, verdict)
    tried = any(attempt.samples for attempt in verdict.attempts)
    reason = verdict.findings[0].text if verdict.findings else ""
    write_sealed(folder / "verdict.json", {**verdict.as_dict(), "tried": tried, "reason": reason}, folder.name)


def read_verdict(path: Path) -> dict[str, Any]:
    """Reads the verdict.json of a check, whose folder has its name.

    Raises:
        InputError: if it is missing, or not what that check wrote.
    """
    return read_sealed(path, path.parent.name)


def summary(verdicts: Sequence[Path]) -> str:
    """Builds a page with a row for each verdict.json, the refuted ones first, that links to their pages beside them."""
    named = [(path.parent.name, read_verdict(path)) for path in verdicts]
    read = sorted(named, key=lambda item: not item[1]["refuted"])
    rows = []
    for name, found in read:
        word = "refuted" if found["refuted"] else "not refuted" if found["tried"] else "not checked"
        proved = f"{float(found['epsilon_lower']):.4g}" if found.get("epsilon_lower") else found.get("no_bound", "")
        link = Markup('<a href="{}/verdict.html">{}</a>').format(name, name)
        rows.append((link, word, found.get("claim", ""), proved, found["reason"]))
    heads = ("mechanism", "claim", "claimed", "proved epsilon", "remark")
    return plain("Checks of the mechanisms", heads=heads, rows=rows)
