"""Marks are found, compared and rewritten; unmarked numbers are listed."""

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.quoting.marks import Drift, check_marks, drifts, rewritten, unmarked, without_sections

PAGE = "One\n| a | <!-- q: x 1,2 -->0.1 | 0.3<!-- /q --> | and <!-- q: y -->7<!-- /q --> of\n"
VALUES = {"x 1,2": "0.1 | 0.2", "y": "7"}


def test_a_wrong_number_is_told_with_its_line_and_rewritten() -> None:
    assert drifts(PAGE, VALUES.__getitem__) == [Drift("x 1,2", 2, "0.1 | 0.3", "0.1 | 0.2")]
    mended = rewritten(PAGE, VALUES.__getitem__)
    assert mended == PAGE.replace("0.3", "0.2")
    assert drifts(mended, VALUES.__getitem__) == []


@pytest.mark.parametrize("line", ["<!-- q: x -->0.1", "0.1<!-- /q -->", "<!-- q: x -->0.1\n<!-- /q -->"])
def test_a_mark_that_is_not_closed_on_its_line_is_refused(line: str) -> None:
    with pytest.raises(InputError, match=r"page\.md, line 2"):
        check_marks(f"text\n{line}\n", "page.md")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reaches 0.93 at 100 and 101, or 1,234 there", ["0.93", "101", "1,234"]),
        ("the 5.2e7 of 36 %", ["5.2e7"]),
        (PAGE, []),
        ("`0.93` and [0.93](0.94)\n```\n0.95\n```\n<!-- 0.96 -->", ["0.93"]),
        ("TLDP2025 and v1.5 and x86", []),
    ],
)
def test_numbers_without_a_mark(text: str, expected: list[str]) -> None:
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
