"""Pages: single HTML files that need no network, on one base with one stylesheet, in light and dark and on phones."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

HERE = files("tensorldp.pages")


def rendered(folder: Traversable, template: str, /, **facts: Any) -> str:
    """Renders a template on the base of all pages; it needs Jinja, which comes with `tensorldp[pipeline]`.

    Args:
        folder: where the template lies, and all that it includes.
        template: its name; it extends `base.html`.
        facts: values that it shows and functions that it calls, by name.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def text(name: str) -> str:
        own = folder.joinpath(name)
        return (own if own.is_file() else HERE.joinpath(name)).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(text), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(template).render(facts)


def plain(
    title: str, text: str = "", *, alert: str = "", heads: Sequence[str] = (), rows: Sequence[Sequence[object]] = ()
) -> str:
    """Renders a page of a heading, a sentence and a table; cells that are `Markup` are taken as they are."""
    return rendered(HERE, "plain.html", title=title, text=text, alert=alert, heads=heads, rows=rows)
