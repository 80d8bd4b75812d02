"""`tensorldp canaries`: trainings with canaries, audited in one run, beside the accountant's upper bound."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import asdict
from functools import partial

import torch
from torch import Tensor, nn

from tensorldp.audit.one_run import one_run_audit
from tensorldp.commands.arguments import Answer, add_json_argument
from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.deltas import NOMINAL_DELTA, REPORT_DELTA
from tensorldp.errors import check_positive, check_real, check_whole
from tensorldp.mechanisms import make
from tensorldp.memory import check_memory
from tensorldp_papers.nets.federated import ParameterRelease
from tensorldp_papers.nets.private_sgd import GradientNoise, fit_private

CLASSES = 2  # of the records, whose labels are random: the least that a classifier takes


def dp_sgd_canaries(
    *, records: int, features: int, lot: int, steps: int, noise_multiplier: float, clip: float
) -> Callable[[Tensor, torch.Generator], Tensor]:
    """Returns DP-SGD's training of a linear classifier on random records, and on canaries with a feature of their own.

    No other record moves a canary's weights, so that they show whether it was there. The lot is drawn at the rate lot /
    (records + canaries) whatever the coins are, as for neighbours that add or remove a record. `noise_multiplier` is
    what the training uses, whatever it claims.
    """

    def train(coins: Tensor, source: torch.Generator) -> Tensor:
        count = len(coins)
        x = torch.cat((torch.randn(records, features, generator=source), torch.zeros(count, features)))
        x = torch.cat((x, torch.zeros(len(x), count)), dim=1)
        x[records:, features:] = 10.0 * torch.eye(count)  # a long gradient, which is clipped to full length
        y = torch.randint(0, CLASSES, (records + count,), generator=source)
        kept = torch.cat((torch.ones(records, dtype=torch.bool), coins))
        model = nn.Linear(features + count, CLASSES, bias=False)
        nn.init.zeros_(model.weight)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Full backward hook")  # of a single layer
            fit_private(
                model,
                x[kept],
                y[kept],
                GradientNoise("l2", clip, (noise_multiplier * clip,), (model.weight.numel(),)),
                lot=max(1, round(lot * int(kept.sum()) / len(kept))),  # the rate of a record does not change
                steps=steps,
                learning_rate=1e-3 * lot / clip,
                generator=source,
                noise=source,
            )
        own = model.weight.detach()[:, features:]
        label = y[records:]
        place = torch.arange(count)
        return own[label, place] - own[1 - label, place]

    return train


def federated_canaries(release: ParameterRelease) -> Callable[[Tensor, torch.Generator], Tensor]:
    """Returns a training whose users upload a corner of the clipped range or the opposite one, by their coins.

    With `release.where` = user the server sees each upload, and a canary's score is how far its releases lie towards
    the first corner. Behind a server only the average is seen: each canary is a user whose own element is at one end,
    so that the release needs an element and a user for each canary.
    """

    def train(coins: Tensor, source: torch.Generator) -> Tensor:
        signs = torch.where(coins, release.clip, -release.clip).float()
        scores = torch.zeros(len(coins))
        for index in range(release.rounds):
            if release.where == "user":
                uploads = signs[:, None].expand(-1, release.size).contiguous()
                seen = torch.stack([release.privatize(upload, index, source).mean() for upload in uploads])
            else:
                uploads = torch.zeros(release.users, release.size)
                place = torch.arange(check_whole("canaries", len(coins), high=min(uploads.shape)))
                uploads[place, place] = signs
                seen = release.privatize(uploads.mean(dim=0), index, source)[: len(coins)]
            scores += seen / seen.std().clamp_min(1e-30)  # a round with less noise than others counts as much
        return scores

    return train


FEATURES = 8  # of an ordinary record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    both = argparse.ArgumentParser(add_help=False)
    both.add_argument("--canaries", type=int, default=500, help="how many, each in or out by a coin (default: 500)")
    both.add_argument("--delta", type=float, default=REPORT_DELTA, help="delta of both bounds (default: 1e-5)")
    both.add_argument("--confidence", type=float, default=0.95, help="confidence of the lower bound (default: 0.95)")
    both.add_argument("--seed", type=int, default=0)
    add_json_argument(both)
    both.add_argument("--clip", type=float, default=1.0, help="clipping of gradients or parameters (default: 1)")
    trainings = parser.add_subparsers(dest="training", required=True, metavar="training")
    sgd = trainings.add_parser("dp-sgd", parents=[both], help="a linear classifier by DP-SGD", epilog=parser.epilog)
    sgd.add_argument("--noise-multiplier", type=float, default=4.0, help="what the accountant is told (default: 4)")
    sgd.add_argument("--true-noise", type=float, help="what the training uses (default: the same); 0 forgets the noise")
    sgd.add_argument("--records", type=int, default=500, help="records beside the canaries (default: 500)")
    sgd.add_argument("--lot", type=int, default=500, help="expected lot size (default: 500)")
    sgd.add_argument("--steps", type=int, default=40, help="(default: 40)")
    fed = trainings.add_parser("federated", parents=[both], help="users' uploads, perturbed", epilog=parser.epilog)
    fed.add_argument("--mechanism", default="laplace", help="a mechanism's key (default: laplace)")
    fed.add_argument("--epsilon", type=float, default=1.0, help="its nominal epsilon in a round (default: 1)")
    fed.add_argument("--rounds", type=int, default=2, help="(default: 2)")
    fed.add_argument("--parameters", type=int, default=16, help="parameters of a user's model (default: 16)")


def run(options: argparse.Namespace) -> Answer:
    """Says both bounds; the training's guarantee is refuted where the lower one is larger."""
    clip = check_positive("clip", options.clip)
    canaries = check_whole("canaries", options.canaries, low=10)
    audit = partial(
        one_run_audit,
        canaries=canaries,
        delta=options.delta,
        confidence=options.confidence,
        seed=options.seed,
    )
    if options.training == "dp-sgd":
        records = check_whole("records", options.records, low=1)
        check_memory("a training", (records + canaries) * (FEATURES + canaries), 16)
        lot = check_whole("lot", options.lot, low=1, high=records + canaries)
        curve = DpSgdCurve(options.noise_multiplier, lot / (records + canaries), options.steps)
        noise = options.noise_multiplier if options.true_noise is None else options.true_noise
        train = dp_sgd_canaries(
            records=records,
            features=FEATURES,
            lot=lot,
            steps=options.steps,
            noise_multiplier=check_real("noise_multiplier", noise, low=0.0),
            clip=clip,
        )
        found = audit(train, curve)
        what = f"DP-SGD, {curve.unit_note}"
    else:
        size = check_whole("parameters", options.parameters, low=1)
        check_memory("a run", canaries * size, 16)
        release = ParameterRelease(
            lambda domain, **extra: make(
                options.mechanism, **{"epsilon": options.epsilon, "delta": NOMINAL_DELTA, "domain": domain, **extra}
            ),
            options.mechanism,
            epsilon=options.epsilon,
            delta=NOMINAL_DELTA,
            shapes=[(size,)],
            layers=[size],
            clip=clip,
            users=canaries,
            where="user",
            rounds=check_whole("rounds", options.rounds, low=1),
        )
        found = audit(federated_canaries(release), release.run_curve())
        what = "federated, neighbours replace all uploads of one user, and all rounds of the run are composed"
    return Answer(f"{what}\n{found}", {"training": what, **asdict(found)}, found.refuted)
