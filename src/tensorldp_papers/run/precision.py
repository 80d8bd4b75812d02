"""Which arithmetic networks compute in, decided from the machine without importing torch."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Literal

from tensorldp.errors import InputError

Precision = Literal["compiled", "bfloat16", "float32"]
WISHES = ("auto", "float32", "bfloat16", "compiled")
CPU_INFO = Path("/proc/cpuinfo")
# The first that a processor has, by the names of /proc/cpuinfo.
INSTRUCTION_SETS = ("amx_bf16", "avx512_bf16", "avx512f", "avx2")


@cache
def instruction_set(source: Path = CPU_INFO) -> str:
    """Returns the widest instruction set of this machine's processor that PyTorch's kernels tell apart.

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
    """Resolves the arithmetic of a run's networks: each takes the first that it may compute in, and float32 if none is.

    Args:
        wish: one of `WISHES`. `auto` is the loop in C++ where it can be compiled and there is no GPU; and bfloat16 on a
            GPU and on a processor with AMX; on others, those with AVX512-BF16 too, it gains nothing.
        gpu: whether jobs use a GPU.
        embedded: whether the run's data are small enough to be embedded (scale quick), where bfloat16 gains nothing.
        instructions: the result of `instruction_set`.
        compiles: whether this machine can compile that loop.
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
