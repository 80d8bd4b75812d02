"""PLDP-FL, Algorithm 1: federated averaging in which every client releases its model in its own way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from tensorldp.mechanisms.plu_fedoa import fedoa_weights
from tensorldp_papers.nets.simulation import ClientSimulation
from tensorldp_papers.papers.pldp_fl.ledger import Ledger
from tensorldp_papers.papers.pldp_fl.preferences import participant_count
from tensorldp_papers.run.progress import track

Streams = Callable[[str], torch.Generator]


def selections(clients: int, participation: float, rounds: int, generator: torch.Generator) -> list[list[int]]:
    """The gamma N clients that the server draws in each round, sorted.

    Raises:
        InputError: if participation asks for more participants than there are clients.
    """
    count = participant_count(clients, participation)
    return [sorted(torch.randperm(clients, generator=generator)[:count].tolist()) for _ in range(rounds)]


def replay(ledger: Ledger, chosen: Sequence[Sequence[int]]) -> Ledger:
    """The ledger after the given selections: who uploads depends on them and on budgets, never on data."""
    for selected in chosen:
        ledger.record([client for client in selected if ledger.may_upload(client)])
    return ledger


def inverse_variance(ledger: Ledger, sizes: Sequence[int], clients: Sequence[int]) -> list[float]:
    """PLU-FedOA's weights of these clients."""
    return fedoa_weights([ledger.nominal[c] for c in clients], [sizes[c] for c in clients])


def _batches_of(order: Streams, index: int, client: int) -> torch.Generator:
    return order(f"batches of client {client}, round {index}")


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
    """The global weights after some rounds, and after which; the ledger is filled in.

    Args:
        simulation: the clients' local training.
        start: (I,) the first global weights, on the device of the simulation.
        ledger: of the clients, empty.
        chosen: the server's selection of each round.
        order: generators of batches, on the CPU, by a text that names the client and the round. A client's numbers
            therefore depend on nobody else.
        noise: generators of the mechanisms by such a text, on the simulation's device.
        optimised: average with PLU-FedOA's weights instead of equal ones.
        every: keep the global weights after every so many rounds, and after the last.
        what: what a progress line calls it.

    Returns:
        (kept, I) global weights on the CPU, and the rounds (from 1) after which they stood.
    """
    weights, kept, marks = start, [], []
    sizes = [len(shard) for shard in simulation.shards]
    for index, selected in enumerate(track(chosen, f"{what}: round")):
        clients = [client for client in selected if ledger.may_upload(client)]
        ledger.record(clients)
        if clients:
            local = simulation.train(weights, clients, partial(_batches_of, order, index))
            released = torch.stack(
                [
                    ledger.uploads[client].release(weights, own, noise(f"noise of client {client}, round {index}"))
                    for client, own in zip(clients, local, strict=True)
                ]
            )
            if optimised:
                shares = torch.tensor(inverse_variance(ledger, sizes, clients), dtype=released.dtype)
                weights = shares.to(released.device) @ released
            else:
                weights = released.mean(dim=0)
        if (index + 1) % every == 0 or index + 1 == len(chosen):
            kept.append(weights.cpu())
            marks.append(index + 1)
    return torch.stack(kept), marks
