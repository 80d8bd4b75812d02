"""Run a notebook with papermill.

Beside its output it writes the same as a page, with the ending .html.

Kernel and papermill talk through sockets in a folder of their own. With TCP, Jupyter looks for free ports, gives them
back and lets the kernel take them, but another kernel may have taken them meanwhile.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from papermill.cli import papermill
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError

from tensorldp.errors import InputError
from tensorldp.files import write_text
from tensorldp_papers.plots.notebook_file import check_ended, check_notebook
from tensorldp_papers.plots.notebook_page import page_of
from tensorldp_papers.run import forked
from tensorldp_papers.run.cli import parser, run
from tensorldp_papers.run.sealed import seal_file

PATIENCE = 600  # seconds for a kernel to start, and for the last words of a cell: Jupyter's 60 and 4 are few under load


class OwnKernelManager(AsyncKernelManager):
    """Starts a kernel of this Python, and talks to it through sockets in `folder`."""

    folder = "."

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, transport="ipc", connection_file=f"{self.folder}/kernel.json")

    @property
    def kernel_spec(self) -> KernelSpec:
        """Says how the kernel is started, whatever kernels the user has installed."""
        argv = [sys.executable, "-IS", forked.__file__, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python")


class OwnEngine(NBClientEngine):  # type: ignore[misc]
    """Papermill's own engine with another way to start kernels."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> Any:
        """Runs a notebook as papermill's does; a kernel that dies ends this process with a sentence."""
        options |= {"kernel_manager_class": OwnKernelManager, "iopub_timeout": PATIENCE}
        try:
            return super().execute_managed_notebook(nb_man, kernel_name, **options)
        except RuntimeError as error:
            if not str(error).startswith("Kernel died"):
                raise
            raise InputError(
                f"the kernel of {options['input_path']} died, most likely for lack of memory; run again with "
                "fewer --cores, everything finished is kept"
            ) from None


def execute(source: Path, output: Path, parameters: Sequence[Sequence[str]]) -> None:
    """Runs papermill; a user's mistake, in the notebook or found by its code, is an `InputError`."""
    check_notebook(source, [name for name, _ in parameters])
    papermill_engines.register("own", OwnEngine)
    options = ["--engine", "own", "--start-timeout", str(PATIENCE), "--log-level", "WARNING", "--no-progress-bar"]
    options += ["-k", "python3", "-l", "python"]  # whatever the notebook says, as the kernel is this Python
    values = [word for name, value in parameters for word in ("-p", name, value)]
    place = forked.folder_for_sockets()
    with tempfile.TemporaryDirectory(prefix="tensorldp-", dir=place, ignore_cleanup_errors=True) as folder:
        OwnKernelManager.folder = folder
        try:
            papermill([*options, str(source), str(output), *values], standalone_mode=False)
        except PapermillExecutionError as error:
            if error.ename == "InputError":
                raise InputError(error.evalue) from None
            if error.ename != "SystemExit":
                raise
    check_ended(output, source)


def main(arguments: Sequence[str] | None = None) -> None:
    arg = parser(__doc__)
    arg.add_argument("source", type=Path, help="the notebook")
    arg.add_argument("output", type=Path, help="the notebook to write, with its outputs")
    arg.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), help="set a parameter")
    arg.add_argument("--tables", type=Path, nargs="*", default=[], help="tables that it writes for others to read")
    args = arg.parse_args(arguments)
    execute(args.source, args.output, args.p)
    write_text(args.output.with_suffix(".html"), page_of(args.output))
    for path in args.tables:
        seal_file(path)


if __name__ == "__main__":
    run(main)
