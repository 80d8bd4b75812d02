"""Pages whose numbers are filled in: `docs/templates/<page>.j2`, rendered with the kept results.

A template is Markdown with `{{ q("name arguments") }}` where a number is, and tables by the functions of `Pages`, of
the kept metrics and claims. The page itself, in the repository, has plain text.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from jinja2 import Environment, StrictUndefined, TemplateError

from tensorldp.errors import InputError, described, unknown
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp_papers.claim_registry import GROUPS, PLURAL
from tensorldp_papers.claims.criteria import changed
from tensorldp_papers.claims.statements import LOOKS
from tensorldp_papers.data import catalogue
from tensorldp_papers.plots.names import OPEN, VERDICTS, dataset_name, in_order, without_keys
from tensorldp_papers.plots.words import span
from tensorldp_papers.quoting.printed import Printed, printed_table
from tensorldp_papers.quoting.values import CELL, Quotes, Table, read_as
from tensorldp_papers.room_folders import room_files
from tensorldp_papers.rooms import paper_of
from tensorldp_papers.run.study import load_study, study_files

FOLDER = Path("docs", "templates")
KEPT_FIGURES = Path("docs", "figures")
CODE = re.compile(r"(?<![\w`/\[#-])[A-Z]\d{2}(?![\w`\]-])")  # of a claim, in prose
PIECES = Path("workflow", "pieces")
QUOTES = Path("docs", "quotes.yaml")


class Pages:
    """The pages that templates make.

    Args:
        root: the repository.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.table = read_as(root / QUOTES, Table)
        self.quotes = Quotes(self.table, root / "results" / "reference")
        printed = [read_as(path, Printed) for path in room_files("printed.yaml").values()]
        self._printed = {table.source: table.numbers for table in printed}
        self._environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
        self._environment.globals |= {
            "q": self.quotes,
            "printed_table": self._printed_table,
            "kept_table": lambda: kept_table(self.quotes.metrics),
            "pieces_table": lambda: pieces_table(self.root / PIECES),
            "criteria_table": lambda: criteria_table(self.quotes.claims.reset_index()),
            "open_table": lambda: open_table(self.quotes.claims.reset_index()),
            "figures_table": lambda source: figures_table(source, self.root),
            "verdict_table": lambda source: verdict_table(self.quotes.claims.reset_index(), source),
        }

    def _printed_table(self, source: str) -> str:
        if source not in self._printed:
            raise unknown("source", source, self._printed)
        return printed_table(self._printed[source], self.quotes)

    def templates(self) -> dict[str, Path]:
        """Returns the template of each page, by the path of the page in the repository."""
        folder = self.root / FOLDER
        found = {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.j2"))}
        return {name if name == "README.md" else f"docs/{name}": path for name, path in found.items()}

    def rendered(self, template: Path) -> str:
        """Makes the page of a template.

        Raises:
            InputError: naming the template, if it needs what the kept results lack or is not a template.
        """
        try:
            text = self._environment.from_string(template.read_text()).render()
        except (TemplateError, InputError) as error:
            raise InputError(f"{template.relative_to(self.root)}: {described(error)}") from None
        up = "../" * (len(template.relative_to(self.root / FOLDER).parts))
        return with_links(text, f"{up}results/reference/claims.csv", list(self.quotes.claims.index))

    def differing(self) -> dict[str, list[str]]:
        """Returns for each page the lines that differ from what its template gives; all, where the page is missing."""
        wrong = {}
        for name, template in self.templates().items():
            page = self.root / name
            has = page.read_text().split("\n") if page.exists() else []
            wants = self.rendered(template).split("\n")
            lines = [
                f"line {i}: has {old!r}, computed {new!r}"
                for i, (old, new) in enumerate(zip(has, wants, strict=False), 1)
                if old != new
            ]
            if len(has) != len(wants):
                lines.append(f"{len(has)} lines, computed {len(wants)}")
            if lines:
                wrong[name] = lines
        return wrong


def with_links(text: str, table: str, claims: Sequence[str]) -> str:
    """Links each claim's code in a page to its line in the table of claims.

    Args:
        text: the page.
        table: the path of the table from the page.
        claims: the ids of its rows; the first is in line 2.
    """
    lines = {name: number for number, name in enumerate(claims, 2)}

    def link(found: re.Match[str]) -> str:
        return f"[{found[0]}]({table}#L{lines[found[0]]})" if found[0] in lines else found[0]

    return CODE.sub(link, text)


def figures_table(source: str, root: Path) -> str:
    """Writes in Markdown, for each study of a paper, what to type to draw its figure anew, and what is kept of it.

    Args:
        source: the key of a paper, as in a room.yaml.
        root: the repository.
    """
    lines = ["| in the paper | drawn anew by | notebook | kept |", "|---|---|---|---|"]
    for name, path in study_files().items():
        figure, notebook = load_study(path).figure, f"notebooks/{name}.ipynb"
        if paper_of(name) == source and (root / notebook).exists():
            kept = ", ".join(
                f"[{kept.stem.removeprefix(name).replace('_', ' ').strip() or 'figure'}](../figures/{kept.name})"
                for kept in sorted((root / KEPT_FIGURES).glob(f"{name}*.svg"))
                if not kept.stem.endswith("_phone")
            )
            lines.append(
                f"| {figure} | `snakemake -- results/figures/{name}.svg` | [notebook](../../{notebook}) | {kept} |"
            )
    return "\n".join(lines)


def parts_in_short(text: str) -> str:
    """Writes data sets such as "SVHN, 10,000 of 99,289 images" as "part of SVHN"."""
    for name in map(dataset_name, catalogue.names()):
        whole, _, rest = name.partition(", ")
        text = text.replace(name, f"part of {whole}") if " of " in rest else text
    return text


def kept_table(metrics: pd.DataFrame) -> str:
    """Writes in Markdown how many cells of each study are kept at each scale, with how many seeds."""
    lines = [
        "| study | data | scale | cells | seeds | mechanisms | hours | networks compute in |",
        "|---|---|---|---:|---:|---:|---:|---|",
    ]
    for (study, scale), rows in metrics.groupby(["study", "scale"], observed=True):
        seeds = rows.groupby(CELL, observed=True, dropna=False)["seed"].nunique()
        counts = span(seeds.min(), seeds.max())
        datasets = parts_in_short(", ".join(dataset_name(name) for name in in_order(rows["dataset"])))
        precisions = ", ".join(sorted(rows["precision"].astype(str).unique()))
        names = set(rows["mechanism"].astype(str)) - {NO_PRIVACY}
        runs = rows.drop_duplicates(["dataset", "seed", "seconds"])  # once for a network that cells share
        hours = f"{float(runs['seconds'].sum()) / 3600:.1f}"
        facts = f"{len(seeds):,} | {counts} | {len(names)} | {hours} | {precisions}"
        lines.append(f"| `{study}` | {datasets} | {scale} | {facts} |")
    return "\n".join(lines)


def pieces_table(folder: Path) -> str:
    """Writes in Markdown the pieces of a folder, with the comment on top of each file; equal ones in a row."""
    named: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.yaml")):
        top = itertools.takewhile(lambda line: line.startswith("#"), path.read_text().splitlines())
        named.setdefault(" ".join(line.lstrip("# ") for line in top), []).append(f"`{path.stem}`")
    rows = [f"| {', '.join(names)} | {text} |" for text, names in named.items()]
    return "\n".join(["| piece | what it is |", "|---|---|", *rows])


def verdict_table(claims: pd.DataFrame, source: str) -> str:
    """Writes in Markdown how many statements of a source have which verdict, theorems, runs and descriptions apart.

    Raises:
        InputError: if no claim belongs to that source.
    """
    mine = claims[claims["source"] == source]
    if mine.empty:
        raise unknown("source", source, claims["source"].unique())
    shown = [verdict for verdict in VERDICTS if (mine["verdict"] == verdict).any()]
    lines = [f"| | {' | '.join(shown)} | all |", f"|---|{'---|' * (len(shown) + 1)}"]
    for group, kinds in GROUPS.items():
        rows = mine[mine["kind"].isin(kinds)]
        counts = [str(int((rows["verdict"] == verdict).sum())) for verdict in shown]
        if len(rows):
            lines.append(f"| {PLURAL[group]} | {' | '.join(counts)} | {len(rows)} |")
    return "\n".join(lines)


def criteria_table(claims: pd.DataFrame) -> str:
    """Writes in Markdown the claims whose criterion was changed after their data had been seen, with their verdicts."""
    verdicts = dict(zip(claims["id"], claims["verdict"], strict=True))
    rows = ["| claim | verdict | since | earlier verdicts | reason of the last change |", "|---|---|---|---|---|"]
    for id, lines in changed().items():
        last = lines[-1]
        earlier = "; ".join(f"{line.was} until {line.date}" for line in lines if line.was)
        since = f"{last.date} {last.commit}".strip()
        claim = f"`{last.claim}`" if "_" in last.claim else last.claim
        cells = (f"{id}: {claim}", verdicts[id], since, earlier, last.reason)
        rows.append(without_keys(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"))
    return "\n".join(rows)


def open_table(claims: pd.DataFrame) -> str:
    """Writes in Markdown the claims without a verdict, how many seeds would decide them, and what else is missing."""
    rows = claims[claims["verdict"].isin(OPEN)]
    lines = [
        f"{len(rows)} of {len(claims)} claims are open.",
        "",
        "| claim | verdict | seeds | missing, or weaker than in the paper |",
        "|---|---|---:|---|",
    ]
    for _, row in rows.iterrows():
        first, *others = json.loads(row["missing"]) or [""]
        missing = first + ("; and more" if others else "")
        needed = float(row["seeds_needed"] or math.nan)
        seeds = "" if math.isnan(needed) else f"over {max(LOOKS)}" if math.isinf(needed) else f"{needed:g}"
        line = parts_in_short(without_keys(f"| {row['id']}: {row['claim']} | {row['verdict']} | {seeds} | {missing} |"))
        lines.append(line.replace("\n", " "))
    return "\n".join(lines)
