"""Client-steps per second of PLDP-FL's setting, with peers: python benchmarks/federated.py [--rounds N] [--records N]

One run measures ours, a plain PyTorch loop over clients, Flower's simulation (`pip install "flwr[simulation]"`) and
pfl-research (`pip install pfl`), whichever are installed: PLDP-FL's CNN of 21,840 weights, 100 clients, 70 in a round,
E = 5, B = 20, SGD with a rate of 0.01, random images of 28 x 28. First one client after the other on one thread (the
arithmetic), then whole rounds end to end on all cores, start-up told apart; the last lines compare the latter in
wall-clock seconds (--end-to-end runs no others). On a machine with other work wall-clock seconds mean little: processor
seconds of all processes stand beside them.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("RAY_DEDUP_LOGS", "0")

import numpy as np
import torch
from federated_problem import (
    BATCH,
    CLIENTS,
    EPOCHS,
    RATE,
    SHARE,
    Clock,
    Problem,
    Result,
    new_model,
    order,
    train_plainly,
)
from torch import nn

from tensorldp_papers.nets.federated import get_vector, set_vector
from tensorldp_papers.nets.simulation import ClientSimulation


def ours(problem: Problem, threads: int, strategy: str = "auto", device: str = "cpu") -> Result:
    """Our simulation: seconds of all rounds, and the final weights."""
    x, y = problem.data()
    model = new_model()
    simulation = ClientSimulation(
        model.to(device),
        x.to(device),
        y.to(device),
        problem.shards(),
        epochs=EPOCHS,
        batch_size=BATCH,
        learning_rate=RATE,
        threads=threads,
        strategy=strategy,
    )
    weights = get_vector(model)
    start = Clock()
    for clients in problem.chosen():
        weights = simulation.train(weights, clients, order).mean(dim=0)
    if device != "cpu":
        torch.cuda.synchronize()
    return start.read(), weights.cpu()


def plain(problem: Problem) -> Result:
    """nn.Module, DataLoader-free, torch.optim.SGD, one client after the other."""
    x, y = problem.data()
    shards, model = problem.shards(), new_model()
    weights = get_vector(model)
    start = Clock()
    for clients in problem.chosen():
        local = []
        for client in clients:
            set_vector(model, weights)
            train_plainly(model, x, y, shards[client], client)
            local.append(get_vector(model))
        weights = torch.stack(local).mean(dim=0)
    return start.read(), weights


_WORKER: dict[str, object] = {}


def _start_worker(problem: Problem) -> None:
    torch.set_num_threads(1)
    x, y = problem.data()
    _WORKER.update(x=x, y=y, shards=problem.shards(), model=new_model())


def _work(task: tuple[np.ndarray, list[int]]) -> np.ndarray:
    weights, clients = task
    model = _WORKER["model"]
    total: Any = 0.0
    for client in clients:
        set_vector(model, torch.from_numpy(weights))  # type: ignore[arg-type]
        train_plainly(model, _WORKER["x"], _WORKER["y"], _WORKER["shards"][client], client)  # type: ignore
        total = total + get_vector(model)  # type: ignore[arg-type]
    return total.numpy()  # type: ignore[no-any-return]


def plain_processes(problem: Problem, workers: int) -> Result:
    """The plain loop with its clients dealt to processes."""
    weights = get_vector(new_model()).numpy()
    with ProcessPoolExecutor(workers, initializer=_start_worker, initargs=(problem,)) as pool:
        list(pool.map(abs, range(workers)))  # start them all
        start = Clock()
        for clients in problem.chosen():
            tasks = [(weights, clients[i::workers]) for i in range(workers)]
            weights = sum(pool.map(_work, tasks)) / len(clients)  # type: ignore[assignment]
        return start.read(), torch.from_numpy(weights)


def flower(problem: Problem, workers: int) -> Result:
    """Flower's simulation engine: a Ray worker for each core, FedAvg, no evaluation."""
    import logging

    import flwr
    from flwr.common import ndarrays_to_parameters, parameters_to_ndarrays

    logging.getLogger("flwr").setLevel(logging.ERROR)
    folder = tempfile.mkdtemp()
    images, labels = f"{folder}/x.npy", f"{folder}/y.npy"
    for path, tensor in zip((images, labels), problem.data(), strict=True):
        np.save(path, tensor.numpy())  # a client maps its own records: sending all with every task would be unfair
    records = problem.records
    finished: list[Result] = []

    class Client(flwr.client.NumPyClient):
        def __init__(self, client: int) -> None:
            self.client = client

        def fit(self, parameters, config):  # type: ignore[no-untyped-def]
            torch.set_num_threads(1)
            own = slice(self.client * records, (self.client + 1) * records)
            x, y = (torch.from_numpy(np.load(path, mmap_mode="r")[own].copy()) for path in (images, labels))
            model = new_model()
            state = OrderedDict(
                (k, torch.from_numpy(v.copy())) for k, v in zip(model.state_dict(), parameters, strict=True)
            )
            model.load_state_dict(state)
            train_plainly(model, x, y, torch.arange(records), self.client)
            return [v.numpy() for v in model.state_dict().values()], records, {}

    class Timed(flwr.server.strategy.FedAvg):
        def aggregate_fit(self, server_round, results, failures):  # type: ignore[no-untyped-def]
            if failures:
                raise RuntimeError(f"Flower's clients failed: {failures[0]}")
            found = super().aggregate_fit(server_round, results, failures)
            arrays = parameters_to_ndarrays(found[0])
            finished.append((started[0].read(), torch.cat([torch.from_numpy(a).reshape(-1) for a in arrays])))
            return found

    started: list[Clock] = []

    def first(server_round: int) -> dict[str, float]:
        started.append(Clock())
        return {}

    strategy = Timed(
        fraction_fit=SHARE,
        fraction_evaluate=0.0,
        min_available_clients=CLIENTS,
        on_fit_config_fn=first,
        initial_parameters=ndarrays_to_parameters([v.numpy() for v in new_model().state_dict().values()]),
    )
    flwr.simulation.start_simulation(
        client_fn=lambda context: Client(int(context.node_config["partition-id"])).to_client(),
        num_clients=CLIENTS,
        config=flwr.server.ServerConfig(num_rounds=problem.rounds),
        strategy=strategy,
        client_resources={"num_cpus": 1, "num_gpus": 0.0},
        ray_init_args={"num_cpus": workers, "include_dashboard": False, "log_to_driver": False},
    )
    return finished[-1]


def pfl_research(problem: Problem) -> Result:
    """pfl-research's FederatedAveraging on its simulated backend, one process."""
    from pfl.aggregate.simulate import SimulatedBackend
    from pfl.algorithm import FederatedAveraging, NNAlgorithmParams
    from pfl.callback.base import TrainingProcessCallback
    from pfl.data.dataset import Dataset
    from pfl.data.federated_dataset import FederatedDataset
    from pfl.data.sampling import get_user_sampler
    from pfl.hyperparam import NNTrainHyperParams
    from pfl.metrics import Weighted
    from pfl.model.pytorch import PyTorchModel

    x, y = problem.data()
    shards = problem.shards()

    class Trainable(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = new_model()

        def loss(self, inputs, targets, eval: bool = False):  # type: ignore[no-untyped-def]
            self.train(not eval)
            return nn.functional.cross_entropy(self.net(inputs), targets)

        @torch.no_grad()
        def metrics(self, inputs, targets, eval: bool = True):  # type: ignore[no-untyped-def]
            return {"loss": Weighted(0.0, len(targets))}

    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 - its samplers use the global generator
    net = Trainable()
    model = PyTorchModel(
        model=net, local_optimizer_create=torch.optim.SGD, central_optimizer=torch.optim.SGD(net.parameters(), lr=1.0)
    )
    users = FederatedDataset(
        lambda user: Dataset([x[shards[user]], y[shards[user]]], user_id=str(user)),
        get_user_sampler("random", list(range(CLIENTS))),
    )
    stamps: list[Clock] = []

    class Stamp(TrainingProcessCallback):
        def on_train_begin(self, *, model):  # type: ignore[no-untyped-def]
            stamps.append(Clock())
            from pfl.metrics import Metrics

            return Metrics()

    backend = SimulatedBackend(training_data=users, val_data=None)
    FederatedAveraging().run(
        NNAlgorithmParams(
            central_num_iterations=problem.rounds,
            evaluation_frequency=10**6,
            train_cohort_size=round(SHARE * CLIENTS),
            val_cohort_size=0,
        ),
        backend,
        model,
        NNTrainHyperParams(local_num_epochs=EPOCHS, local_learning_rate=RATE, local_batch_size=BATCH),
        None,
        callbacks=[Stamp()],
    )
    return stamps[0].read(), get_vector(net)


def installed(name: str) -> bool:
    """Whether a module can be imported."""
    return importlib.util.find_spec(name) is not None


def compare(seconds: dict[str, tuple[float, float]], mine: str, rounds: int) -> None:
    """What the others that use all workers take beside ours, without and with start-up; a missing one is told."""
    print(f"\nend to end over {rounds} rounds, wall-clock:")
    for peer in ("plain loop,", "Flower,", "ours, GPU"):
        found = [name for name in seconds if name.startswith(peer) and "1 thread" not in name]
        if not found or mine not in seconds:
            print(f"  {peer.rstrip(',')}: not measured")
            continue
        (own, own_whole), (other, other_whole) = seconds[mine], seconds[found[0]]
        print(f"  {found[0]}: {other / own:.2f} times as long as {mine}; with start-up {other_whole / own_whole:.2f}")


def main() -> None:
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("--rounds", type=int, default=10)
    arg.add_argument("--records", type=int, default=60, help="of each client; MNIST's share is 600")
    arg.add_argument("--workers", type=int, default=os.cpu_count())
    arg.add_argument("--end-to-end", action="store_true", help="only what uses all workers, and a GPU")
    arg.add_argument("--only", nargs="*", default=None, help="competitors to run, by part of their names")
    args = arg.parse_args()
    torch.set_num_threads(1)
    problem, workers = Problem(args.records, args.rounds), args.workers
    runs: list[tuple[str, Callable[[], Result]]] = [
        ("ours, 1 thread", lambda: ours(problem, 1)),
        ("ours, vmap, 1 thread", lambda: ours(problem, 1, "batched")),
        ("plain loop, 1 thread", lambda: plain(problem)),
        (f"ours, {workers} threads", lambda: ours(problem, workers)),
        (f"plain loop, {workers} processes", lambda: plain_processes(problem, workers)),
    ]
    if torch.cuda.is_available():
        runs.append(("ours, GPU", lambda: ours(problem, 1, device="cuda")))
    if installed("pfl"):
        runs.append(("pfl-research, 1 process", lambda: pfl_research(problem)))
    if installed("flwr") and installed("ray"):
        runs.append((f"Flower, {workers} workers", lambda: flower(problem, workers)))
    missing = [name for name, module in (("Flower", "flwr"), ("pfl-research", "pfl")) if not installed(module)]
    print(
        f"{args.rounds} rounds of 70 clients with {args.records} images: {problem.steps} steps of {BATCH} images; "
        f"torch {torch.__version__}, {os.cpu_count()} cores; not installed: {', '.join(missing) or 'none'}\n"
    )
    print(
        f"{'':28} {'seconds':>8} {'with start-up':>14} {'steps/s':>8} {'cpu s':>8} {'cpu ms/step':>12} "
        f"{'distance to plain':>18}"
    )
    reference = None
    whole_rounds: dict[str, tuple[float, float]] = {}
    for name, run in runs:
        if args.end_to_end and name.split(", ")[-1] in ("1 thread", "1 process"):
            continue
        if args.only is not None and not any(word in name for word in args.only):
            continue
        begin = time.perf_counter()
        (seconds, cpu), weights = run()
        whole = time.perf_counter() - begin
        whole_rounds[name] = seconds, whole
        reference = weights if name.startswith("plain loop") and reference is None else reference
        far = "" if reference is None else f"{float((weights - reference).abs().max()):.1e}"
        print(
            f"{name:28} {seconds:8.2f} {whole:14.2f} {problem.steps / seconds:8.0f} {cpu:8.2f} "
            f"{1e3 * cpu / problem.steps:12.2f} {far:>18}",
            flush=True,
        )
    compare(whole_rounds, f"ours, {workers} threads", args.rounds)


if __name__ == "__main__":
    main()
