"""Local training of many clients of federated averaging [mcmahan2017]: one batched computation, or a loop.

All ways give the weights that a plain loop with nn.Module and torch.optim.SGD gives, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tensorldp.errors import InputError, check_positive, check_whole, unknown
from tensorldp_papers.nets.compiled.loop import CompiledLoop
from tensorldp_papers.nets.computing import channels_last, flushing_denormals
from tensorldp_papers.nets.functional import activations, convolves, functional
from tensorldp_papers.nets.shards import check_shards

Strategy = Literal["auto", "loop", "batched"]
STRATEGIES = ("auto", "loop", "batched")
COPIES = 8  # an activation, its gradient, and what vmap lays out anew on the way


class ClientSimulation:
    """Every client's local training: SGD on cross-entropy, from given global weights, on its own records.

    Which way is taken depends on the device and the model alone (`auto`): on a GPU all clients are one batched
    computation; on a CPU they follow each other in the loop in C++ if it is allowed. Without it, a convolution is bound
    by arithmetic, so that clients follow each other with the least overhead per step, while small dense layers are
    bound by overhead and are batched.

    Args:
        model: a network that `functional` takes; its weights do not matter.
        x: (records, ...) inputs; y: (records,) class indices; both on the device of the computation.
        shards: record indices of each client.
        epochs, batch_size, learning_rate: E, B and eta of PLDP-FL, Algorithm 1; an epoch's last batch may be smaller.
        strategy: `auto`, `loop` or `batched`.
        memory_mb: what the batched computation may take at once; clients are simulated in chunks that fit.
        threads: how many clients of a loop run at the same time, each on one thread.
        compiled: whether `auto` may be the loop in C++.

    Raises:
        InputError: if an argument is out of range, a client has no data, or the model has a layer of another kind.
    """

    def __init__(
        self,
        model: nn.Module,
        x: Tensor,
        y: Tensor,
        shards: Sequence[Tensor],
        *,
        epochs: int,
        batch_size: int,
        learning_rate: float,
        strategy: str = "auto",
        memory_mb: float = 1024.0,
        threads: int = 1,
        compiled: bool = False,
    ) -> None:
        if strategy not in STRATEGIES:
            raise unknown("strategy", strategy, STRATEGIES)
        if len(x) != len(y):
            raise InputError(f"clients need as many labels as records, got {len(x)} and {len(y)}")
        check_shards(shards)
        self.network = functional(model)
        self.shapes = [tuple(p.shape) for p in model.parameters()]
        self.sizes = [p.numel() for p in model.parameters()]
        self.size = sum(self.sizes)
        self.x, self.y, self.shards = x, y, [shard.cpu() for shard in shards]
        self.epochs = check_whole("epochs", epochs, low=1)
        self.batch_size = check_whole("batch_size", batch_size, low=1)
        self.learning_rate = check_positive("learning_rate", learning_rate)
        self.threads = check_whole("threads", threads, low=1)
        batched = strategy == "batched" or (strategy == "auto" and (x.device.type != "cpu" or not convolves(model)))
        self.strategy = "batched" if batched else "loop"
        self.compiled: CompiledLoop | None = None
        if compiled and strategy == "auto" and x.device.type == "cpu":
            self.strategy, self.compiled = "loop", CompiledLoop(model, x, y, learning_rate=learning_rate)
        sample = torch.zeros((1, *x.shape[1:]), dtype=x.dtype, device=next(model.parameters()).device)
        per_client = 4 * (4 * self.size + COPIES * self.batch_size * activations(model, sample))
        self.chunk = max(1, int(check_positive("memory_mb", memory_mb) * 2**20 / per_client))

    def train(self, start: Tensor, clients: Sequence[int], order: Callable[[int], torch.Generator]) -> Tensor:
        """The weights of each given client after its local training, (clients, I).

        A client's result depends on its own records and generator alone, not on who else is trained with it.

        Args:
            start: (I,) the global weights, in the order of the model's parameters.
            clients: their indices.
            order: a CPU generator of a client's batches in this round.
        """
        if start.shape != (self.size,):
            raise InputError(f"the global weights must have shape ({self.size},), got {tuple(start.shape)}")
        batches = [self._batches(client, order(client)) for client in clients]
        out = torch.empty((len(batches), self.size), dtype=start.dtype, device=start.device)
        if self.strategy == "batched":
            # clients with as many steps together: none waits for another
            ranked = sorted(range(len(batches)), key=lambda i: -len(batches[i]))
            for first in range(0, len(ranked), self.chunk):
                places = ranked[first : first + self.chunk]
                with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
                    out[places] = self._train_together(start, [batches[i] for i in places])
        elif self.threads == 1:
            for i, plan in enumerate(batches):
                out[i] = self._train_alone(start, plan)
        else:
            with ThreadPoolExecutor(self.threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                for i, weights in enumerate(pool.map(lambda plan: self._train_alone(start, plan), batches)):
                    out[i] = weights
        return out

    def steps(self, clients: Sequence[int]) -> int:
        """How many steps of SGD the given clients take in one round."""
        return sum(self.epochs * -(-len(self.shards[client]) // self.batch_size) for client in clients)

    def _batches(self, client: int, generator: torch.Generator) -> Tensor:
        """(steps, B) record indices of one round, in a fresh order each epoch; -1 fills an epoch's last batch up."""
        shard = self.shards[client]
        count = -(-len(shard) // self.batch_size)
        plan = torch.full((self.epochs, count * self.batch_size), -1, dtype=torch.int64)
        for epoch in range(self.epochs):
            plan[epoch, : len(shard)] = shard[torch.randperm(len(shard), generator=generator)]
        return plan.reshape(self.epochs * count, self.batch_size)

    def _split(self, vectors: Tensor) -> list[Tensor]:
        """(..., I) as the parameters' tensors, with the same leading axes."""
        parts = vectors.split(self.sizes, dim=-1)
        return [part.reshape(*vectors.shape[:-1], *shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def _train_alone(self, start: Tensor, plan: Tensor) -> Tensor:
        if self.compiled is not None:
            return torch.cat([part.reshape(-1) for part in self.compiled.sgd(self._split(start), plan)])
        weights = [part.clone().requires_grad_() for part in self._split(start)]
        ends = (plan >= 0).sum(dim=1).tolist()
        plan = plan.to(self.x.device)
        with flushing_denormals():
            for batch, end in zip(plan, ends, strict=True):
                records = batch[:end]
                loss = F.cross_entropy(self.network(weights, channels_last(self.x[records])), self.y[records])
                gradients = torch.autograd.grad(loss, weights)
                with torch.no_grad():
                    torch._foreach_add_(weights, gradients, alpha=-self.learning_rate)
        return torch.cat([part.detach().reshape(-1) for part in weights])

    def _train_together(self, start: Tensor, plans: list[Tensor]) -> Tensor:
        """(clients, I) for clients sorted by falling numbers of steps."""
        steps = [len(plan) for plan in plans]
        table = torch.full((len(plans), steps[0], self.batch_size), -1, dtype=torch.int64)
        for row, plan in zip(table, plans, strict=True):
            row[: len(plan)] = plan
        table = table.to(self.x.device)
        weights = [
            part.clone(memory_format=torch.contiguous_format) for part in self._split(start.expand(len(plans), -1))
        ]

        def loss(parameters: list[Tensor], x: Tensor, y: Tensor, there: Tensor) -> Tensor:
            each = F.cross_entropy(self.network(parameters, x), y, reduction="none")
            return (each * there).sum() / there.sum()

        gradient = torch.func.vmap(torch.func.grad(loss))
        for step in range(steps[0]):
            active = sum(count > step for count in steps)
            batch = table[:active, step]
            there = (batch >= 0).to(self.x.dtype)
            records = batch.clamp_min(0)
            now = [part[:active] for part in weights]
            gradients = gradient(now, self.x[records], self.y[records], there)
            torch._foreach_add_(now, list(gradients), alpha=-self.learning_rate)
        return torch.cat([part.reshape(len(plans), -1) for part in weights], dim=1)
