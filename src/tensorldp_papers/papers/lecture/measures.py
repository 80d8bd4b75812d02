"""What a cell's attacks measure: on gradients, on two-layer networks, on released records."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Mechanism
from tensorldp_papers.attacks.defences import Defence, fit_defended
from tensorldp_papers.attacks.inversion import COSINE, COSINE_TV, DLG, IDLG, Client, Inversion, infer_label, invert
from tensorldp_papers.attacks.likelihood import (
    Prior,
    SuccessBound,
    attack_auc,
    denoise,
    identify,
    record_losses,
    true_positive_rate,
)
from tensorldp_papers.attacks.quality import image_scores, nearest
from tensorldp_papers.attacks.tensor import tensor_attack, vector_error
from tensorldp_papers.attacks.two_layer import (
    TwoLayer,
    analytic_attack,
    measured_change,
    tensor_coefficients,
    unit_records,
)
from tensorldp_papers.nets import build
from tensorldp_papers.nets.classify import accuracy, fit, predict
from tensorldp_papers.nets.networks import SigmoidLeNet
from tensorldp_papers.nets.registry import image_layout, seed_model
from tensorldp_papers.papers.lecture.settings import AttackCell
from tensorldp_papers.run.records import Records, Scaling, model_inputs
from tensorldp_papers.run.releases import perturb
from tensorldp_papers.run.streams import common_stream, mechanism_on, noise_stream

V = TypeVar("V")


def needed(cell: AttackCell, key: str, value: V | None) -> V:
    """Returns the value of a factor that the cell's attack cannot do without."""
    if value is None:
        raise InputError(f"the attack {cell.factors.attack!r} of {cell.study} needs the factor {key}")
    return value


def defence_of(cell: AttackCell, parameters: int) -> Defence:
    """Makes the cell's defence of a gradient of that many parameters."""
    name = cell.factors.defence
    strength = 0.0 if name == "none" else needed(cell, "strength", cell.factors.strength)
    mechanism = None
    if cell.private:
        mechanism = mechanism_on(cell, Ball(float(strength) or 1.0, (parameters,)))
    return Defence(name, strength, mechanism)


def rows(scores: dict[str, float]) -> list[dict[str, Any]]:
    """Returns scores as metric rows."""
    return [{"metric": key, "value": float(value)} for key, value in scores.items()]


INVERSIONS: dict[str, Inversion] = {"dlg": DLG, "idlg": IDLG, "cosine": COSINE, "cosine-tv": COSINE_TV}
HIDDEN = 64  # neurons of the layer whose gradients the analytic attack divides


def network(attack: str, records: Records, generator: torch.Generator, *, trainable: bool = False) -> nn.Sequential:
    """Builds the sigmoid LeNet, or for the analytic attack a network whose first layer is fully connected.

    A `trainable` one starts where training makes headway.
    """
    layout = image_layout(records.shape, "the attacked network")
    if attack != "analytic":
        return SigmoidLeNet(*layout, records.classes, generator, trainable=trainable)
    size = layout[0] * layout[1] * layout[2]
    model = nn.Sequential(nn.Flatten(), nn.Linear(size, HIDDEN), nn.Sigmoid(), nn.Linear(HIDDEN, records.classes))
    seed_model(model, generator)
    return model


def unit_inputs(records: Records) -> Tensor:
    """Returns images as (records, channels, height, width) in [0, 1]."""
    return Scaling(records.low, records.high - records.low)(model_inputs(records.x, records.kind))


def measure_gradient(cell: AttackCell, train: Records, test: Records, seed: int) -> dict[str, float]:
    """Measures reconstruction quality over the cell's victims, and the accuracy of training with the defence."""
    attack, settings = cell.factors.attack, cell.training
    attacked = network(attack, test, common_stream(cell, seed, "attacked network"))
    defence = defence_of(cell, sum(p.numel() for p in attacked.parameters()))
    scores = attack_victims(cell, attacked.double(), test, defence, seed)
    trained = network(attack, train, common_stream(cell, seed, "trained network"), trainable=True)
    fit_defended(
        trained,
        unit_inputs(train),
        train.y,
        defence,
        users=settings.users,
        rounds=settings.rounds,
        learning_rate=settings.learning_rate,
        generator=common_stream(cell, seed, "users"),
        noise=noise_stream(cell, seed, "training defence"),
    )
    return {**scores, "accuracy": accuracy(test.y, predict(trained, unit_inputs(test)))}


def attack_victims(
    cell: AttackCell, model: nn.Sequential, test: Records, defence: Defence, seed: int
) -> dict[str, float]:
    """Attacks the victims: rmse, psnr, ssim, identification among the candidates, and how many labels were found."""
    settings = cell.training
    inputs = unit_inputs(test).double()
    order = torch.randperm(len(inputs), generator=common_stream(cell, seed, "candidates"))[: settings.candidates]
    candidates, labels = inputs[order], test.y[order]
    client = Client(model, steps=defence.steps, rate=settings.local_rate)
    noise, starts = noise_stream(cell, seed, "defence"), common_stream(cell, seed, "starts")
    found, guessed, ratio = [], [], []
    for victim in range(min(settings.victims, len(candidates))):
        x, y = candidates[victim : victim + 1], labels[victim : victim + 1]
        kept = defence.keep_mask(client.features, noise)
        mask = None if kept is None else kept.double() / defence.strength
        sent = client.update(x, client.one_hot(y), mask)
        released = defence.protect(sent.unsqueeze(0), noise).squeeze(0)
        ratio.append(distortion(sent, released))
        image, label = reconstruct(cell.factors.attack, client, released, x.shape, mask, starts, settings.steps)
        found.append(image)
        guessed.append(int(label) == int(y))
    images, truth = torch.cat(found), candidates[: len(found)]
    named = nearest(images, candidates) == torch.arange(len(found))
    return {
        **image_scores(images.permute(0, 2, 3, 1), truth.permute(0, 2, 3, 1)),
        "identification": float(named.double().mean()),
        "label_accuracy": sum(guessed) / len(guessed),
        "distortion": sum(ratio) / len(ratio),
    }


def distortion(sent: Tensor, released: Tensor) -> float:
    """Computes how far a release lies from every multiple of the gradient: the tangent of the angle, at most 1e6.

    With additive noise it is the noise-to-signal ratio.
    """
    cosine = float(sent @ released / (sent.norm() * released.norm()).clamp_min(1e-300))
    found: float = min(1e6, max(0.0, 1.0 - cosine**2) ** 0.5 / max(cosine, 1e-6))
    return found


def reconstruct(
    attack: str,
    client: Client,
    released: Tensor,
    shape: tuple[int, ...],
    mask: Tensor | None,
    generator: torch.Generator,
    steps: int,
) -> tuple[Tensor, Tensor]:
    """Reconstructs one image, (1, channels, height, width) in [0, 1], and its label, (1,)."""
    if attack == "analytic":
        parts = client.split(released)
        image = analytic_attack(parts["1.weight"], parts["1.bias"]).reshape(shape).clamp(0.0, 1.0)
        return image, infer_label(client, released)
    how = INVERSIONS[attack]
    most = min(how.steps, steps) if how.optimizer == "lbfgs" else steps
    return invert(client, released, shape, replace(how, steps=most), generator, mask)


def measure_tensor(cell: AttackCell, seed: int) -> dict[str, float]:
    """Measures the tensor attack's error on a gradient, and what the defence did to the gradient: medians over draws.

    error is dp-lecture's Eq. 5.2. With k local steps the client has k B records, B for each step. The attacker leaves
    out neurons that dropout switched off, which show as exact zeros.
    """
    given = cell.factors
    m, d, batch = needed(cell, "m", given.m), needed(cell, "d", given.d), needed(cell, "B", given.B)
    activation = given.activation
    tensor_coefficients(activation)  # a clear error before any work
    defence = defence_of(cell, m)
    streams = [
        common_stream(cell, seed, "network"),
        noise_stream(cell, seed, "defence"),
        common_stream(cell, seed, "attack"),
    ]
    rate = cell.training.local_rate / m
    found = [_one_attack(m, d, batch, activation, defence, rate, streams) for _ in range(cell.training.draws)]
    return {key: median(scores[key] for scores in found) for key in found[0]}


def _one_attack(
    m: int, d: int, batch: int, activation: str, defence: Defence, rate: float, streams: list[torch.Generator]
) -> dict[str, float]:
    drawn, noisy, starts = streams
    network = TwoLayer.draw(m, d, activation, drawn)
    x, y = unit_records(batch * defence.steps, d, drawn)
    sent = network.local_update(x, y, defence.steps, rate)
    norm = float(sent.norm())
    kept = defence.keep_mask(m, noisy)
    if kept is None:
        released, weights = defence.protect(sent.unsqueeze(0), noisy).squeeze(0), network.weights
    else:
        released, weights = sent[kept], network.weights[kept]
    found = tensor_attack(released, weights, len(x), activation, starts)
    scores = {"error": vector_error(found, x), "gradient_norm": norm, "gradient_rms": norm / math.sqrt(m)}
    # the root mean square of the noise on an element
    if defence.name == "noise":
        scores["noise"] = defence.strength
    elif defence.mechanism is not None and (error := defence.mechanism.squared_error()) is not None:
        # clipping shrinks the signal, so the same noise counts as much more (Table 1, row DP-SGD)
        scores["noise"] = math.sqrt(error / defence.mechanism.size) * max(1.0, norm / defence.strength)
    return scores


def measure_sensitivity(cell: AttackCell, seed: int) -> dict[str, float]:
    """Measures the largest l1 change of a gradient on replacing one record, by part and in total."""
    given = cell.factors
    m, d, scaling = needed(cell, "m", given.m), needed(cell, "d", given.d), needed(cell, "scaling", given.scaling)
    a_part, w_part = measured_change(m, d, scaling, cell.training.pairs, common_stream(cell, seed, "sensitivity"))
    return {"change_a": a_part, "change_w": w_part, "change": a_part + w_part}


FALSE_POSITIVE_RATES = (0.01, 0.1)


@dataclass(frozen=True)
class Pictures:
    """Victims of a cell as they are, as released and as reconstructed: (victims, *shape) float64, stored range."""

    original: Tensor
    released: Tensor
    reconstructed: Tensor


def candidates_of(cell: AttackCell, test: Records, seed: int) -> Tensor:
    """Returns the records among which victims are named, in the shape that is released; the victims come first."""
    order = torch.randperm(len(test.x), generator=common_stream(cell, seed, "candidates"))
    return test.x[order[: cell.training.candidates]].double().reshape(-1, *test.box().shape)


def decode(
    cell: AttackCell, mechanism: Mechanism, prior: Prior, candidates: Tensor, seed: int, victims: int
) -> Pictures:
    """Releases the first `victims` candidates and denoises them."""
    original = candidates[:victims]
    released = mechanism.privatize(original.float(), noise_stream(cell, seed, "released victims")).double()
    return Pictures(original, released, denoise(mechanism, released, prior))


def measure_likelihood(
    cell: AttackCell, train: Records, test: Records, seed: int, device: torch.device
) -> dict[str, float]:
    """Measures denoised releases' quality, identification beside the guarantee's bound, and a classifier's accuracy."""
    mechanism = mechanism_on(cell, test.box())
    candidates = candidates_of(cell, test, seed)
    seen = decode(cell, mechanism, Prior.of(train.x), candidates, seed, cell.training.victims)
    named = identify(mechanism, seen.released, candidates) == torch.arange(len(seen.released))
    classifier = build("linear", train.task, common_stream(cell, seed, "classifier"))
    scaling = fit_on_releases(
        classifier,
        perturb(train, cell, seed, "train", device),
        train,
        epochs=cell.training.epochs,
        batch_size=64,
        learning_rate=0.01,
        generator=common_stream(cell, seed, "batches"),
    )
    width = test.high - test.low
    unit = [((part - test.low) / width).reshape(-1, *test.shape) for part in (seen.reconstructed, seen.original)]
    return {
        **image_scores(*unit),
        "identification": float(named.double().mean()),
        "identification_bound": SuccessBound.of(mechanism.curve())(1.0 / len(candidates)),
        "accuracy": accuracy(test.y, predict(classifier, scaling(model_inputs(test.x, test.kind)))),
    }


def fit_on_releases(model: nn.Module, released: Tensor, records: Records, **settings: Any) -> Scaling:
    """Trains a classifier on what was released of the records; returns the scaling of its inputs."""
    scaling = Scaling.of(released)
    fit(model, scaling(model_inputs(released, records.kind)), records.y, **settings)
    return scaling


def measure_membership(
    cell: AttackCell, train: Records, test: Records, seed: int, device: torch.device
) -> dict[str, float]:
    """Measures a loss-threshold attack on a model trained on its members' releases, beside the guarantee's bound.

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
    model = build("small_cnn", train.task, common_stream(cell, seed, "member model"))
    scaling = fit_on_releases(
        model,
        perturb(members, cell, seed, "members", device),
        members,
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
