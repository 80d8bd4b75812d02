"""Attacks on released records, and on models trained on them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tensorldp.mechanisms import Mechanism
from tensorldp_papers.attacks.likelihood import Prior, SuccessBound, denoise, identify
from tensorldp_papers.attacks.membership import attack_auc, record_losses, true_positive_rate
from tensorldp_papers.attacks.quality import image_scores
from tensorldp_papers.nets import build
from tensorldp_papers.nets.classify import accuracy, fit, predict
from tensorldp_papers.run.perturb import perturb
from tensorldp_papers.run.records import Records, Scaling, model_inputs
from tensorldp_papers.run.streams import AttackCell, common_stream, mechanism_on, noise_stream

FALSE_POSITIVE_RATES = (0.01, 0.1)


@dataclass(frozen=True)
class Pictures:
    """Victims of a cell as they are, as released and as reconstructed: (victims, *shape) float64, stored range."""

    original: Tensor
    released: Tensor
    reconstructed: Tensor


def candidates_of(cell: AttackCell, test: Records, seed: int) -> Tensor:
    """The records among which victims are to be named, in the shape that is released; the victims come first."""
    order = torch.randperm(len(test.x), generator=common_stream(cell, seed, "candidates"))
    return test.x[order[: cell.training.candidates]].double().reshape(-1, *test.box().shape)


def decode(
    cell: AttackCell, mechanism: Mechanism, prior: Prior, candidates: Tensor, seed: int, victims: int
) -> Pictures:
    """Release the first `victims` candidates and denoise them."""
    original = candidates[:victims]
    released = mechanism.privatize(original.float(), noise_stream(cell, seed, "released victims")).double()
    return Pictures(original, released, denoise(mechanism, released, prior))


def measure_likelihood(
    cell: AttackCell, train: Records, test: Records, seed: int, device: torch.device
) -> dict[str, float]:
    """Quality of denoised releases, identification beside the guarantee's bound, and a classifier's accuracy."""
    mechanism = mechanism_on(cell, test.box())
    candidates = candidates_of(cell, test, seed)
    seen = decode(cell, mechanism, Prior.of(train.x), candidates, seed, cell.training.victims)
    named = identify(mechanism, seen.released, candidates) == torch.arange(len(seen.released))
    width = test.high - test.low
    unit = [((part - test.low) / width).reshape(-1, *test.shape) for part in (seen.reconstructed, seen.original)]
    return {
        **image_scores(*unit),
        "identification": float(named.double().mean()),
        "identification_bound": SuccessBound.of(mechanism.curve())(1.0 / len(candidates)),
        "accuracy": release_accuracy(cell, train, test, seed, device),
    }


def release_accuracy(cell: AttackCell, train: Records, test: Records, seed: int, device: torch.device) -> float:
    """Test accuracy of a linear classifier trained on released records."""
    released = perturb(train, cell, seed, "train", device)
    scaling = Scaling.of(released)
    model = build("linear", train.task, common_stream(cell, seed, "classifier"))
    fit(
        model,
        scaling(model_inputs(released, train.kind)),
        train.y,
        epochs=cell.training.epochs,
        batch_size=64,
        learning_rate=0.01,
        generator=common_stream(cell, seed, "batches"),
    )
    return accuracy(test.y, predict(model, scaling(model_inputs(test.x, test.kind))))


def measure_membership(
    cell: AttackCell, train: Records, test: Records, seed: int, device: torch.device
) -> dict[str, float]:
    """A loss-threshold attack on a model trained on its members' releases, beside the guarantee's bound.

    Every second member is a canary, whose label is drawn at random: only by memorising it can a model fit it. Canaries
    are told from test records with random labels, the other members from test records. The model is trained for long on
    few records, as membership attacks need it; the attacker has the clean records.
    """
    settings = cell.training
    stream = common_stream(cell, seed, "members")
    order = torch.randperm(len(train.x), generator=stream)[: settings.members]
    random, random_test = (torch.randint(0, train.classes, (n,), generator=stream) for n in (len(order), len(test.x)))
    canary = torch.arange(len(order)) % 2 == 1
    members = replace(train, x=train.x[order], y=torch.where(canary, random, train.y[order]))
    released = perturb(members, cell, seed, "members", device)
    scaling = Scaling.of(released)
    model = build("small_cnn", train.task, common_stream(cell, seed, "member model"))
    fit(
        model,
        scaling(model_inputs(released, train.kind)),
        members.y,
        epochs=settings.member_epochs,
        batch_size=32,
        learning_rate=3e-3,
        generator=common_stream(cell, seed, "member batches"),
    )

    def losses(x: Tensor, y: Tensor) -> Tensor:
        return record_losses(model, scaling(model_inputs(x, train.kind)), y)

    inside = losses(members.x, members.y)
    sets = {"": (inside[~canary], losses(test.x, test.y)), "canary_": (inside[canary], losses(test.x, random_test))}
    bound = SuccessBound.of(mechanism_on(cell, train.box()).curve())
    found = {
        "members": float(len(order)),
        "accuracy": accuracy(test.y, predict(model, scaling(model_inputs(test.x, test.kind)))),
    }
    for kind, (ours, others) in sets.items():
        found[f"{kind}auc"] = attack_auc(ours, others)
        for rate in FALSE_POSITIVE_RATES:
            found[f"{kind}tpr_at_fpr_{rate:g}"] = true_positive_rate(ours, others, rate)
    return found | {f"tpr_bound_at_fpr_{rate:g}": bound(rate) for rate in FALSE_POSITIVE_RATES}
