"""Numbers that a template types in the place of a value are listed."""

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.quoting.templates import unmarked, without_sections


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reaches 0.93 at 100 and 101, or 1,234 there", ["0.93", "101", "1,234"]),
        ("the 5.2e7 of 36 %", ["5.2e7"]),
        ('| {{ q("x 0.1,0.25") }} | and {{ q("y") }}', []),
        ("`0.93` and [0.93](0.94)\n```\n0.95\n```\n<!-- 0.96 -->", ["0.93"]),
        ("TLDP2025 and v1.5 and x86", []),
    ],
)
def test_numbers_without_a_value(text: str, expected: list[str]) -> None:
    assert unmarked(text, []) == expected


def test_an_allowed_phrase_covers_itself_alone() -> None:
    assert unmarked("all 60,000\nimages and 60,000 of 160,000 images", ["60,000 images"]) == ["60,000", "160,000"]
    with pytest.raises(InputError, match="70,000"):
        unmarked("all 60,000 images", ["70,000 images"])


def test_sections_end_at_the_next_heading_of_their_level() -> None:
    text = "# A\n1.5\n## Speed\n2.5\n### Part\n3.5\n## B\n4.5\n"
    assert unmarked(without_sections(text, ["## Speed"]), []) == ["1.5", "4.5"]
    with pytest.raises(InputError, match="Sped"):
        without_sections(text, ["## Sped"])
