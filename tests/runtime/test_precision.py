"""Which arithmetic networks compute in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.run.precision import instruction_set, resolve_precision

GPU: dict[str, bool] = {"gpu": True}
COMPILES: dict[str, bool] = {"compiles": True}
EMBEDDED: dict[str, bool] = {"embedded": True}


@pytest.mark.parametrize(
    ("wish", "instructions", "facts", "expected"),
    [
        ("auto", "amx_bf16", {}, ("bfloat16",)),  # where it gains
        ("auto", "avx512_bf16", {}, ()),
        ("auto", "avx2", {}, ()),
        ("auto", "avx2", GPU, ("bfloat16",)),
        ("auto", "amx_bf16", EMBEDDED, ()),
        ("auto", "avx2", GPU | EMBEDDED, ()),
        ("float32", "amx_bf16", COMPILES, ()),
        ("float32", "avx2", COMPILES | GPU, ()),
        ("auto", "amx_bf16", COMPILES, ("compiled", "bfloat16")),  # the compiled loop first
        ("auto", "avx2", COMPILES | EMBEDDED, ("compiled",)),
        ("auto", "amx_bf16", COMPILES | GPU, ("bfloat16",)),
        ("compiled", "amx_bf16", COMPILES, ("compiled",)),
        ("bfloat16", "amx_bf16", COMPILES, ("bfloat16",)),
        ("bfloat16", "avx512_bf16", EMBEDDED, ("bfloat16",)),  # a wish counts where the machine can
        ("compiled", "avx2", {}, r"precision is 'compiled' but no C\+\+ compiler"),
        ("compiled", "avx2", COMPILES | GPU, "precision is 'compiled' but jobs use a GPU"),
        ("bfloat16", "avx2", {}, r"precision is 'bfloat16' but this machine \(avx2\) has no instructions for it"),
        ("half", "avx2", {}, "precision must be auto, float32, bfloat16 or compiled, got 'half'"),
    ],
)
def test_networks_compute_in_what_is_asked_for_or_gains_here(
    wish: str, instructions: str, facts: dict[str, bool], expected: Any
) -> None:
    asked: dict[str, Any] = {"gpu": False, "embedded": False, **facts, "instructions": instructions}
    if isinstance(expected, tuple):
        assert resolve_precision(wish, **asked) == expected
    else:
        with pytest.raises(InputError, match=expected):
            resolve_precision(wish, **asked)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("fpu avx2 avx512f avx512_bf16 amx_bf16", "amx_bf16"), ("fpu avx2 avx512f", "avx512f"), ("fpu avx2", "avx2")],
)
def test_the_widest_instruction_set_is_read(tmp_path: Path, flags: str, expected: str) -> None:
    source = tmp_path / "cpuinfo"
    source.write_text(f"processor : 0\nflags\t\t: {flags}\nbugs : none\n")
    assert instruction_set(source) == expected
    other = tmp_path / "of ARM"
    other.write_text("processor : 0\nFeatures : fp asimd\n")
    assert instruction_set(other) == instruction_set(tmp_path / "none") != ""  # the architecture
