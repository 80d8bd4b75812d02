"""Attacks on two-layer networks: the tensor method, and the sensitivity of their gradients."""

from __future__ import annotations

import math
from statistics import median

import torch
from torch import Tensor

from tensorldp_papers.attacks.activations import tensor_coefficients
from tensorldp_papers.attacks.defences import Defence
from tensorldp_papers.attacks.matching import vector_error
from tensorldp_papers.attacks.sensitivity import measured_change
from tensorldp_papers.attacks.tensor import tensor_attack
from tensorldp_papers.attacks.two_layer import TwoLayer, unit_records
from tensorldp_papers.papers.lecture.attack_common import defence_of, needed
from tensorldp_papers.run.streams import AttackCell, common_stream, noise_stream


def measure_tensor(cell: AttackCell, seed: int) -> dict[str, float]:
    """The error of the tensor attack on a gradient, with what the defence did to that gradient: medians over draws.

    error is dp-lecture's Eq. 5.2. With k local steps the client has k B records, B for each step. The attacker leaves
    out neurons that dropout switched off, which show as exact zeros.
    """
    given = cell.factors
    m, d, batch = needed(cell, "m", given.m), needed(cell, "d", given.d), needed(cell, "B", given.B)
    activation = given.activation
    tensor_coefficients(activation)  # a clear error before any work
    defence = defence_of(cell, m)
    streams = [
        common_stream(cell, seed, "network"),
        noise_stream(cell, seed, "defence"),
        common_stream(cell, seed, "attack"),
    ]
    rate = cell.training.local_rate / m
    found = [_one_attack(m, d, batch, activation, defence, rate, streams) for _ in range(cell.training.draws)]
    return {key: median(scores[key] for scores in found) for key in found[0]}


def _one_attack(
    m: int, d: int, batch: int, activation: str, defence: Defence, rate: float, streams: list[torch.Generator]
) -> dict[str, float]:
    drawn, noisy, starts = streams
    network = TwoLayer.draw(m, d, activation, drawn)
    x, y = unit_records(batch * defence.steps, d, drawn)
    sent = network.local_update(x, y, defence.steps, rate)
    norm = float(sent.norm())
    released, weights = defended(network, sent, defence, noisy)
    found = tensor_attack(released, weights, len(x), activation, starts)
    scores = {"error": vector_error(found, x), "gradient_norm": norm, "gradient_rms": norm / math.sqrt(m)}
    noise = noise_deviation(defence)
    if noise is not None:
        # clipping shrinks the signal, so the same noise counts as much more (Table 1, row DP-SGD)
        shrunk = max(1.0, norm / defence.strength) if defence.name == "mechanism" else 1.0
        scores["noise"] = noise * shrunk
    return scores


def noise_deviation(defence: Defence) -> float | None:
    """The root mean square of the noise that the defence adds to an element; None where it adds none."""
    if defence.name == "noise":
        return defence.strength
    if defence.mechanism is None:
        return None
    error = defence.mechanism.squared_error()
    return None if error is None else math.sqrt(error / defence.mechanism.size)


def defended(
    network: TwoLayer, gradient: Tensor, defence: Defence, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """What is sent, and the weights of the neurons that it is about."""
    kept = defence.keep_mask(len(gradient), generator)
    if kept is not None:
        return gradient[kept], network.weights[kept]
    return defence.protect(gradient.unsqueeze(0), generator).squeeze(0), network.weights


def measure_sensitivity(cell: AttackCell, seed: int) -> dict[str, float]:
    """The largest l1 change of a gradient on replacing one record, by part and in total."""
    a_part, w_part = measured_change(
        needed(cell, "m", cell.factors.m),
        needed(cell, "d", cell.factors.d),
        needed(cell, "scaling", cell.factors.scaling),
        cell.training.pairs,
        common_stream(cell, seed, "sensitivity"),
    )
    return {"change_a": a_part, "change_w": w_part, "change": a_part + w_part}
