"""The report: one HTML page that needs no network, with verdicts, figures, numbers, claims and provenance."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from tensorldp.errors import InputError
from tensorldp.pages import rendered
from tensorldp_papers.claim_registry import group_of
from tensorldp_papers.claims.base import catalogue
from tensorldp_papers.plots.epsilon_you_get import epsilons, sentence
from tensorldp_papers.plots.names import (
    OPEN,
    VERDICTS,
    dataset_name,
    in_order,
    metric_label,
    privacy_captions,
    study_name,
    table_text,
    without_keys,
)
from tensorldp_papers.plots.sheets import PAGE, PHONE, Sheet
from tensorldp_papers.plots.style import label, order
from tensorldp_papers.plots.words import counted, listed, origin, standing_words
from tensorldp_papers.report import tables as report_tables
from tensorldp_papers.report.data import explorer_data, packed_json
from tensorldp_papers.report.findings import findings
from tensorldp_papers.rooms import first_picture, named, paper, paper_of, papers
from tensorldp_papers.run.provenance import commit, versions
from tensorldp_papers.run.study import study_files

SCRIPTS = ("basics", "view", "chart", "legend", "table", "explorer", "calculator", "claims", "pictures", "start")
YOU_GET = (
    "The epsilon that a paper prints and the epsilon that one record really gets, mechanism by mechanism, with what "
    "each scores."
)
VIEW_BOX = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def _sheet(folder: Path, name: str, sheet: Sheet) -> dict[str, Any]:
    """Packs the figure on one sheet: an eighth of its bytes, which the page unpacks."""
    path = folder / f"{name}{sheet.ending}.svg"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"the figure {path} is missing: run the figures first") from None
    found = VIEW_BOX.search(content[:2000].decode(errors="replace"))
    if not found:
        raise InputError(f"the figure {path} is not a figure's SVG file: delete it and run again")
    width, height = map(float, found.groups())
    packed = base64.b64encode(gzip.compress(content, mtime=0)).decode()
    return {"data": packed, "width": sheet.pixels, "height": round(sheet.pixels * height / width)}


def _picture(folder: Path, name: str, caption: str, source: str, title: str, alt: str) -> dict[str, Any]:
    """Returns a figure for the page; `source` is the notebook and the table that it comes from, if there are such."""
    sheets = {"page": _sheet(folder, name, PAGE), "phone": _sheet(folder, name, PHONE)}
    return {"name": name, "caption": caption, "source": source, "title": title, "alt": alt, **sheets}


def _origin(study: dict[str, Any], rows: pd.DataFrame) -> str:
    return without_keys(origin(study["figure"], study["source"], rows["dataset"], study["paper"]))


def _description(study: dict[str, Any], caption: str, rows: pd.DataFrame) -> str:
    """Writes the text alternative of a study's figure: what is drawn, about what, on which data."""
    drawn = ", ".join(label(name) for name in order(set(rows["mechanism"])))
    return (
        f"{study['title']}. {_origin(study, rows)} {caption} Mechanisms: {drawn}. "
        f"Data: {_datasets(rows)}. The values are in the tables of numbers below."
    )


def _datasets(rows: pd.DataFrame) -> str:
    return listed([dataset_name(name) for name in in_order(rows["dataset"])])


def _section(study: dict[str, Any], metrics: pd.DataFrame, figures: Path) -> dict[str, Any]:
    rows = metrics[metrics["study"] == study["study"]]
    standing = standing_words(rows)
    views = {view: f"{caption} {standing}".strip() for view, caption in study["views"].items()}
    key, name = study["study"], study_name(study["study"])
    pictures = [
        _picture(figures, f"{key}{view}", caption, key, name, _description(study, caption, rows))
        for view, caption in views.items()
    ]
    return {
        **study,
        "name": name,
        "origin": _origin(study, rows),
        "pictures": pictures,
        "numbers": report_tables.numbers(rows),
        "series": [metric_label(metric) for metric in report_tables.series(rows)],
    }


def _covered(studies: Sequence[dict[str, Any]], metrics: pd.DataFrame) -> str:
    """Says in one sentence which studies the run has, or which it lacks if these are fewer, and on which data."""
    keys = [study["study"] for study in studies]
    others = [f"“{study_name(key)}”" for key in study_files() if key not in keys]
    but = f" but {listed(others)}" if others else ""
    few = f"{listed([f'“{study_name(key)}”' for key in keys]) or 'no study'}, of {len(keys) + len(others)} studies"
    has = f"all studies{but}" if len(keys) > len(others) else few
    return f"This run, on {_datasets(metrics)}, has {has}."


def first_pictures() -> dict[str, tuple[str, set[str]]]:
    """Returns the captions of the pictures of the first screen, and the studies of which they need one, by name."""
    of_rooms = {n: (one.caption, {one.study}) for n, one in named("pictures").items() if one.section == "first"}
    return {"epsilon_you_get": (YOU_GET, {row.study for row in first_picture()}), **of_rooms}


def _first_pictures(metrics: pd.DataFrame, studies: set[str], figures: Path) -> list[dict[str, Any]]:
    """Returns the pictures that the page begins with; none from a wider run that left its files beside this one's."""
    pictures = []
    for name, (caption, draws) in first_pictures().items():
        if draws & studies and (figures / f"{name}.svg").exists():
            words = sentence(epsilons(metrics)) if name == "epsilon_you_get" else ""
            source = name if (figures / f"{name}.csv").exists() else ""
            pictures.append(_picture(figures, name, caption, source, "this picture", f"{caption} {words}".strip()))
    return pictures


def _kept_picture(folder: Path) -> list[dict[str, Any]]:
    return [_picture(folder, "epsilon_you_get", "", "", "the picture of the kept results", YOU_GET)]


def _papers(studies: Sequence[dict[str, Any]], claims: pd.DataFrame) -> list[str]:
    """Returns the papers of the page: the known ones in their order, then others as they come."""
    keys = dict.fromkeys([*(study["paper"] for study in studies), *claims["source"]])
    known = [key for key in papers() if key in keys]
    return [*known, *(key for key in keys if key not in known)]


def _facts(metrics: pd.DataFrame) -> dict[str, str]:
    return {
        "scale": ", ".join(sorted(metrics["scale"].unique())),
        "rows of metrics": f"{len(metrics):,}",
        "devices": ", ".join(f"{d} ({n:,} rows)" for d, n in Counter(metrics["device"]).most_common()),
        "commits of the cells": ", ".join(sorted(metrics["commit"].unique())),
        "commit of this page": commit(),
        "versions": ", ".join(f"{k} {v}" for k, v in versions().items()),
    }


def render(
    metrics: pd.DataFrame,
    figures: Path,
    studies: Sequence[dict[str, Any]],
    settings: str,
    *,
    tables: dict[str, pd.DataFrame],
    claims: pd.DataFrame,
    audits: pd.DataFrame,
    guarantees: pd.DataFrame,
    kept: Path | None = None,
) -> str:
    """Renders the report's HTML, to be written beside the folders `figures`, `notebooks` and `tables` that it links to.

    Args:
        metrics: the metrics table.
        figures: the folder of the figures' SVG files, of a page and of a phone.
        studies: {study, title, source, figure, views, paper} of each study.
        settings: the run's settings, as JSON text.
        tables: those of results/tables by name, shown with their paper.
        claims: the table of claims, columns `claims.table.COLUMNS`.
        audits: the table of audits.
        guarantees: each cell's epsilon at several deltas, columns `run.table.PROFILE_COLUMNS`; where a cell has none,
            the explorer knows only delta 1e-5 and 0.
        kept: the folder of the figures of the kept results, whose first picture a run at `quick` shows beside its own.

    Raises:
        InputError: if a figure is missing, or the claims lack a column.
    """
    evidence, claims = claims, report_tables.check_claims(claims)
    keys = _papers(studies, claims)
    verdicts = report_tables.verdict_counts(claims, keys)
    shown = {name: report_tables.as_table(frame, *table_text(name)) for name, frame in tables.items()}
    sections = [
        {
            "key": key,
            "paper": paper(key),
            "name": report_tables.source_name(key),
            "verdicts": [row for row in verdicts if row["key"] == key],
            "studies": [_section(study, metrics, figures) for study in studies if study["paper"] == key],
            "tables": {name: table for name, table in shown.items() if paper_of(name) == key},
        }
        for key in keys
    ]
    privacy = [_picture(figures, name, text, name, "privacy", text) for name, text in privacy_captions().items()]
    first = _first_pictures(metrics, {study["study"] for study in studies}, figures)
    folder = files("tensorldp_papers.report.page")
    curves = json.loads(folder.joinpath("curves.json").read_text())
    data = {
        "explorer": explorer_data(metrics, studies, claims=evidence, audits=audits, guarantees=guarantees),
        "calculator": curves,
        "labels": {name: label(name) for name in (*curves["curves"], *curves["laws"])},
    }
    return rendered(
        folder,
        "report.html",
        scripts=SCRIPTS,
        data=Markup(packed_json(data)),
        first=first,
        kept=_kept_picture(kept) if kept and set(metrics["scale"]) == {"quick"} else [],
        findings=findings(metrics, claims, audits),
        covered=_covered(studies, metrics),
        places={name: claim.place for name, claim in catalogue().items()},
        sections=sections,
        known=[paper(key) for key in keys if key in papers()],
        privacy=privacy,
        verdicts=verdicts,
        verdict_names=VERDICTS,
        counted=counted,
        claims=claims.to_dict("records"),
        open_claims=claims[claims["verdict"].isin(OPEN)].sort_values("verdict", ascending=False).to_dict("records"),
        claim_papers={key: report_tables.source_name(key) for key in keys},
        kinds=sorted({group_of(kind) for kind in claims["kind"]}),
        group_of=group_of,
        statistics=report_tables.run_statistics(metrics),
        audits=report_tables.audit_summary(audits),
        facts=_facts(metrics),
        settings=settings,
        other_tables={name: table for name, table in shown.items() if paper_of(name) not in keys},
    )
