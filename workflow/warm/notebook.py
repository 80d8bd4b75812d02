"""Run a notebook with papermill, whose options it takes: python notebook.py INPUT OUTPUT [-p NAME VALUE ...]

Beside OUTPUT it writes the same as a page, with the ending .html.

The notebook's kernel comes from the warm server (client.py), as stages do: a fresh kernel imports for seconds what it
draws with. TENSORLDP_WARM=0 starts it as a process of its own, with the same figures.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from papermill.cli import papermill
from papermill.engines import NBClientEngine, papermill_engines

from tensorldp.figures.notebook_page import page_of
from tensorldp.runtime.files import write_text

HERE = Path(__file__).parent


class WarmKernelManager(AsyncKernelManager):
    """Starts kernel.py through client.py."""

    @property
    def kernel_spec(self) -> KernelSpec:
        """How the kernel is started, whatever kernels the user has installed."""
        argv = [
            sys.executable,
            "-S",
            "-E",
            str(HERE / "client.py"),
            str(HERE / "kernel.py"),
            "-f",
            "{connection_file}",
        ]
        return KernelSpec(argv=argv, display_name="Python 3", language="python")


class WarmEngine(NBClientEngine):  # type: ignore[misc]
    """Papermill's own engine with another way to start kernels."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> Any:
        """As papermill's."""
        return super().execute_managed_notebook(nb_man, kernel_name, kernel_manager_class=WarmKernelManager, **options)


if __name__ == "__main__":
    os.environ.setdefault("TENSORLDP_WARM_GROUP", str(os.getpgrp()))  # a kernel is started in a group of its own
    papermill_engines.register("warm", WarmEngine)
    options = ["--engine", "warm", "--log-level", "WARNING", "--no-progress-bar", *sys.argv[1:]]
    papermill(options, standalone_mode=False)
    output = Path(sys.argv[2])
    write_text(output.with_suffix(".html"), page_of(output))
