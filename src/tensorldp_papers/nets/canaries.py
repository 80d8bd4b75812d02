"""Trainings with canaries, for an audit in one run: DP-SGD on records, and federated releases of users' parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn

from tensorldp.errors import check_whole
from tensorldp_papers.nets.dp_sgd import fit_dp_sgd
from tensorldp_papers.nets.release import ParameterRelease

CLASSES = 2


def dp_sgd_canaries(
    *, records: int, features: int, lot: int, steps: int, noise_multiplier: float, clip: float
) -> Callable[[Tensor, torch.Generator], Tensor]:
    """A linear classifier trained by `fit_dp_sgd` on random records, and on canaries that have a feature of their own.

    No other record moves a canary's weights, so that they show whether it was there. The lot is drawn at the rate lot /
    (records + canaries) whatever the coins are, as for neighbours that add or remove a record.

    Args:
        records: ordinary records beside the canaries.
        features: of an ordinary record.
        lot: expected lot size if all canaries are in.
        steps: of the training.
        noise_multiplier: that the training uses, whatever it claims.
        clip: of an example's gradient.

    Raises:
        InputError: if a number is out of range.
    """
    records, features = check_whole("records", records, low=1), check_whole("features", features, low=1)

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
            fit_dp_sgd(
                model,
                x[kept],
                y[kept],
                lot=max(1, round(lot * int(kept.sum()) / len(kept))),  # the rate of a record does not change
                steps=steps,
                noise_multiplier=noise_multiplier,
                clip=clip,
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
    """Users who upload one corner of the clipped range or the opposite one, by their coins, in every round.

    With `release.where` = user the server sees each upload, and a canary's score is how far its releases lie to the
    first corner. Behind a server only the average is seen: each canary is a user whose own element is at one end.

    Args:
        release: the mechanism, the rounds and where the noise is added; behind a server it needs an element and a user
            for each canary.
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
