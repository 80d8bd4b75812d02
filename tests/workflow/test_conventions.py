"""Both Snakefiles make the same."""

from __future__ import annotations

import pytest
from conftest import Project


@pytest.mark.workflow
def test_both_snakefiles_make_the_same(project: Project) -> None:
    project.configure(studies=["tldp_type2"], mechanisms={"tldp_type2": ["none", "tldp-g"]}, training={}, epsilons={})
    top, inner = project.planned(), project.planned("-s", "workflow/Snakefile")
    assert top == inner
    assert {"all", "report", "train"} <= {rule for rule, _ in top}
