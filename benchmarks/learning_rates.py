"""Search for the learning rate of a study's private SGD on a held-out fifth of the training records.

    python benchmarks/learning_rates.py --data resources/datasets/adult [--rates 0.5 0.1] [--mechanisms udn mvg]
        [--epsilons 1 10] [--scale desk] [--seeds 0] [--set steps=7631] [--out rates.csv]

TVG names no learning rate. One rate is searched for all mechanisms and epsilons of a data set, as its Table II has one
setup for each; the rate to take is the one with the highest mean accuracy in the last line. Test records have no part.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import yaml

from tensorldp.randomness import generator
from tensorldp_papers.papers.tvg.private_sgd import METHOD
from tensorldp_papers.run.grid import study_cells
from tensorldp_papers.run.records import Records, read_records
from tensorldp_papers.run.settings import parse_settings
from tensorldp_papers.run.study import load_study

ROOT = Path(__file__).resolve().parent.parent
CPU = torch.device("cpu")


def split(records: Records, share: float = 0.2) -> tuple[Records, Records]:
    """The records without a random share of them, and that share."""
    order = torch.randperm(len(records.x), generator=generator("learning rates", records.name))
    cut = round(share * len(order))
    held, used = order[:cut], order[cut:]
    return replace(records, x=records.x[used], y=records.y[used]), replace(
        records, x=records.x[held], y=records.y[held]
    )


def cells(args: argparse.Namespace, dataset: str) -> list[Any]:
    """The cells of the study on the data set, with the settings of the command line."""
    chosen = {
        "scale": args.scale,
        "datasets": {args.study: [dataset]},
        "seeds": args.seeds,
        "training": {args.study: dict(part.split("=") for part in args.set)},
        **({"mechanisms": {args.study: args.mechanisms}} if args.mechanisms else {}),
        **({"epsilons": {args.study: args.epsilons}} if args.epsilons else {}),
    }
    settings = parse_settings({**yaml.safe_load((ROOT / "config.yaml").read_text()), **chosen})
    return study_cells(load_study(ROOT / f"workflow/studies/{args.study}.yaml"), settings)


def main() -> None:
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("--data", type=Path, required=True, help="folder of a prepared data set")
    arg.add_argument("--study", default="tvg_sgd")
    arg.add_argument("--scale", default="desk")
    arg.add_argument("--rates", type=float, nargs="+", default=[0.5, 0.125, 0.03, 0.008])
    arg.add_argument("--mechanisms", nargs="+")
    arg.add_argument("--epsilons", type=float, nargs="+")
    arg.add_argument("--seeds", type=int, nargs="+", default=[0])
    arg.add_argument("--set", nargs="*", default=[], help="training settings, as steps=7631")
    arg.add_argument("--out", type=Path)
    args = arg.parse_args()
    torch.set_num_threads(1)
    used, held = split(read_records(args.data / "train.safetensors"))
    rows = []
    for cell in cells(args, args.data.name):
        for rate in args.rates:
            own = replace(cell, training=cell.training.model_copy(update={"learning_rate": rate}))
            for seed in args.seeds:
                trained = METHOD.train(own, used, seed, CPU)
                score = next(
                    r["value"] for r in METHOD.evaluate(own, held, trained, seed, CPU) if r["metric"] == "accuracy"
                )
                rows.append(
                    {
                        "mechanism": cell.mechanism,
                        "epsilon": cell.epsilon,
                        "rate": rate,
                        "seed": seed,
                        "accuracy": score,
                    }
                )
                print(*rows[-1].values(), own.training.steps, flush=True)
    if args.out:
        with args.out.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    for rate in args.rates:
        mean = sum(row["accuracy"] for row in rows if row["rate"] == rate) / sum(row["rate"] == rate for row in rows)
        print(f"learning rate {rate:g}: mean accuracy {mean:.4f} of {len(rows) // len(args.rates)} runs")


if __name__ == "__main__":
    main()
