"""Tests that share a costly fixture run in one process, where there are several."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("together")
def test_a_group_is_part_of_a_test_s_name(request: pytest.FixtureRequest) -> None:
    """pytest-xdist keeps a group together by this name; with a pytest that it does not know, it does nothing."""
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("tests are not distributed by group here")
    assert request.node.nodeid.endswith("@together")
