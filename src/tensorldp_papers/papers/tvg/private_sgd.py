"""TVG's Type I: stochastic gradient descent on clipped and perturbed gradients, tensor by tensor.

TVG's accounting gives each step a budget by composition over the steps and amplification by sampling. Every tensor gets
that whole budget at s2 = 2 C sqrt(I) for gradients clipped to [-C, C] in each element (its Eq. 35).
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from tensorldp.curves.dp_sgd import noise_multiplier_for
from tensorldp.deltas import NOMINAL_DELTA
from tensorldp.errors import InputError, check_positive, check_real
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.mechanisms import Ball, Box, Mechanism, make, mechanism_class
from tensorldp.mechanisms.optimized import epsilon_at_mu
from tensorldp.mechanisms.tvg_budget import Schedule
from tensorldp_papers.nets.private_sgd import GradientNoise, fit_private
from tensorldp_papers.nets.train import empty_model, evaluate, federated_inputs, kept, new_model, restored
from tensorldp_papers.papers.tvg.settings import PrivateSgdCell, PrivateSgdTraining
from tensorldp_papers.run.held_out import held_out_count
from tensorldp_papers.run.method import Audited, InsideMethod, Rows, Trained
from tensorldp_papers.run.method_plan import ModelFactors
from tensorldp_papers.run.privacy import describe
from tensorldp_papers.run.records import Records, model_inputs, read_records
from tensorldp_papers.run.streams import common_stream, noise_stream

Accountant = Literal["pld", "rdp"]
HONEST = "gaussian-analytic"
STAND_IN = (64,)  # of an audited gradient: with more, too few samples fit


def printed_noise(
    name: str, shapes: list[tuple[int, ...]], clip: float, schedule: Schedule, **options: Any
) -> GradientNoise:
    """Computes the noise of TVG's Type I for a mechanism with its options, on tensors of these shapes clipped in l_inf.

    Each class says itself what TVG's accounting gives it (`Mechanism.step_sigma`).
    """
    kind = mechanism_class(name)
    kind.check_options(options)
    sigmas = []
    for shape in shapes:
        sigma = kind.step_sigma(schedule, Box(-clip, clip, shape), **options)
        if sigma is None:
            raise InputError(f"gradients take mechanisms that add i.i.d. Gaussian noise to a tensor, not {name}")
        sigmas.append(float(sigma))
    sizes = tuple(math.prod(shape) for shape in shapes)
    return GradientNoise("linf", clip, tuple(sigmas), sizes)


def honest_noise(
    shapes: list[tuple[int, ...]], clip: float, schedule: Schedule, accountant: Accountant = "pld"
) -> GradientNoise:
    """Computes DP-SGD's noise [abadi2016]: l2 clipping and the least that makes the run (epsilon, delta)-DP."""
    seen = -math.expm1(schedule.steps * math.log1p(-schedule.rate)) if schedule.rate < 1.0 else 1.0
    if seen <= schedule.delta:
        raise InputError(
            f"lot and steps must be larger for delta {schedule.delta:g}: a record takes part in the run "
            f"with a probability of {seen:.3g}, which alone is within delta and needs no noise"
        )
    multiplier = noise_multiplier_for(schedule.epsilon, schedule.delta, schedule.rate, schedule.steps, accountant)
    sizes = tuple(math.prod(shape) for shape in shapes)
    return GradientNoise("l2", clip, (multiplier * clip,) * len(sizes), sizes)


def check_schedule(epsilon: float, delta: float, records: int, lot: int, steps: int) -> Schedule:
    """Makes a run's schedule from its number of records and lot size."""
    delta = check_real("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)
    return Schedule(check_positive("epsilon", epsilon, infinite=True), delta, lot / records, steps)


def gradient_release(cell: PrivateSgdCell, model: nn.Module, records: int) -> tuple[GradientNoise, Schedule]:
    """Returns the clipping and noise of the cell's steps on such a model, and the schedule of its run."""
    settings = cell.training
    schedule = check_schedule(cell.nominal_epsilon, cell.delta, records, min(settings.lot, records), settings.steps)
    shapes = [tuple(p.shape) for p in model.parameters() if p.requires_grad]
    if cell.mechanism == HONEST:
        return honest_noise(shapes, settings.clip_l2, schedule, settings.accountant), schedule
    return printed_noise(cell.mechanism, shapes, settings.clip, schedule, **cell.options), schedule


def divided(cell: PrivateSgdCell, records: Records) -> tuple[Records, Records | None]:
    """Returns the records that a model is trained on, and those that are held out to choose settings by, if any are."""
    held = held_out_count(cell.training.held_out, len(records.x))
    if not held:
        return records, None
    first = len(records.x) - held
    return records.first(first), replace(records, x=records.x[first:], y=records.y[first:])


class PrivateSgd(InsideMethod[PrivateSgdTraining, ModelFactors]):
    """Models are scored on clean test records; `auc`, the area under the ROC curve, is there for two classes.

    Where records are held out, models are scored on those alone, as `accuracy_held_out`.
    """

    def train(
        self, cell: PrivateSgdCell, records: Records, seed: int, device: torch.device, weights: Path | None = None
    ) -> Trained:
        model = new_model(cell, records.task, seed, weights).to(device)
        records, held_out = divided(cell, records)
        release, _ = gradient_release(cell, model, len(records.x))
        inputs, scaling = federated_inputs(records)
        settings = cell.training
        honest = cell.mechanism == HONEST
        fit_private(
            model,
            inputs.to(device),
            records.y.to(device),
            release,
            lot=min(settings.lot, len(records.x)),
            steps=settings.steps,
            learning_rate=settings.learning_rate_l2 if honest else settings.learning_rate,
            momentum=settings.momentum,
            generator=common_stream(cell, seed, "lots"),
            noise=noise_stream(cell, seed, "gradient noise", device),
            precision=cell.precision,
            what=f"{cell.mechanism} {cell.epsilon} seed {seed}",
        )
        found = kept(model, scaling)
        if held_out is not None:
            found.facts["held_out"] = evaluate(model, held_out, scaling, device)
        return found

    def evaluate(self, cell: PrivateSgdCell, test: Records, trained: Trained, seed: int, device: torch.device) -> Rows:
        if cell.training.held_out:
            return [{**row, "metric": f"{row['metric']}_held_out"} for row in trained.facts["held_out"]]
        from sklearn.metrics import roc_auc_score

        model, scaling = restored(cell, test, trained)
        rows = evaluate(model, test, scaling, device)
        if test.classes != 2:
            return rows
        model, scaling = restored(cell, test, trained)
        with torch.no_grad():
            margin = model.eval()(scaling(model_inputs(test.x, test.kind))).nan_to_num().diff(dim=1).squeeze(1)
        return [*rows, {"metric": "auc", "value": float(roc_auc_score(test.y.numpy(), margin.numpy()))}]

    def guarantee(self, cell: PrivateSgdCell, data: Path) -> dict[str, Any]:
        records, _ = divided(cell, read_records(data / "train.safetensors").first(cell.training.limit))
        release, schedule = gradient_release(cell, empty_model(cell, records.task), len(records.x))
        notes = ["for adding or removing one record of the training set, over all steps and tensors"]
        if cell.private and cell.mechanism != HONEST:
            notes.append(
                "the nominal epsilon is TVG's composition and amplification, with the whole budget of a step "
                "for every tensor"
            )
        return describe(release.curve(schedule), "run", notes)

    def audited(self, cell: PrivateSgdCell, data: Path) -> Audited:
        """Returns the noise of one step, as the Gaussian mechanism that it is, on a gradient of 64 elements."""
        records, _ = divided(cell, read_records(data / "train.safetensors").first(cell.training.limit))
        if not cell.private:
            return make(NO_PRIVACY, epsilon=float("inf"), domain=Box(-1.0, 1.0, STAND_IN)), ""
        release, _ = gradient_release(cell, empty_model(cell, records.task), len(records.x))
        reach = 1.0 / release.multiplier  # replacing a gradient moves the sum by up to 2 Mahalanobis units of this
        return (
            _gaussian(2.0 * reach),
            "audited as one step without sampling on a gradient of 64 elements, replaced by any other",
        )


def _gaussian(mu: float) -> Mechanism:
    """Returns the Gaussian mechanism of a given mu, as `optimized` of one step: mu is the root of its budget."""
    epsilon = epsilon_at_mu(mu, NOMINAL_DELTA)
    return make("optimized", epsilon=epsilon, delta=NOMINAL_DELTA, domain=Ball(1.0, STAND_IN))


METHOD = PrivateSgd()
