"""An arm's factors: a list stands for each of its values, before the scale's own."""

from tensorldp_papers.papers.pldp_fl.settings import PldpFactors
from tensorldp_papers.run.grid import study_cells
from tensorldp_papers.run.settings import Settings
from tensorldp_papers.run.study import Study


def test_an_arms_list_of_factors_is_a_grid_of_its_own() -> None:
    study = Study.model_validate(
        {
            "study": "s",
            "title": "t",
            "source": "p",
            "release": "parameters",
            "figure": "f",
            "method": "pldp_fl",
            "arms": [
                {"mechanisms": ["none"]},
                {"mechanisms": ["pdpm"], "factors": {"eps": "e1", "tau": ["t1", 0.5], "model": "linear"}},
            ],
            "scales": {"quick": {"datasets": ["digits"], "epsilons": [1], "seeds": [0], "factors": {"model": ["mlp"]}}},
        }
    )
    cells = study_cells(study, Settings(scale="quick", studies=["s"]))
    assert [(cell.mechanism, cell.variant) for cell in cells] == [
        ("none", "model=mlp"),
        ("pdpm", "eps=e1,model=linear,tau=t1"),
        ("pdpm", "eps=e1,model=linear,tau=0.5"),
    ]
    assert isinstance(cells[2].factors, PldpFactors)
    assert cells[2].factors.tau == 0.5
