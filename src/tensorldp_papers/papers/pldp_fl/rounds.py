"""PLDP-FL, Algorithm 1: federated averaging in which every client releases its model in its own way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.errors import InputError
from tensorldp.mechanisms.pldp_fl import fedoa_weights
from tensorldp_papers.papers.pldp_fl.clients import (
    Ledger,
    Preference,
    Upload,
    make_upload,
    participant_count,
    preferences,
    release_all,
)
from tensorldp_papers.papers.pldp_fl.settings import PldpCell
from tensorldp_papers.papers.pldp_fl.simulation import ClientSimulation
from tensorldp_papers.progress import track
from tensorldp_papers.run.streams import common_stream

Streams = Callable[[str], torch.Generator]


def selections(clients: int, participation: float, rounds: int, generator: torch.Generator) -> list[list[int]]:
    """Draws the gamma N clients of each round, sorted."""
    count = participant_count(clients, participation)
    return [sorted(torch.randperm(clients, generator=generator)[:count].tolist()) for _ in range(rounds)]


def replay(ledger: Ledger, chosen: Sequence[Sequence[int]]) -> Ledger:
    """Replays the given selections: who uploads depends on them and on budgets, never on data; returns the ledger."""
    for selected in chosen:
        ledger.record([client for client in selected if ledger.may_upload(client)])
    return ledger


def personalised_average(
    simulation: ClientSimulation,
    start: Tensor,
    ledger: Ledger,
    chosen: Sequence[Sequence[int]],
    *,
    order: Streams,
    noise: Streams,
    optimised: bool = False,
    every: int = 1,
    what: str = "training",
) -> tuple[Tensor, list[int]]:
    """Runs the rounds; returns the global weights after some of them, and after which. The ledger is filled in.

    The ledger is empty at first. `order` gives the generators of batches, on the CPU, by a text that names the client
    and the round, so that a client's numbers depend on no other client; `noise` those of the mechanisms, on the
    simulation's device. An `optimised` average has PLU-FedOA's weights instead of equal ones. The weights, (I,), are
    kept on the CPU after every `every` rounds and after the last; rounds count from 1.
    """
    weights, kept, marks = start, [], []
    for index, selected in enumerate(track(chosen, f"{what}: round")):
        clients = [client for client in selected if ledger.may_upload(client)]
        ledger.record(clients)
        if clients:
            batches = {client: order(f"batches of client {client}, round {index}") for client in clients}
            local = simulation.train(weights, clients, batches.__getitem__)
            noises = [noise(f"noise of client {client}, round {index}") for client in clients]
            released = release_all([ledger.uploads[client] for client in clients], weights, local, noises)
            if optimised:
                sizes = [len(simulation.shards[client]) for client in clients]
                shares = fedoa_weights([ledger.nominal[client] for client in clients], sizes)
                weights = torch.tensor(shares, dtype=released.dtype).to(released.device) @ released
            else:
                weights = released.mean(dim=0)
        if (index + 1) % every == 0 or index + 1 == len(chosen):
            kept.append(weights.cpu())
            marks.append(index + 1)
    return torch.stack(kept), marks


def client_preferences(cell: PldpCell) -> list[Preference]:
    """Returns the (tau, epsilon) of every client of the cell; the largest epsilon is the cell's."""
    settings = cell.training
    if cell.factors.centre == "global" and settings.range_centre != 0.0:
        raise InputError(
            f"range_centre of {cell.study} is {settings.range_centre:g} but the factor centre is global: a range "
            "around the weight that the server has sent needs range_centre: 0"
        )
    return preferences(
        settings.client_epsilons or cell.factors.eps,
        settings.client_ranges or cell.factors.tau,
        clients=settings.clients,
        largest=cell.nominal_epsilon,
        centre=settings.range_centre,
    )


def upload_of(cell: PldpCell, preference: Preference, size: int) -> Upload:
    """Returns the way in which a client of the cell uploads a model of `size` weights."""
    return make_upload(
        cell.mechanism,
        preference,
        size=size,
        budget=cell.factors.budget,
        rounds=cell.training.rounds,
        centre=cell.factors.centre,
        clip=cell.training.clip,
        delta=cell.delta,
    )


def new_ledger(cell: PldpCell, size: int) -> Ledger:
    """Makes an empty ledger of the cell's clients for a model of `size` weights."""
    settings = cell.training
    wanted = client_preferences(cell)
    uses = settings.rounds if cell.factors.budget == "run" else 1
    return Ledger(
        [upload_of(cell, preference, size) for preference in wanted],
        nominal=[preference.epsilon for preference in wanted],
        price=[preference.epsilon / uses for preference in wanted],
        on_exhausted=settings.on_exhausted,
        budget=settings.allowance,
    )


def selected(cell: PldpCell, seed: int) -> list[list[int]]:
    """Returns the clients that the server draws in each round."""
    settings = cell.training
    return selections(settings.clients, settings.participation, settings.rounds, common_stream(cell, seed, "selection"))


def largest_curve(cell: PldpCell, size: int) -> tuple[PrivacyCurve, int, int]:
    """Computes the weakest client's curve over the run, of all seeds, with the client's number and uploads.

    Who uploads when depends on the seed and on budgets only, so that no training is needed.
    """
    best: tuple[float, PrivacyCurve, int, int] | None = None
    for seed in cell.seeds:
        ledger = replay(new_ledger(cell, size), selected(cell, seed))
        found = ledger.largest(cell.delta)
        if found is not None and (best is None or found[1] > best[0]):
            curve = ledger.curve(found[0])
            assert curve is not None
            best = (found[1], curve, found[0], int(ledger.counts()[found[0]]))
    if best is None:
        raise InputError(
            f"allowance = {cell.training.allowance:g} of {cell.study} is below every client's epsilon, "
            "so that no client can upload once"
        )
    return best[1:]


def ledger_rows(ledger: Ledger, marks: list[int], delta: float) -> list[dict[str, Any]]:
    """Tabulates the ledger: every client's uploads, epsilon per weight and of its whole model, and their growth."""
    rows: list[dict[str, Any]] = []
    spent = ledger.spent(delta)
    weights, counts = ledger.per_weight(), ledger.counts()
    for client in range(ledger.clients):
        rows.append({"metric": "client_uploads", "client": client, "value": float(counts[client])})
        rows.append({"metric": "client_epsilon", "client": client, "value": spent[client]})
        if math.isfinite(weights[client]):
            rows.append({"metric": "client_per_weight", "client": client, "value": weights[client]})
    for mark in marks:
        now = ledger.spent(delta, mark)
        for word, value in (("least", min(now)), ("median", float(np.median(now))), ("most", max(now))):
            rows.append({"metric": f"spent_{word}_by_round", "round": mark, "value": value})
    return rows
