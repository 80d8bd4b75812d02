"""How long the pages are and how long their sentences: `python .ci/texts/words.py` prints a table.

Code, comments and formulas are left out. Words of tables count, but no sentence is looked for in them, in headings or
in what is quoted.
"""

from __future__ import annotations

import re

from texts import PAGES, named, read

CODE = (re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL), re.compile(r"<!--.*?-->", re.DOTALL))
FORMULAS = (re.compile(r"\$\$.*?\$\$", re.DOTALL), re.compile(r"^\\\[.*?^\\\]", re.MULTILINE | re.DOTALL))
IMAGE = re.compile(r"<(?:img|source|picture|/picture)[^>]*>")
ANCHOR = re.compile(r"</?a\b[^>]*>")
FORMULA = re.compile(r"\$[^$\n]+\$|\\\(.*?\\\)")
LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
QUOTED = re.compile(r"“[^”]*”|\"[^\"\n]{20,}\"")
WORD = re.compile(r"[^\W_][\w'’.,/-]*")
END = re.compile(r"(?<=[.!?:])[\"”)*_]*\s+(?=[\"“(*_\[`]*[A-Z0-9ΑΔεδ`])")
NO_END = re.compile(r"\b(?:e\.g|i\.e|cf|vs|Eq|Eqs|Fig|Thm|No|pp|sec|approx|al)\.$|\b[A-Z]\.$")


def without_code(text: str) -> str:
    """The text that a reader reads."""
    for pattern in (*CODE, *FORMULAS, IMAGE):
        text = pattern.sub("\n\n", text)
    return LINK.sub(r"\1", ANCHOR.sub("", text))


def count(text: str) -> int:
    """The words of a page."""
    return len(WORD.findall(FORMULA.sub(" ", without_code(text))))


def sentences(text: str) -> list[tuple[str, int]]:
    """Those of paragraphs and items of lists, with their words; a quotation or a formula is one word."""
    found: list[str] = []
    text = QUOTED.sub("Quoted", FORMULA.sub("formula", without_code(text)))
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.) )", text):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        if not lines or lines[0].startswith(("#", "|", "!!!", "---")):
            continue
        joined = re.sub(r"^(?:[-*+]|\d+\.) ", "", " ".join(line for line in lines if not line.startswith("|")))
        parts: list[str] = []
        for part in END.split(re.sub(r"`[^`]*`", "code", joined)):
            if parts and NO_END.search(parts[-1]):
                parts[-1] += f" {part}"
            else:
                parts.append(part)
        found += parts
    return [(part, words) for part in found if (words := len(WORD.findall(part))) > 1]


if __name__ == "__main__":
    for page in PAGES:
        lengths = [words for _, words in sentences(read(page))]
        mean, most = sum(lengths) / max(1, len(lengths)), max(lengths, default=0)
        print(f"{count(read(page)):6,} words, {mean:5.1f} a sentence, longest {most:3}  {named(page)}")
    print(f"{sum(count(read(page)) for page in PAGES):6,} words in {len(PAGES)} pages")
