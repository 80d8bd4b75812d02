"""Search LATENT's Table 1 for the settings of the ANN module, on a held-out fifth of released training records.

    python benchmarks/latent_settings.py --data resources/datasets/mnist [--records 15000] [--epochs 4] [--seed 0]
        [--optimizers adam adadelta sgd] [--activations relu tanh sigmoid] [--widths 128] [--dropouts 0.5]
        [--batches 128] [--rates default 0.0003] [--epsilon 2] [--reading B] [--precision float32]
        [--out settings.csv]

The paper searches on bits without noise, by tenfold cross-validation; here networks learn from the released strings
themselves, and are scored on the held-out records' strings, clean ones and released ones, after each epoch. Test
records have no part.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import yaml
from learning_rates import split

from tensorldp.memory import keep_freed_memory
from tensorldp_papers.papers.latent.method import METHOD
from tensorldp_papers.papers.latent.settings import LatentCell, LatentTraining
from tensorldp_papers.run.grid import study_cells
from tensorldp_papers.run.records import read_records
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import load_study

ROOT = Path(__file__).resolve().parent.parent
CPU = torch.device("cpu")
SCORES = {"clean": "accuracy", "released": "accuracy_perturbed_test"}


def cell_of(dataset: str, reading: str, epsilon: float, precision: str) -> LatentCell:
    """The study's cell of a reading at an epsilon, with its settings at desk scale."""
    chosen = {
        "scale": "desk",
        "datasets": {"latent": [dataset]},
        "mechanisms": {"latent": ["latent"]},
        "factors": {"latent": {"reading": [reading]}},
        "epsilons": {"latent": [epsilon]},
        "seeds": [0],
        "precision": precision,
    }
    settings = parse_settings({**yaml.safe_load((ROOT / "config.yaml").read_text()), **chosen})
    cells: list[Any] = study_cells(load_study(ROOT / "workflow/studies/latent.yaml"), settings)
    return next(cell for cell in cells if not cell.factors.labels)


def combinations(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Settings of the training, one for each combination of the command line's values."""
    names = ("optimizer", "activation", "width", "dropout", "batch_size", "learning_rate")
    rates = [None if rate == "default" else float(rate) for rate in args.rates]
    values = (args.optimizers, args.activations, args.widths, args.dropouts, args.batches, rates)
    for chosen in itertools.product(*values):
        yield dict(zip(names, chosen, strict=True))


def main() -> None:
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("--data", type=Path, required=True, help="folder of a prepared data set")
    arg.add_argument("--records", type=int, help="the first so many alone, default all")
    arg.add_argument("--epochs", type=int, default=4)
    arg.add_argument("--seed", type=int, default=0)
    arg.add_argument("--epsilon", type=float, default=2.0)
    arg.add_argument("--reading", choices="AB", default="B")
    arg.add_argument("--precision", choices=["float32", "bfloat16"], default="float32", help="of the networks")
    arg.add_argument("--optimizers", nargs="+", default=["adam", "adadelta", "sgd"])
    arg.add_argument("--activations", nargs="+", default=["relu", "tanh", "sigmoid"])
    arg.add_argument("--widths", type=int, nargs="+", default=[128])
    arg.add_argument("--dropouts", type=float, nargs="+", default=[0.5])
    arg.add_argument("--batches", type=int, nargs="+", default=[128])
    arg.add_argument("--rates", nargs="+", default=["default"], help="a rate, or default: Keras's of the optimiser")
    arg.add_argument("--out", type=Path)
    args = arg.parse_args()
    keep_freed_memory()
    torch.set_num_threads(1)
    cell = cell_of(args.data.name, args.reading, args.epsilon, args.precision)
    records = read_records(args.data / "train.safetensors")
    used, held = split(replace(records, x=records.x[: args.records], y=records.y[: args.records]))
    released = METHOD.release(cell, used, args.seed, "train", CPU)
    strings = METHOD.release(cell, held, args.seed, "test", CPU)
    rows = []
    for settings in combinations(args):
        training = LatentTraining.model_validate(
            {**cell.training.model_dump(), **settings, "epochs": args.epochs, "checkpoints": args.epochs, "limit": None}
        )
        own = replace(cell, training=training)
        trained = METHOD.train(own, used, released, args.seed, CPU)
        scores = METHOD.evaluate(own, held, trained, strings, args.seed, CPU)
        for name, metric in SCORES.items():
            found = {f"epoch {r['epoch']}": r["value"] for r in scores if r["metric"] == f"{metric}_by_epoch"}
            rows.append({**settings, "strings": name, **found})
            print(*(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    if args.out:
        with args.out.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
