"""The pieces that are listed as the next to run: each plans its cells."""

from pathlib import Path

import pytest
import yaml

from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.settings import parse_settings

ROOT = Path(__file__).parents[2]
PIECES = sorted((ROOT / "workflow" / "pieces").glob("*.yaml"))


@pytest.mark.parametrize("path", PIECES, ids=lambda path: path.stem)
def test_a_piece_plans_cells_of_one_study_at_a_scale_that_it_states(path: Path) -> None:
    settings = parse_settings(yaml.safe_load(path.read_text()))
    assert settings.scale == ("paper" if path.stem.startswith("paper_") else "desk")
    assert len(make_plan(settings).cells) > 1
    assert len(settings.studies) == 1
    assert path.read_text().startswith("# ")  # says what it decides, and the hours
