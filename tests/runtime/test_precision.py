"""Which arithmetic networks compute in."""

from pathlib import Path

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.run.precision import instruction_set, resolve_precision


def resolved(wish: str, instructions: str, **facts: bool) -> tuple[str, ...]:
    return resolve_precision(wish, **{"gpu": False, "embedded": False, **facts}, instructions=instructions)


@pytest.mark.parametrize(
    ("instructions", "gpu", "expected"),
    [
        ("amx_bf16", False, ("bfloat16",)),
        ("avx512_bf16", False, ()),
        ("avx2", False, ()),
        ("avx2", True, ("bfloat16",)),
    ],
)
def test_auto_is_bfloat16_where_it_gains(instructions: str, gpu: bool, expected: tuple[str, ...]) -> None:
    assert resolved("auto", instructions, gpu=gpu) == expected
    assert resolved("auto", instructions, gpu=gpu, embedded=True) == ()
    assert resolved("float32", instructions, gpu=gpu, compiles=True) == ()


def test_auto_is_the_compiled_loop_first_where_there_is_one() -> None:
    assert resolved("auto", "amx_bf16", compiles=True) == ("compiled", "bfloat16")
    assert resolved("auto", "avx2", compiles=True, embedded=True) == ("compiled",)
    assert resolved("auto", "amx_bf16", compiles=True, gpu=True) == ("bfloat16",)
    assert resolved("compiled", "amx_bf16", compiles=True) == ("compiled",)
    assert resolved("bfloat16", "amx_bf16", compiles=True) == ("bfloat16",)


@pytest.mark.parametrize(
    ("facts", "why"), [({}, "no C\\+\\+ compiler"), ({"compiles": True, "gpu": True}, "jobs use a GPU")]
)
def test_the_compiled_loop_is_asked_for_in_vain(facts: dict[str, bool], why: str) -> None:
    with pytest.raises(InputError, match=f"precision is 'compiled' but {why}"):
        resolved("compiled", "avx2", **facts)


def test_a_wish_counts_where_the_machine_can() -> None:
    assert resolved("bfloat16", "avx512_bf16", embedded=True) == ("bfloat16",)
    with pytest.raises(
        InputError, match=r"precision is 'bfloat16' but this machine \(avx2\) has no instructions for it"
    ):
        resolved("bfloat16", "avx2")
    with pytest.raises(InputError, match="precision must be auto, float32, bfloat16 or compiled, got 'half'"):
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
