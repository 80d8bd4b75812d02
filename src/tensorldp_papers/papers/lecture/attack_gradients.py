"""Attacks on the gradient of an image classifier, and what a defence of it costs."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from tensorldp_papers.attacks.analytic import analytic_attack
from tensorldp_papers.attacks.client import Client
from tensorldp_papers.attacks.defences import Defence
from tensorldp_papers.attacks.defended import fit_defended
from tensorldp_papers.attacks.inversion import COSINE, COSINE_TV, DLG, IDLG, Inversion, infer_label, invert
from tensorldp_papers.attacks.quality import image_scores, nearest
from tensorldp_papers.nets.classify import accuracy, predict
from tensorldp_papers.nets.lenet import SigmoidLeNet
from tensorldp_papers.nets.seeding import seed_model
from tensorldp_papers.nets.task import image_layout
from tensorldp_papers.papers.lecture.attack_common import defence_of
from tensorldp_papers.run.records import Records, Scaling, model_inputs
from tensorldp_papers.run.streams import AttackCell, common_stream, noise_stream

INVERSIONS: dict[str, Inversion] = {"dlg": DLG, "idlg": IDLG, "cosine": COSINE, "cosine-tv": COSINE_TV}
HIDDEN = 64


def network(attack: str, records: Records, generator: torch.Generator, *, trainable: bool = False) -> nn.Sequential:
    """The sigmoid LeNet, or for the analytic attack a network whose first layer is fully connected.

    Args:
        attack: its name.
        records: what the network classifies.
        generator: of its weights.
        trainable: start where training makes headway.
    """
    layout = image_layout(records.shape)
    if attack != "analytic":
        return SigmoidLeNet(*layout, records.classes, generator, trainable=trainable)
    size = layout[0] * layout[1] * layout[2]
    model = nn.Sequential(nn.Flatten(), nn.Linear(size, HIDDEN), nn.Sigmoid(), nn.Linear(HIDDEN, records.classes))
    seed_model(model, generator)
    return model


def unit_inputs(records: Records) -> Tensor:
    """Images as (records, channels, height, width) in [0, 1]."""
    return Scaling(records.low, records.high - records.low)(model_inputs(records.x, records.kind))


def measure_gradient(cell: AttackCell, train: Records, test: Records, seed: int) -> dict[str, float]:
    """Reconstruction quality over the cell's victims, and the accuracy that training with the defence reaches."""
    attack = cell.factors.attack
    model = network(attack, test, common_stream(cell, seed, "attacked network"))
    size = sum(p.numel() for p in model.parameters())
    defence = defence_of(cell, size)
    scores = attack_victims(cell, attack, model.double(), test, defence, seed)
    return {**scores, "accuracy": utility(cell, attack, train, test, defence, seed)}


def attack_victims(
    cell: AttackCell, attack: str, model: nn.Sequential, test: Records, defence: Defence, seed: int
) -> dict[str, float]:
    """rmse, psnr, ssim, identification among the candidates, and how many labels were found."""
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
        image, label = reconstruct(attack, client, released, x.shape, mask, starts, settings.steps)
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
    """How far the release lies from every multiple of the gradient: the tangent of the angle between them, at most 1e6.

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
    """One image, (1, channels, height, width) in [0, 1], and its label, (1,)."""
    if attack == "analytic":
        parts = client.split(released)
        image = analytic_attack(parts["1.weight"], parts["1.bias"]).reshape(shape).clamp(0.0, 1.0)
        return image, infer_label(client, released)
    how = INVERSIONS[attack]
    result = invert(
        client,
        released,
        shape,
        replace(how, steps=min(how.steps, steps)) if how.optimizer == "lbfgs" else replace(how, steps=steps),
        generator,
        mask=mask,
    )
    return result.x, result.labels


def utility(cell: AttackCell, attack: str, train: Records, test: Records, defence: Defence, seed: int) -> float:
    """Test accuracy after federated training in which every user's gradient is defended."""
    settings = cell.training
    model = network(attack, train, common_stream(cell, seed, "trained network"), trainable=True)
    fit_defended(
        model,
        unit_inputs(train),
        train.y,
        defence,
        users=settings.users,
        rounds=settings.rounds,
        learning_rate=settings.learning_rate,
        generator=common_stream(cell, seed, "users"),
        noise=noise_stream(cell, seed, "training defence"),
    )
    return accuracy(test.y, predict(model, unit_inputs(test)))
