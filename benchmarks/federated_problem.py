"""The problem that benchmarks/federated.py gives every competitor, and the clock that times them."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

import psutil
import torch
from torch import Tensor, nn

from tensorldp_papers.nets import Task, build
from tensorldp_papers.papers.pldp_fl.rounds import selections

CLIENTS, SHARE, EPOCHS, BATCH, RATE = 100, 0.7, 5, 20, 0.01


class Clock:
    """Wall-clock seconds, and processor seconds of this process and all that it started, since it was made."""

    def __init__(self) -> None:
        self.began = self._now()

    def _now(self) -> tuple[float, float]:
        family = [psutil.Process(), *psutil.Process().children(recursive=True)]
        cpu = 0.0
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                cpu += sum(process.cpu_times()[:2])
        return time.perf_counter(), cpu

    def read(self) -> tuple[float, float]:
        """Both since the start; read while child processes live."""
        wall, cpu = self._now()
        return wall - self.began[0], cpu - self.began[1]


Result = tuple[tuple[float, float], Tensor]  # seconds (wall-clock, processor) of all rounds, the final weights


@dataclass(frozen=True)
class Problem:
    """Records of each client, the same for every competitor."""

    records: int
    rounds: int

    def data(self) -> tuple[Tensor, Tensor]:
        """Random images and labels of all clients."""
        source = torch.Generator().manual_seed(0)
        count = CLIENTS * self.records
        return torch.randn(count, 1, 28, 28, generator=source), torch.randint(0, 10, (count,), generator=source)

    def shards(self) -> list[Tensor]:
        """Record indices of each client."""
        return list(torch.arange(CLIENTS * self.records).split(self.records))

    def chosen(self) -> list[list[int]]:
        """The clients of each round."""
        return selections(CLIENTS, SHARE, self.rounds, torch.Generator().manual_seed(1))

    @property
    def steps(self) -> int:
        """Steps of SGD of all rounds."""
        return self.rounds * round(SHARE * CLIENTS) * EPOCHS * -(-self.records // BATCH)


def new_model() -> nn.Module:
    """PLDP-FL's CNN with fixed weights."""
    return build("pldp_cnn", Task((28, 28), 10), torch.Generator().manual_seed(2))


def order(client: int) -> torch.Generator:
    """A client's batches."""
    return torch.Generator().manual_seed(1000 + client)


def train_plainly(model: nn.Module, x: Tensor, y: Tensor, shard: Tensor, client: int) -> None:
    """One client's local training as a tutorial writes it."""
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    source = order(client)
    for _ in range(EPOCHS):
        for batch in shard[torch.randperm(len(shard), generator=source)].split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
