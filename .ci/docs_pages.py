"""Pages of the documentation site that are made when it is built, and formulas as MathML; a hook of mkdocs.yml.

The home page is the README, the claims' pages are made of the kept verdicts, and the reference of docstrings. Formulas
become MathML, which browsers draw by themselves: nothing is loaded from elsewhere. Tooltips, pictures for phones and
tables that sort: `docs_html.py`.
"""

from __future__ import annotations

import csv
import html
import logging
import posixpath
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).parent)]
from docs_html import definitions, with_pictures, with_sorting, with_tooltips  # noqa: E402

from tensorldp_papers.claim_registry import GROUPS, PLURAL  # noqa: E402
from tensorldp_papers.rooms import papers  # noqa: E402

# pages of the site that lie elsewhere in the repository
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "config/README.md": "config.md",
}
CLAIMS = "results/reference/claims.csv"  # on the site, the claims' page of the paper that a page is about
REFERENCE = {
    "mechanisms": ("domain", "mechanisms.base", "mechanisms.registry", "randomness"),
    "privacy": ("curves.guarantee", "composition", "curves.shuffling", "audit.fit",
                "audit.one_run", "audit.accuracy", "check.check", "check.claim", "check.verdict"),
    "curves": ("curves.base", "curves.gaussian", "curves.laplace", "curves.discrete", "curves.product",
               "curves.dp_sgd"),
    "claims": ("claims.base", "claims.evidence", "claims.fairness", "claims.statements", "rooms"),
    "training": ("nets.classify", "nets.federated", "nets.private_sgd", "nets.canaries"),
    "attacks": ("attacks.inversion", "attacks.likelihood", "attacks.tensor", "attacks.quality"),
    "data": ("data.catalogue", "data.prepare", "data.split", "nets.registry"),
}  # fmt: skip
LOG = logging.getLogger("mkdocs.hooks.docs_pages")  # its warnings count as mkdocs' own
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^( *```)(\w+)[^\n]*$", re.MULTILINE)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\s*\\([(\[])(.*?)\\[)\]]\s*</\1>', re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made, and drop the script from another host that `offline` adds for old browsers."""
    config.extra["polyfills"] = []
    made = {page: (ROOT / path).read_text() for path, page in ELSEWHERE.items()}
    made |= claim_pages()
    made |= {f"reference/{name}.md": reference_page(name) for name in REFERENCE}
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links and blocks of code as this site has them: a file that is no page becomes its name."""
    uri = page.file.src_uri
    here = next((path for path, target in ELSEWHERE.items() if target == uri), f"docs/{uri}")
    pages = {file.src_uri for file in files}
    claims = f"claims/{posixpath.basename(uri)}" if uri.startswith("papers/") else "claims/index.md"

    def link(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), found[1]))
        if path == CLAIMS and found[2]:
            source, anchor = line_of_claims(int(found[2].removeprefix("#L")))
            return posixpath.relpath(f"claims/{source}.md", posixpath.dirname(uri) or ".") + f"#{anchor}"
        target = claims if path == CLAIMS else ELSEWHERE.get(path, path.removeprefix("docs/"))
        if target not in pages:
            return "OUTSIDE"
        return posixpath.relpath(target, posixpath.dirname(uri) or ".") + (found[2] or "")

    text = FENCE.sub(r"\1\2", LINK.sub(link, markdown))
    for alternative in re.findall(r"!\[([^\[\]]*)\]\(OUTSIDE\)", text):
        LOG.warning("%s: no file for the picture of %r", uri, alternative)
    return re.sub(r"\[(!\[[^\[\]]*\]\([^)]*\)|[^\[\]]*)\]\(OUTSIDE\)", r"\1", text)


def on_page_content(html: str, page: Any, files: Files, **_: Any) -> str:
    """Formulas as MathML, definitions as tooltips, tables that sort, and pictures with a version for phones.

    Raises:
        PluginError: if a command of a formula is not known, which would otherwise be shown as it is.
    """

    def formula(found: re.Match[str]) -> str:
        latex = unescape(found[3]).strip()
        text: str = convert(latex, display="block" if found[2] == "[" else "inline")
        if "\\" in unescape(text):
            raise PluginError(f"{page.file.src_uri}: no MathML for {latex}")
        return text

    terms = definitions((ROOT / "docs" / "glossary.md").read_text())
    text = with_sorting(with_tooltips(FORMULA.sub(formula, html), terms))
    return with_pictures(text, page.file.src_uri, lambda path: files.get_file_from_path(path) is not None)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """The page as it is.

    Raises:
        PluginError: if it loads anything from another host.
    """
    loaded = re.search(r'<(?:script|img|iframe)[^>]+src="https?:[^>]*>|<link[^>]+rel="stylesheet"[^>]+https?:', output)
    if loaded:
        raise PluginError(f"{page.file.src_uri} loads {loaded[0]}")
    return output


def unescape(text: str) -> str:
    """Text without HTML's entities."""
    return html.unescape(text)


def reference_page(name: str) -> str:
    """The docstrings of some modules, for mkdocstrings to fill in."""
    title = name.replace("_", " ").capitalize()
    return f"# {title}\n\n" + "\n".join(f"::: {full_name(module)}\n" for module in REFERENCE[name])


def full_name(module: str) -> str:
    """A module of the library or, where it has none such, of the reproduction."""
    own = (ROOT / "src" / "tensorldp" / f"{module.replace('.', '/')}.py").is_file()
    return f"tensorldp.{module}" if own else f"tensorldp_papers.{module}"


def line_of_claims(number: int) -> tuple[str, str]:
    """The source and the anchor of the claim in a line of the kept table, which has one line for each."""
    row = list(csv.DictReader((ROOT / CLAIMS).read_text().splitlines()))[number - 2]
    return row["source"], row["id"].lower()


def claim_pages() -> dict[str, str]:
    """A page for each source, and one that counts verdicts."""
    catalogue = []
    for path in (ROOT / "src" / "tensorldp_papers" / "papers").glob("*/claims.csv"):
        with path.open(newline="") as file:
            catalogue += csv.DictReader(file)
    with (ROOT / "results" / "reference" / "claims.csv").open(newline="") as file:
        verdicts = {row["id"]: row for row in csv.DictReader(file)}
    pages = {}
    kinds = sorted({row["verdict"] for row in verdicts.values()})
    tables = {
        group: [f"| source | {PLURAL[group]} | {' | '.join(kinds)} |", f"|---{'|---' * (len(kinds) + 1)}|"]
        for group in GROUPS
    }
    for key, paper in papers().items():
        mine = [row for row in catalogue if row["source"] == key]
        for group, table in tables.items():
            own = [row for row in mine if row["kind"] in GROUPS[group]]
            counts = Counter(verdicts[row["id"]]["verdict"] for row in own if row["id"] in verdicts)
            numbers = " | ".join(str(counts[kind]) for kind in kinds)
            table += [f"| [{paper.short}]({key}.md) | {len(own)} | {numbers} |"] if own else []
        address = f" <{paper.address}>" if paper.address else ""
        entries = "\n".join(claim_entry(row, verdicts.get(row["id"], {})) for row in mine)
        pages[f"claims/{key}.md"] = f"# {paper.short}\n\n{plain(paper.reference)}.{address}\n\n{entries}"
    opening = (
        "Each statement of the five sources that can be told apart, with the verdict that the kept runs "
        "(`results/reference/`) or a computation gave. How a verdict is made: [adding a claim](../adding-a-claim.md)."
    )
    shown = (f"## {PLURAL[group].capitalize()}\n\n" + "\n".join(table) for group, table in tables.items())
    pages["claims/index.md"] = f"# Claims\n\n{opening}\n\n" + "\n\n".join(shown) + "\n"
    return pages


def claim_entry(claim: dict[str, str], verdict: dict[str, str]) -> str:
    """One claim: its statement, place, verdict, evidence and what would decide it."""
    lines = {
        "Place": claim["place"],
        "Kind": claim["kind"],
        "Verdict": verdict.get("verdict", "none is kept"),
        "Condition": verdict.get("condition", ""),
        "Expected": verdict.get("expected", ""),
        "Observed": verdict.get("observed", ""),
        "Evidence": verdict.get("evidence", ""),
        "What would decide it": verdict.get("wanted", ""),
        "Criterion since": verdict.get("criterion", ""),
        "By earlier criteria": verdict.get("was", ""),
    }
    shown = "\n".join(f"- **{name}:** {plain(text)}" for name, text in lines.items() if text)
    anchor = claim["id"].lower()
    return f"## {claim['id']} {{ #{anchor} }}\n\n{plain(claim['claim'])}\n\n{shown}\n"


def plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return re.sub(r"([\\`*_{}\[\]$|#])", r"\\\1", html.escape(text, quote=False))
