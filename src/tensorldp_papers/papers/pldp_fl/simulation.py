"""Local training of many clients of federated averaging [mcmahan2017]: one batched computation, or a loop.

All ways give the weights that a plain loop with nn.Module and torch.optim.SGD gives, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.nets.compiled.loop import CompiledLoop, flat_layers
from tensorldp_papers.nets.computing import channels_last, flushing_denormals

Network = Callable[[Sequence[Tensor], Tensor], Tensor]
"""Of all parameters and an input: a whole model, or one of its layers."""


def _layer(module: nn.Module, first: int) -> tuple[Network, int] | None:
    """Returns a layer as a function of all parameters and its input, and how many it takes from `first` on."""
    if isinstance(module, nn.Conv2d) and module.bias is not None and module.padding_mode == "zeros":
        stride, padding, dilation, groups = module.stride, module.padding, module.dilation, module.groups
        return lambda p, x: F.conv2d(x, p[first], p[first + 1], stride, padding, dilation, groups), 2
    if isinstance(module, nn.Linear) and module.bias is not None:
        return lambda p, x: F.linear(x, p[first], p[first + 1]), 2
    if isinstance(module, nn.MaxPool2d):
        size, step, margin = module.kernel_size, module.stride, module.padding
        return lambda p, x: F.max_pool2d(x, size, step, margin), 0
    if isinstance(module, nn.ReLU):
        return lambda p, x: F.relu(x), 0
    if isinstance(module, nn.Flatten) and module.start_dim == 1 and module.end_dim == -1:
        return lambda p, x: x.flatten(1), 0
    return None


def functional(model: nn.Module) -> Network:
    """Makes network(parameters, x): a nested Sequential with other parameters, in the order of `model.parameters()`.

    Layers whose state clients cannot share, such as dropout and batch-norm, are refused.
    """
    layers: list[Network] = []
    first = 0
    for module in flat_layers(model):
        made = _layer(module, first)
        if made is None:
            raise InputError(
                f"clients cannot be simulated with a layer {type(module).__name__}: models of Conv2d, "
                "Linear, MaxPool2d, ReLU and Flatten can, such as pldp_cnn, mlp, linear and small_cnn"
            )
        layers.append(made[0])
        first += made[1]

    def network(parameters: Sequence[Tensor], x: Tensor) -> Tensor:
        for layer in layers:
            x = layer(parameters, x)
        return x

    return network


def activations(model: nn.Module, sample: Tensor) -> int:
    """Counts the elements of all layers' outputs for one record, `sample` with a batch axis of 1."""
    total, x = 0, sample
    with torch.no_grad():
        for module in flat_layers(model):
            x = module(x)
            total += x.numel()
    return total


def deal(
    y: Tensor, clients: int, generator: torch.Generator, *, split: str = "iid", alpha: float = 0.5
) -> list[Tensor]:
    """Deals record indices to every client.

    `iid` deals equally at random (the first clients one more), as PLDP-FL does; `dirichlet` divides each class in
    proportions Dir(alpha), up to a hundred times until no client is empty: the smaller alpha, the less even.
    """
    if split == "iid":
        shards = list(torch.randperm(len(y), generator=generator).tensor_split(clients))
    else:
        for _ in range(100):
            shards = _dirichlet(y, clients, generator, alpha)
            if min(len(shard) for shard in shards):
                break
    for client, shard in enumerate(shards):
        if len(shard) == 0:
            raise InputError(
                f"client {client} of {len(shards)} has no data: use fewer clients, more records or a more even split"
            )
    return shards


def _dirichlet_shares(clients: int, alpha: float, generator: torch.Generator) -> Tensor:
    """Draws from Dir(alpha), in logs: at a small alpha the gamma variates that are divided would all be 0."""
    grown = torch._standard_gamma(torch.full((clients,), alpha + 1.0, dtype=torch.float64), generator)
    chance = 1.0 - torch.rand(clients, dtype=torch.float64, generator=generator)  # in (0, 1]
    return torch.softmax(grown.log() + chance.log() / alpha, dim=0)  # Gamma(alpha) = Gamma(alpha + 1) U^(1 / alpha)


def _dirichlet(y: Tensor, clients: int, generator: torch.Generator, alpha: float) -> list[Tensor]:
    parts: list[list[Tensor]] = [[] for _ in range(clients)]
    for label in y.unique().tolist():
        members = (y == label).nonzero().squeeze(1)
        members = members[torch.randperm(len(members), generator=generator)]
        shares = _dirichlet_shares(clients, alpha, generator)
        ends = (shares.cumsum(0)[:-1] * len(members)).round().long()
        for part, piece in zip(parts, members.tensor_split(ends), strict=True):
            part.append(piece)
    return [torch.cat(part).sort().values for part in parts]


COPIES = 8  # an activation, its gradient, and what vmap lays out anew on the way


class ClientSimulation:
    """Every client's local training: SGD on cross-entropy, from given global weights, on its own records.

    Which way is taken depends only on the device and the model (`auto`): on a GPU all clients are one batched
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
        self.network = functional(model)
        self.shapes = [tuple(p.shape) for p in model.parameters()]
        self.sizes = [p.numel() for p in model.parameters()]
        self.size = sum(self.sizes)
        self.x, self.y, self.shards = x, y, [shard.cpu() for shard in shards]
        self.epochs, self.batch_size, self.learning_rate = epochs, batch_size, learning_rate
        self.threads = threads
        convolves = any(isinstance(module, nn.Conv2d) for module in model.modules())
        batched = strategy == "batched" or (strategy == "auto" and (x.device.type != "cpu" or not convolves))
        self.strategy = "batched" if batched else "loop"
        self.compiled: CompiledLoop | None = None
        if compiled and strategy == "auto" and x.device.type == "cpu":
            self.strategy, self.compiled = "loop", CompiledLoop(model, x, y, learning_rate=learning_rate)
        sample = torch.zeros((1, *x.shape[1:]), dtype=x.dtype, device=next(model.parameters()).device)
        per_client = 4 * (4 * self.size + COPIES * self.batch_size * activations(model, sample))
        self.chunk = max(1, int(memory_mb * 2**20 / per_client))

    def train(self, start: Tensor, clients: Sequence[int], order: Callable[[int], torch.Generator]) -> Tensor:
        """Trains each given client locally and returns their weights, (clients, I).

        A client's result depends only on its own records and generator, not on who else is trained with it. `start`
        holds the global weights, (I,), and `order` gives a CPU generator of a client's batches in this round.
        """
        batches = [self._batches(client, order(client)) for client in clients]
        out = torch.empty((len(batches), self.size), dtype=start.dtype, device=start.device)
        if self.strategy == "batched":
            # clients with equally many steps together: none waits for another
            ranked = sorted(range(len(batches)), key=lambda i: -len(batches[i]))
            for first in range(0, len(ranked), self.chunk):
                places = ranked[first : first + self.chunk]
                with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
                    out[places] = self._train_together(start, [batches[i] for i in places])
        elif self.compiled is not None:
            parts = self.compiled.sgd(self._split(start), batches, self.threads)
            torch.cat([part.flatten(1) for part in parts], dim=1, out=out)
        elif self.threads == 1:
            for i, plan in enumerate(batches):
                out[i] = self._train_alone(start, plan)
        else:
            with ThreadPoolExecutor(self.threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                for i, weights in enumerate(pool.map(lambda plan: self._train_alone(start, plan), batches)):
                    out[i] = weights
        return out

    def _batches(self, client: int, generator: torch.Generator) -> Tensor:
        """Draws a round's record indices, (steps, B), in a fresh order each epoch; -1 fills an epoch's last batch."""
        shard = self.shards[client]
        orders = [torch.randperm(len(shard), generator=generator) for _ in range(self.epochs)]
        plan = shard[torch.stack(orders)]
        if missing := -len(shard) % self.batch_size:
            plan = F.pad(plan, (0, missing), value=-1)
        return plan.reshape(-1, self.batch_size)

    def _split(self, vectors: Tensor) -> list[Tensor]:
        """Splits (..., I) into the parameters' tensors, with the same leading axes."""
        parts = vectors.split(self.sizes, dim=-1)
        return [part.reshape(*vectors.shape[:-1], *shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def _train_alone(self, start: Tensor, plan: Tensor) -> Tensor:
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
        """Trains (clients, I) for clients sorted by falling numbers of steps."""
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
