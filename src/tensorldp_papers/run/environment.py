"""What a run tells its jobs through the environment: settings that numbers do not depend on, so nothing tracks them."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import get_args

from tensorldp.errors import InputError
from tensorldp_papers.run import forked, provenance
from tensorldp_papers.run.native import LOOPS, available
from tensorldp_papers.run.precision import Precision, instruction_set, resolve_precision
from tensorldp_papers.run.settings import Settings

GPU_NODE = Path("/dev/nvidiactl")  # tells that there is a GPU without importing torch


def export(settings: Settings, *, main_process: bool) -> None:
    """Sets TENSORLDP_MIRROR, _PLUGINS, _DEVICE, _GPU, _PRECISION and _PROVENANCE for this process and its jobs.

    Args:
        settings: the run's.
        main_process: False in the Snakemake of a cluster job, which takes over what the submitting one found out.
    """
    mirror = settings.mirror or os.environ.get("TENSORLDP_MIRROR")
    if mirror and not Path(mirror).is_dir():
        raise InputError(f"the mirror folder {mirror} does not exist: correct `mirror` in config.yaml or unset it")
    if mirror:
        os.environ["TENSORLDP_MIRROR"] = str(Path(mirror).absolute())
    os.environ["TENSORLDP_PLUGINS"] = ",".join(settings.plugins)
    os.environ["TENSORLDP_DEVICE"] = settings.device
    wants = settings.device == "cuda" or (settings.device == "auto" and GPU_NODE.exists())
    if main_process:
        os.environ["TENSORLDP_GPU"] = str(int(wants))
        chosen = resolve_precision(
            settings.precision,
            gpu=wants,
            embedded=settings.scale == "quick",
            instructions=instruction_set(),
            compiles=settings.precision in ("auto", "compiled") and not wants and available(LOOPS),
        )
        os.environ["TENSORLDP_PRECISION"] = ",".join(chosen)
        provenance.share()
    else:
        os.environ.setdefault("TENSORLDP_GPU", str(int(wants)))
        os.environ.pop(forked.SOCKET, None)  # of the machine that submitted


def gpu_slots() -> int:
    """Returns the slots of the `gpu` resource of a job: 1 where jobs use a GPU, 0 where they must not wait for one."""
    return int(os.environ.get("TENSORLDP_GPU", "0"))


def precision() -> tuple[Precision, ...]:
    """Returns the arithmetic of the run's networks, which its main process chose: cluster nodes do not choose again."""
    return tuple(name for name in get_args(Precision) if name in os.environ.get("TENSORLDP_PRECISION", "").split(","))


def device() -> str:
    """Returns the device that the run requested, `auto` where there is no run."""
    return os.environ.get("TENSORLDP_DEVICE", "auto")


def shell_functions(scripts: Path) -> str:
    """Returns a Bash function, `stage train ...`, as a prefix that Snakemake formats (so braces are doubled)."""
    python, client, folder = (
        shlex.quote(path).replace("{", "{{").replace("}", "}}")
        for path in (sys.executable, forked.__file__, str(scripts))
    )
    return f'stage() {{{{ script=$1; shift; {python} -IS {client} {folder}/"$script".py "$@"; }}}}; '
