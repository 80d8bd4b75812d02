"""What numbers do not depend on, and so nothing tracks: the device, the arithmetic, what jobs are told."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import torch

from tensorldp.errors import InputError
from tensorldp_papers.nets.compiled.native import LOOPS, available
from tensorldp_papers.run import provenance
from tensorldp_papers.run.settings import Settings

Precision = Literal["compiled", "bfloat16", "float32"]
WISHES = ("auto", "float32", "bfloat16", "compiled")
CPU_INFO = Path("/proc/cpuinfo")
# The first that a processor has, by the names of /proc/cpuinfo.
INSTRUCTION_SETS = ("amx_bf16", "avx512_bf16", "avx512f", "avx2")


@cache
def instruction_set(source: Path = CPU_INFO) -> str:
    """The widest instruction set of this machine's processor that PyTorch's kernels tell apart.

    One of `INSTRUCTION_SETS`, else the architecture: results differ in rounding between them.
    """
    try:
        flags = next((line for line in source.read_text().splitlines() if line.startswith("flags")), "").split()
    except OSError:
        flags = []
    return next((name for name in INSTRUCTION_SETS if name in flags), platform.machine())


def resolve_precision(
    wish: str, *, gpu: bool, embedded: bool, instructions: str, compiles: bool = False
) -> tuple[Precision, ...]:
    """The arithmetic of a run's networks: each takes the first that it may compute in, and float32 if none is.

    Args:
        wish: one of `WISHES`. `auto` is the loop in C++ where it can be compiled and there is no GPU; and bfloat16 on a
            GPU and on a processor with AMX; on others, those with AVX512-BF16 too, it gains nothing.
        gpu: whether jobs use a GPU.
        embedded: whether the run's data are small enough to be embedded (scale quick), where bfloat16 gains nothing.
        instructions: of `instruction_set`.
        compiles: whether this machine can compile that loop.

    Raises:
        InputError: for another word, for bfloat16 on a machine that has no instructions for it, or for `compiled` on
            one that cannot compile or has jobs on a GPU.
    """
    if wish not in WISHES:
        raise InputError(f"precision must be auto, float32, bfloat16 or compiled, got {wish!r}")
    if wish == "bfloat16" and not gpu and instructions not in ("amx_bf16", "avx512_bf16"):
        raise InputError(
            f"precision is 'bfloat16' but this machine ({instructions}) has no instructions for it and no GPU, so that "
            "it would be slower than float32: set precision to auto or float32"
        )
    if wish == "compiled" and (gpu or not compiles):
        why = "jobs use a GPU, where the compiled loop does not run" if gpu else "no C++ compiler was found that works"
        raise InputError(f"precision is 'compiled' but {why}: set precision to auto")
    found: list[Precision] = []
    if wish == "compiled" or (wish == "auto" and compiles and not gpu):
        found.append("compiled")
    if wish == "bfloat16" or (wish == "auto" and not embedded and (gpu or instructions == "amx_bf16")):
        found.append("bfloat16")
    return tuple(found)


def resolve_device(wish: str) -> torch.device:
    """`auto` is the GPU if there is one; `cpu`; `cuda`.

    Raises:
        InputError: for another word, or for `cuda` where there is no GPU.
    """
    if wish not in ("auto", "cpu", "cuda"):
        raise InputError(f"device must be auto, cpu or cuda, got {wish!r}")
    present = torch.cuda.is_available()
    if wish == "cuda" and not present:
        raise InputError("device is 'cuda' but no CUDA GPU is available here: set device to auto or cpu")
    return torch.device("cuda" if present and wish != "cpu" else "cpu")


def describe(device: torch.device) -> str:
    """A short name for provenance: cpu, or the GPU's."""
    return "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)


GPU_NODE = Path("/dev/nvidiactl")  # tells that there is a GPU without importing torch


def export(settings: Settings, *, main_process: bool) -> None:
    """Set TENSORLDP_MIRROR, _PLUGINS, _DEVICE, _GPU, _PRECISION and _PROVENANCE for this process and its jobs.

    Args:
        settings: the run's.
        main_process: False in the Snakemake of a cluster job, which takes over what the submitting one found out.

    Raises:
        InputError: if the mirror folder does not exist, or the machine cannot compute in the wished precision.
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


def gpu_slots() -> int:
    """Slots of the `gpu` resource that a job takes: 1 where jobs use a GPU, 0 where they must not wait for one."""
    return int(os.environ.get("TENSORLDP_GPU", "0"))


def precision() -> tuple[Precision, ...]:
    """The arithmetic of the run's networks, which its main process chose: a cluster's nodes do not choose again."""
    return tuple(name for name in get_args(Precision) if name in os.environ.get("TENSORLDP_PRECISION", "").split(","))


def device() -> str:
    """The device that the run asked for, `auto` where there is no run."""
    return os.environ.get("TENSORLDP_DEVICE", "auto")


def shell_functions(scripts: Path) -> str:
    """A Bash function for rules, as a prefix that Snakemake formats (hence doubled braces): `stage train ...`."""
    python, folder = (
        shlex.quote(path).replace("{", "{{").replace("}", "}}") for path in (sys.executable, str(scripts))
    )
    return f'stage() {{{{ script=$1; shift; {python} {folder}/"$script".py "$@"; }}}}; '
