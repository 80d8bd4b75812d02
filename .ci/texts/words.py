"""How long the pages are and how long their sentences: `python .ci/texts/words.py` prints a table.

Counted are README.md and every page below docs/, without code, comments and formulas. Words of tables count, but no
sentence is looked for in them, in headings or in what is quoted.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = (
    re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL),
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"\$\$.*?\$\$", re.DOTALL),
    re.compile(r"^\\\[.*?^\\\]", re.MULTILINE | re.DOTALL),
    re.compile(r"<(?:img|source|picture|/picture)[^>]*>"),
)
FORMULA = re.compile(r"\$[^$\n]+\$|\\\(.*?\\\)")
LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
QUOTED = re.compile(r"“[^”]*”|\"[^\"\n]{20,}\"")
WORD = re.compile(r"[^\W_][\w'’.,/-]*")
END = re.compile(r"(?<=[.!?:])[\"”)*_]*\s+(?=[\"“(*_\[`]*[A-Z0-9ΑΔεδ`])")
NO_END = re.compile(r"\b(?:e\.g|i\.e|cf|vs|Eq|Eqs|Fig|Thm|No|pp|sec|approx|al)\.$|\b[A-Z]\.$")
MOST_WORDS, MOST_ALL, README_WORDS, AVERAGE = 35, 24_000, 500, 17.0


@dataclass(frozen=True)
class Page:
    """The words of a page and those of each of its sentences."""

    name: str
    words: int
    sentences: tuple[str, ...]

    @property
    def lengths(self) -> list[int]:
        """Words of each sentence."""
        return [len(WORD.findall(sentence)) for sentence in self.sentences]

    @property
    def average(self) -> float:
        """Words of a sentence; 0 on a page without any."""
        return sum(self.lengths) / len(self.lengths) if self.lengths else 0.0


def without_code(text: str) -> str:
    """The text that a reader reads."""
    for pattern in LEFT_OUT:
        text = pattern.sub("\n\n", text)
    return LINK.sub(r"\1", text)


def sentences(text: str) -> list[str]:
    """Those of paragraphs and items of lists; a quotation or a formula is one word."""
    found = []
    text = QUOTED.sub("Quoted", FORMULA.sub("formula", without_code(text)))
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.) )", text)
    for block in blocks:
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        if not lines or lines[0].startswith(("#", "|", "!!!", "---")):
            continue
        joined = re.sub(r"^(?:[-*+]|\d+\.) ", "", " ".join(line for line in lines if not line.startswith("|")))
        joined = re.sub(r"`[^`]*`", "code", joined)
        parts: list[str] = []
        for part in END.split(joined):
            if parts and NO_END.search(parts[-1]):
                parts[-1] += f" {part}"
            else:
                parts.append(part)
        found += [part for part in parts if len(WORD.findall(part)) > 1]
    return found


def page(path: Path, root: Path = ROOT) -> Page:
    """The page in a file."""
    text = path.read_text()
    counted = len(WORD.findall(FORMULA.sub(" ", without_code(text))))
    return Page(path.relative_to(root).as_posix(), counted, tuple(sentences(text)))


def pages(root: Path = ROOT) -> list[Page]:
    """README.md and every page below docs/."""
    return [page(path, root) for path in (root / "README.md", *sorted((root / "docs").rglob("*.md")))]


def main() -> None:
    """Print the table, and every sentence that is too long."""
    chosen = sys.argv[1:]
    found = [p for p in pages() if not chosen or p.name in chosen]
    for p in found:
        print(f"{p.words:6,} words, {p.average:5.1f} a sentence, longest {max(p.lengths, default=0):3}  {p.name}")
    print(f"{sum(p.words for p in found):6,} words in {len(found)} pages")
    for p in found:
        for sentence, length in zip(p.sentences, p.lengths, strict=True):
            if length > MOST_WORDS:
                print(f"{p.name}: {length} words: {sentence[:160]}")


if __name__ == "__main__":
    main()
