"""Which arithmetic networks compute in."""

from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp.runtime.precision import instruction_set, resolve_precision


def resolved(wish: str, instructions: str, *, gpu: bool = False, embedded: bool = False) -> str:
    return resolve_precision(wish, gpu=gpu, embedded=embedded, instructions=instructions)


@pytest.mark.parametrize(
    ("instructions", "gpu", "expected"),
    [
        ("amx_bf16", False, "bfloat16"),
        ("avx512_bf16", False, "float32"),
        ("avx2", False, "float32"),
        ("avx2", True, "bfloat16"),
    ],
)
def test_auto_is_bfloat16_where_it_gains(instructions: str, gpu: bool, expected: str) -> None:
    assert resolved("auto", instructions, gpu=gpu) == expected
    assert resolved("auto", instructions, gpu=gpu, embedded=True) == "float32"
    assert resolved("float32", instructions, gpu=gpu) == "float32"


def test_a_wish_counts_where_the_machine_can() -> None:
    assert resolved("bfloat16", "avx512_bf16", embedded=True) == "bfloat16"
    with pytest.raises(
        InputError, match=r"precision is 'bfloat16' but this machine \(avx2\) has no instructions for it"
    ):
        resolved("bfloat16", "avx2")
    with pytest.raises(InputError, match="precision must be auto, float32 or bfloat16, got 'half'"):
        resolved("half", "avx2")


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("fpu avx2 avx512f avx512_bf16 amx_bf16", "amx_bf16"), ("fpu avx2 avx512f", "avx512f"), ("fpu avx2", "avx2")],
)
def test_the_widest_instruction_set_is_read(tmp_path: Path, flags: str, expected: str) -> None:
    source = tmp_path / "cpuinfo"
    source.write_text(f"processor : 0\nflags\t\t: {flags}\nbugs : none\n")
    assert instruction_set(source) == expected


def test_without_flags_it_is_the_architecture(tmp_path: Path) -> None:
    source = tmp_path / "cpuinfo"
    source.write_text("processor : 0\nFeatures : fp asimd\n")
    assert instruction_set(source) == instruction_set(tmp_path / "none") != ""
