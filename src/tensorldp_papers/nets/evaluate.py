"""Score a cell's models on the test set, clean and as released."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tensorldp_papers.nets.classify import predict, scores
from tensorldp_papers.run.records import Records, Scaling, model_inputs


def evaluate(
    model: nn.Module,
    test: Records,
    scaling: Scaling,
    device: torch.device,
    released: Tensor | None = None,
    precision: str = "float32",
) -> list[dict[str, Any]]:
    """Rows {metric, value}: accuracy and weighted F1 on clean records, and on released ones if given.

    Args:
        model: a trained network.
        test: the test records.
        scaling: of the model's inputs.
        device: where the model is.
        released: (records, *shape) test records as released, or None.
        precision: what the network computes in.
    """
    model = model.to(device)
    splits = {"": test.x} if released is None else {"": test.x, "_perturbed_test": released}
    rows = []
    for suffix, x in splits.items():
        inputs = model_inputs(x, test.kind)
        inputs = inputs if test.kind == "text" else scaling(inputs)
        for metric, value in scores(test.y, predict(model, inputs.to(device), precision=precision)).items():
            rows.append({"metric": metric + suffix, "value": value})
    return rows
