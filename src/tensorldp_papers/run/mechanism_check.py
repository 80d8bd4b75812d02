"""The check of one mechanism of a config, on a record that is small enough to be looked at closely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from tensorldp.check.check import check
from tensorldp.check.verdict import write_verdict
from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp.mechanisms import Box, make, mechanism_class
from tensorldp_papers.run.sealed import read_sealed, write_sealed

EPSILON, SHAPE = 1.0, (2, 2)
CONFIDENCE = 0.999  # a run has dozens of checks, and one refutation stops it

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; }}
main {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
td, th {{ text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid #ccc; }}
</style></head>
<body><main><h1>{title}</h1>
{body}
</main></body></html>
"""


def check_mechanism(name: str, options: Mapping[str, Any], minutes: float, folder: Path) -> None:
    """Check a mechanism at epsilon 1 on records of 2 x 2; writes verdict.json and verdict.html into `folder`.

    A mechanism that cannot be checked (its releases have another shape, or an option refuses such records) has a
    verdict that says why, with `tried` False.
    """
    found = mechanism_class(name)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        mechanism = make(name, epsilon=EPSILON, domain=Box(0.0 if found.integer else -1.0, 1.0, SHAPE), **options)
        if not mechanism.same_shape:
            raise InputError(f"{name} does not release a tensor of the record's shape")
    except InputError as error:
        found_nothing = {"subject": name, "refuted": False, "tried": False, "reason": str(error)}
        write_sealed(folder / "verdict.json", found_nothing, folder.name)
        body = f"<p>Not checked: {escape(str(error))}.</p>"
        write_text(folder / "verdict.html", PAGE.format(title=escape(name), body=body))
        return
    verdict = check(mechanism, minutes=minutes, confidence=CONFIDENCE, progress=lambda text: print(text, flush=True))
    print(verdict)
    write_verdict(folder, verdict)
    tried = any(attempt.samples for attempt in verdict.attempts)
    reason = verdict.findings[0].text if verdict.findings else ""
    write_sealed(folder / "verdict.json", {**verdict.as_dict(), "tried": tried, "reason": reason}, folder.name)


def read_verdict(path: Path) -> dict[str, Any]:
    """The verdict.json of a check, whose folder has its name.

    Raises:
        InputError: if it is missing, or not what that check wrote.
    """
    return read_sealed(path, path.parent.name)


def summary(verdicts: Sequence[Path]) -> str:
    """A page with a row for each verdict.json, the refuted ones first, that links to their pages beside them."""
    named = [(path.parent.name, read_verdict(path)) for path in verdicts]
    read = sorted(named, key=lambda item: not item[1]["refuted"])
    rows = []
    for name, found in read:
        word = "refuted" if found["refuted"] else "not refuted" if found["tried"] else "not checked"
        proved = f"{float(found['epsilon_lower']):.4g}" if found.get("epsilon_lower") else found.get("no_bound", "")
        link = f'<a href="{escape(name)}/verdict.html">{escape(name)}</a>'
        cells = (link, word, escape(found.get("claim", "")), escape(proved), escape(found["reason"]))
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{text}</th>" for text in ("mechanism", "claim", "claimed", "proved epsilon", "remark"))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>\n" + "\n".join(rows) + "\n</tbody></table>"
    return PAGE.format(title="Checks of the mechanisms", body=table)
