"""A figure as text inside a page."""

from __future__ import annotations

import base64
import io

from markupsafe import Markup, escape
from matplotlib.figure import Figure


def as_svg(figure: Figure, title: str) -> Markup:
    """The figure as an image that carries its own data, with a title for those who cannot see it."""
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})
    data = base64.b64encode(stream.getvalue()).decode()
    return Markup('<img alt="{}" src="data:image/svg+xml;base64,{}">').format(escape(title), data)
