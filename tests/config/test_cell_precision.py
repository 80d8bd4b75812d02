"""The precision of networks: where it belongs to a cell, and where it must not."""

import json

import pytest
import torch

from tensorldp.errors import InputError
from tensorldp_papers.nets import Task, build
from tensorldp_papers.nets.compiled.loop import Layout
from tensorldp_papers.registries import METHODS, MODELS
from tensorldp_papers.run.cell import parse_cell, parse_release
from tensorldp_papers.run.grid import Plan, make_plan
from tensorldp_papers.run.precision import Precision
from tensorldp_papers.run.settings import parse_settings


def plan(*chosen: Precision, **raw: object) -> Plan:
    settings = parse_settings({"studies": ["tldp_type1"], **raw})
    return make_plan(settings, chosen)


def test_it_belongs_to_the_cells_whose_networks_it_changes_and_to_no_release_guarantee_or_audit() -> None:
    exact, reduced = plan(scale="desk").cells, plan("bfloat16", scale="desk").cells
    found = {cell.factors.named()["model"]: cell.precision for cell in reduced}
    assert found == {"small_cnn": "bfloat16", "mobilenet_v2": "float32"}
    for a, b in zip(exact, reduced, strict=True):
        assert a.path == b.path
        assert a.release_settings() == b.release_settings()
        assert a.private_settings() == b.private_settings() == a.settings()
        assert (a.settings() == b.settings()) == (b.precision == "float32")
        assert parse_cell(json.loads(json.dumps(b.settings()))).precision == b.precision
        assert parse_release(b.release_settings()).precision == "float32"


def test_only_networks_that_exist_are_named() -> None:
    for method in (METHODS[name] for name in METHODS.names()):
        own = method.factors.model_fields.get("model")
        assert not (method.reduced or method.compiled) or own is not None
        for name in method.reduced | method.compiled:
            assert name in MODELS.names() or name in str(own)


def test_a_network_takes_the_first_that_it_may_compute_in() -> None:
    def found(*chosen: Precision, study: str) -> dict[str, str]:
        return {c.factors.named()["model"]: c.precision for c in plan(*chosen, scale="desk", studies=[study]).cells}

    assert found("compiled", "bfloat16", study="tldp_type1") == {"small_cnn": "compiled", "mobilenet_v2": "float32"}
    assert found("compiled", "bfloat16", study="latent") == {
        "cnn": "bfloat16",
        "ann": "bfloat16",
        "centroid": "float32",
    }
    assert found("compiled", study="pldp_fl") == {"pldp_cnn": "compiled"}
    assert found("bfloat16", study="tldp_type3") == {"small_cnn": "float32"}  # its parameters are perturbed


def test_the_compiled_loop_takes_the_networks_that_name_it() -> None:
    for name in {name for key in METHODS.names() for name in METHODS[key].compiled}:
        shape = (1, 28, 28) if name in ("small_cnn", "pldp_cnn") else (49,)
        task = Task(shape[1:] if len(shape) == 3 else shape, 10)
        assert len(Layout(build(name, task, torch.Generator()), shape).stages) > 1


def test_asking_for_it_where_no_network_takes_it_is_a_mistake() -> None:
    assert any(cell.precision == "bfloat16" for cell in plan("bfloat16", precision="bfloat16").cells)
    with pytest.raises(InputError, match="precision is 'bfloat16' but every network of the chosen studies computes in"):
        plan("bfloat16", precision="bfloat16", studies=["tvg_covariance"])
    assert any(cell.precision == "compiled" for cell in plan("compiled", precision="compiled").cells)
    with pytest.raises(InputError, match="precision is 'compiled' but every network of the chosen studies computes in"):
        plan("compiled", precision="compiled", studies=["latent"])
