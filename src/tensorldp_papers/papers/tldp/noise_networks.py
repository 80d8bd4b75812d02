"""Networks that are noise: the rounds of TLDP's Type III (5.2.3) where users learn nothing.

With noise far above the clip, what training adds is lost in it, and a mechanism's score is that of such networks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tensorldp_papers.nets.classify import predict, scores
from tensorldp_papers.nets.federated import get_vector, set_vector
from tensorldp_papers.nets.train import empty_model, federated_inputs, new_model
from tensorldp_papers.papers.tldp.federated import (
    audited_stand_in,
    has_buffers,
    parameter_release,
    run_guarantee,
    use_public_embedding,
)
from tensorldp_papers.papers.tldp.rounds import average, clipped
from tensorldp_papers.papers.tldp.settings import FederatedFactors, NoiseCell, NoiseTraining
from tensorldp_papers.progress import track
from tensorldp_papers.run.method import Audited, MeasureMethod, Rows
from tensorldp_papers.run.records import read_records
from tensorldp_papers.run.streams import noise_stream


class NoiseNetworks(MeasureMethod[NoiseTraining, FederatedFactors]):
    """Metrics `accuracy` and `weighted_f1`, their means over the rounds, and `noise`: its rms in units of the clip."""

    def measure(self, cell: NoiseCell, data: Path | None, seed: int, device: torch.device) -> Rows:
        assert data is not None
        test = read_records(data / "test.safetensors").first(cell.training.test_limit)
        inputs = federated_inputs(test)[0].to(device)
        model = new_model(cell, test.task, seed).to(device)
        use_public_embedding(model, test)
        release = parameter_release(cell, model)
        noise = noise_stream(cell, seed, "parameter noise", device)
        found: list[dict[str, float]] = []
        for round_index in track(range(release.rounds), f"{cell.mechanism} {cell.epsilon} seed {seed}: round"):
            shared = clipped(get_vector(model), release.clip)
            released = average([shared] * release.users, release, round_index, noise)
            set_vector(model, released)
            rms = float((released.double() - shared).square().mean().sqrt())
            found.append({**scores(test.y, predict(model, inputs)), "noise": rms / release.clip})
        return [{"metric": name, "value": sum(one[name] for one in found) / len(found)} for name in found[0]]

    def guarantee(self, cell: NoiseCell, data: Path | None) -> dict[str, Any]:
        assert data is not None
        model = empty_model(cell, read_records(data / "test.safetensors").task)
        return run_guarantee(parameter_release(cell, model), has_buffers(model))

    def audited(self, cell: NoiseCell, data: Path | None) -> Audited:
        return audited_stand_in(cell)


METHOD = NoiseNetworks()
