"""Which arithmetic networks compute in, decided from the machine without importing torch."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Literal

from tensorldp.errors import InputError

Precision = Literal["float32", "bfloat16"]
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


def resolve_precision(wish: str, *, gpu: bool, embedded: bool, instructions: str) -> Precision:
    """The arithmetic of a run's networks.

    Args:
        wish: `auto`, `float32` or `bfloat16`. `auto` is bfloat16 on a GPU and on a processor with AMX; on others, those
            with AVX512-BF16 too, it gains nothing.
        gpu: whether jobs use a GPU.
        embedded: whether the run's data are small enough to be embedded (scale quick), where `auto` is float32.
        instructions: of `instruction_set`.

    Raises:
        InputError: for another word, or for bfloat16 on a machine that has no instructions for it.
    """
    if wish not in ("auto", "float32", "bfloat16"):
        raise InputError(f"precision must be auto, float32 or bfloat16, got {wish!r}")
    if wish == "bfloat16" and not gpu and instructions not in ("amx_bf16", "avx512_bf16"):
        raise InputError(
            f"precision is 'bfloat16' but this machine ({instructions}) has no instructions for it and no GPU, so that "
            "it would be slower than float32: set precision to auto or float32"
        )
    if wish == "auto":
        return "bfloat16" if not embedded and (gpu or instructions == "amx_bf16") else "float32"
    return "bfloat16" if wish == "bfloat16" else "float32"
