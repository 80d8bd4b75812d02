"""What the site changes in the HTML of its pages: tooltips of definitions, pictures for phones, tables that sort."""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Callable

PHONE = "(max-width: 860px)"
ENTRY = re.compile(r"^### ([^\n]+)\n\n(.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
TERM = re.compile(r'<a ([^>]*)href="((?:[^"#]*/)?glossary\.html#([^"]+))"([^>]*)>')
PICTURE = re.compile(r"<picture>.*?</picture>|<img [^>]*>", re.DOTALL)
SOURCE = re.compile(r'\b(src|srcset)="docs/([^"]*)"')
MANY = 10  # rows of a table that can be sorted
SORTING = """
<script>
for (const body of document.querySelectorAll("thead + tbody")) {
  const rows = [...body.rows];
  if (rows.length < MANY) continue;
  for (const [column, head] of [...body.parentNode.tHead.rows[0].cells].entries()) {
    const button = document.createElement("button");
    button.style.cssText = "background: none; border: 0; padding: 0; font: inherit; color: inherit; cursor: pointer";
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign < 0 ? "descending" : "ascending");
      const text = row => row.cells[column].textContent.replaceAll(",", "").trim();
      const number = row => text(row) ? Number(text(row)) : NaN;
      const words = (a, b) => isNaN(number(b)) - isNaN(number(a)) || text(a).localeCompare(text(b), "en");
      body.append(...rows.sort((a, b) => sign * (number(a) - number(b) || words(a, b))));
    };
  }
}
</script>
""".replace("MANY", str(MANY))
FIGURE = re.compile(r'\bsrc="([^"]*figures/[^"/]+)\.svg"')


def definitions(glossary: str) -> dict[str, str]:
    """The first sentence of each entry of the glossary's Markdown, as plain text, by its anchor."""
    found = {}
    for term, text in ENTRY.findall(glossary):
        anchor = re.sub(r"[^\w\- ]", "", term.strip().lower()).replace(" ", "-")
        flat = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(text.split()))
        flat = re.sub(r"[`*$]", "", flat).replace("\\varepsilon", "ε").replace("\\delta", "δ")
        found[anchor] = re.split(r"(?<=[.!?])\s+(?=[A-Z])", flat)[0]
    return found


def with_tooltips(text: str, first_sentences: dict[str, str]) -> str:
    """A page whose links to the glossary show the definition's first sentence under the pointer."""

    def link(found: re.Match[str]) -> str:
        before, target, anchor, after = found.groups()
        if anchor not in first_sentences or "title=" in before + after:
            return found[0]
        return f'<a {before}href="{target}" title="{html.escape(first_sentences[anchor])}"{after}>'

    return TERM.sub(link, text)


def with_sorting(text: str) -> str:
    """A page whose tables of `MANY` rows and more are sorted by a click on a head."""
    bodies = re.findall(r"<tbody>.*?</tbody>", text, re.DOTALL)
    return text + SORTING if any(body.count("<tr>") >= MANY for body in bodies) else text


def with_pictures(text: str, page: str, here: Callable[[str], bool]) -> str:
    """A page whose figures have another file on a phone, and whose sources are relative to the page.

    Args:
        text: the page's HTML.
        page: its path on the site.
        here: whether the site has a file, by its path.
    """
    folder = posixpath.dirname(page)

    def relative(found: re.Match[str]) -> str:  # of the README's own HTML, whose paths begin at the repository
        return f'{found[1]}="{posixpath.relpath(found[2], folder or ".")}"'

    def picture(found: re.Match[str]) -> str:
        figure = FIGURE.search(found[0])
        if found[0].startswith("<picture>") or figure is None:
            return found[0]
        phone = f"{figure[1]}_phone.svg"
        if not here(posixpath.normpath(posixpath.join(folder, phone))):
            return found[0]
        return f'<picture><source media="{PHONE}" srcset="{phone}">{found[0]}</picture>'

    return PICTURE.sub(picture, SOURCE.sub(relative, text))
