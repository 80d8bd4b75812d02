"""LATENT's statements about its Table 2, Figure 10 and cost, decided from limits of learning and from our runs.

A printed accuracy is met from 0.01 below, two standard errors on 10,000 test images, and above by anything. "Almost
constant" is within 0.02 between any two epsilons. Both were set before the runs. Two things were set after those on
MNIST, in the paper's favour. Table 2 may be of clean test strings or of released ones, as the paper does not say which.
And a miss of less than 0.03 refutes nothing: a search of settings did not close it (docs/decisions/latent-settings.md),
but the paper does not say how its untrained convolutions are drawn, and another draw may. Which runs stand for the
paper's is in `latent_arms`.
"""

from __future__ import annotations

import math

from tensorldp.kinds import NO_PRIVACY
from tensorldp_papers.claims.base import Finding, NotRun, claim
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.fairness import PRINTED as PRINTED_RUNS
from tensorldp_papers.claims.fairness import weakly
from tensorldp_papers.claims.laws import cifar_latent, latent
from tensorldp_papers.claims.statements import (
    ALPHA,
    Estimate,
    Every,
    Inside,
    Some,
    Statement,
    minus,
    paired,
    per_epsilon,
)
from tensorldp_papers.papers.latent.claims.arms import (
    ALTERED,
    CLEAN,
    DATASETS,
    STUDY,
    TRAINING,
    Parts,
    altered,
    at,
    at_chance,
    by_reading,
    permuted,
    planned,
    settle,
)
from tensorldp_papers.papers.latent.claims.limits import LARGEST_CLASS, clean_ceiling

PRINTED, CONSTANT = 0.01, 0.02
RELEASED = "accuracy_perturbed_test"
NEAR = 0.03
BODY = "which the paper does not train, and does not say how it is drawn"


def _ceiling(dataset: str, epsilon: float) -> tuple[float, str]:
    """The accuracy on clean images that no classifier exceeds which learns from reading A's strings alone, in words.

    With two releases of each of CIFAR-10's images.
    """
    made = cifar_latent if dataset == "cifar10" else latent
    records = PRINTED_RUNS["latent", dataset, "ann"].records * (2 if dataset == "cifar10" else 1)
    limit = clean_ceiling(made(epsilon, "A"), records, LARGEST_CLASS[dataset])
    return limit, (
        f"with the coins of Eq. 6 no classifier that learns from {records:,} releases alone has more than "
        f"{limit:.3f} on average at eps {epsilon:g}"
    )


def _test_accuracies(
    found: Evidence, dataset: str, epsilons: list[float], reading: str
) -> dict[str, dict[float, Estimate]]:
    """By epsilon the accuracies on clean test strings, and on released ones where these were scored.

    The paper does not say which of them its Table 2 has.
    """
    made = {"clean": {e: at(found, dataset, CLEAN, e, reading=reading) for e in epsilons}}
    rows = found.rows(STUDY, dataset=dataset, mechanism="latent", reading=reading, labels=None)
    if RELEASED in set(rows["metric"]):
        made["released"] = {e: at(found, dataset, RELEASED, e, reading=reading) for e in epsilons}
    return made


def _table2(found: Evidence, dataset: str, printed: dict[float, float]) -> Finding:
    """Reading A's strings carry too little for any classifier that learns from them alone: no run is needed there."""
    if not found.cells(STUDY, dataset=dataset, mechanism="latent", reading="A"):
        raise NotRun(f"needs {STUDY} on {dataset}, which the {found.scale} grid does not have")
    least = min(printed)
    limit, cannot = _ceiling(dataset, least)

    def test(reading: str) -> Parts:
        with_altered = " and altered images" if altered(found, dataset, reading) else ""
        kinds = []
        short = math.inf
        for strings, own in _test_accuracies(found, dataset, list(printed), reading).items():
            text = f"accuracy on {strings} test images with reading {reading}{with_altered} at eps"
            kinds.append(
                Every([Inside(f"{text} {e:g} (printed {printed[e]})", own[e], low=printed[e] - PRINTED) for e in own])
            )
            short = min(short, max(printed[e] - PRINTED - own[e].mean for e in own))
        near = f"{short:.3f} short with our draws of the body, {BODY}" if 0 < short < NEAR else ""
        return {dataset: weakly(Some(kinds), near)}

    ours = "; ".join(f"{at(found, dataset, CLEAN, e, reading='A')} at eps {e:g}" for e in printed)
    chance = permuted(found, dataset, "A")
    ours += "".join(f"; on permuted labels {chance[e]} at eps {e:g}" for e in printed if e in chance)
    impossible = f"{cannot}, and ours {ours}" if limit < printed[least] - PRINTED else ""
    return by_reading(found, test, impossible=impossible)


@claim("A11", expected=f"at least {0.9816 - PRINTED:g} (MNIST) and {0.7875 - PRINTED:g} (CIFAR-10)")
def without_privacy(found: Evidence) -> Finding:
    printed = {"mnist": 0.9816, "cifar10": 0.7875}
    parts = {
        name: Inside(
            f"{name} (printed {printed[name]})",
            at(found, name, CLEAN, math.inf, model="cnn"),
            low=printed[name] - PRINTED,
        )
        for name in planned(found, NO_PRIVACY, "cnn")
    }
    return settle(found, {"": parts}, wanted_all=tuple(printed), models=("cnn",))


@claim(
    "A12",
    expected=f"at least {0.9634 - PRINTED:g} and {0.9626 - PRINTED:g} in one reading, on clean or on released strings",
)
def mnist(found: Evidence) -> Finding:
    return _table2(found, "mnist", {2.0: 0.9634, 0.5: 0.9626})


@claim(
    "A13",
    expected=f"at least {0.9173 - PRINTED:g} and {0.9147 - PRINTED:g} in one reading, on clean or on released strings",
)
def cifar(found: Evidence) -> Finding:
    return _table2(found, "cifar10", {2.0: 0.9173, 0.5: 0.9147})


@claim("A14", expected="training accuracies of at least the printed ones less 0.01, in one of the readings")
def training_accuracy(found: Evidence) -> Finding:
    """Reached with the coins of Eq. 6 beside a test accuracy at chance, they are memorised noise."""
    printed = {"mnist": {2.0: 0.9923, 0.5: 0.9942}, "cifar10": {2.0: 0.9562, 0.5: 0.9577}}
    names = planned(found, "latent", "ann")

    def test(reading: str) -> Parts:
        return {
            name: Every(
                [
                    Inside(
                        f"training accuracy on {name} with reading {reading} at eps {e:g} (printed {value})",
                        at(found, name, TRAINING, e, reading=reading),
                        low=value - PRINTED,
                    )
                    for e, value in printed[name].items()
                ]
            )
            for name in names
        }

    beside = "; ".join(
        f"with the coins of Eq. 6 {at(found, name, TRAINING, 0.5, reading='A').mean:.3f} in training and "
        f"{at(found, name, CLEAN, 0.5, reading='A').mean:.3f} in testing on {name} at eps 0.5: what is learned there "
        "is the noise by heart"
        for name in names
    )
    return by_reading(found, test, beside, wanted_all=tuple(printed))


@claim("A16", expected=f"any two eps below 10 within {CONSTANT} of each other in one reading, not at chance")
def constant(found: Evidence) -> Finding:
    names = planned(found, "latent", "ann")

    def part(dataset: str, reading: str) -> Statement:
        augment = altered(found, dataset, reading)
        rows = found.rows(
            STUDY, CLEAN, dataset=dataset, mechanism="latent", reading=reading, augment=augment, labels=None
        )
        points = per_epsilon(rows[rows["epsilon"] < 10])
        if len(points) < 2:
            raise NotRun(f"needs {STUDY} on {dataset} at two epsilons below 10")
        void = at_chance(points, permuted(found, dataset, reading), LARGEST_CLASS[dataset])
        first, *others = points
        by_seed = rows.pivot_table(index="seed", columns="epsilon", values="value")
        both = {e: by_seed[[e, first]].dropna() for e in others}  # networks of a seed share weights, orders and coins
        return Every(
            [
                Inside(
                    f"accuracy on {dataset} with reading {reading} at eps {e:g} minus at {first:g}",
                    paired(both[e][e].tolist(), both[e][first].tolist()),
                    -CONSTANT,
                    CONSTANT,
                    void,
                )
                for e in others
            ]
        )

    change = (latent(10.0, "A").signal - latent(0.1, "A").signal) / 2
    return by_reading(
        found,
        lambda reading: {name: part(name, reading) for name in names},
        f"p differs by {change:.1e} (MNIST) from eps = 0.1 to 10",
    )


@claim("A17", expected=f"at least {0.98 - PRINTED:g} in training and {0.95 - PRINTED:g} in testing")
def no_noise(found: Evidence) -> Finding:
    made = {
        metric: at(found, "cifar10", metric, math.inf, model="ann", augment=ALTERED) for metric in (TRAINING, CLEAN)
    }
    parts = [
        Inside("accuracy in training", made[TRAINING], low=0.98 - PRINTED),
        Inside("accuracy in testing", made[CLEAN], low=0.95 - PRINTED),
    ]
    note = "CIFAR-10's bits as they are, with altered images; a CNN that is trained as a whole has 0.7875 in the paper"
    return settle(found, {"": {"cifar10": Every(parts)}}, note)


@claim("A22", expected="without noise the bits give more accuracy than the CNN trained as a whole, on each data set")
def bits_above_the_network(found: Evidence) -> Finding:
    parts = {}
    for name in planned(found, NO_PRIVACY, "cnn"):
        bits, whole = (at(found, name, CLEAN, math.inf, model=model) for model in ("ann", "cnn"))
        parts[name] = Inside(f"accuracy of the bits minus the CNN's on {name}", minus(bits, whole), low=0)
    return settle(found, {"": parts}, wanted_all=DATASETS)  # a longer training of the CNN would only widen the gap


@claim("A23", expected=f"at least {0.98 - PRINTED:g} in training and 0.75 to 0.80 in testing, {PRINTED} on either side")
def overfits(found: Evidence) -> Finding:
    made = {metric: at(found, "cifar10", metric, math.inf, model="ann") for metric in (TRAINING, CLEAN)}
    parts = [
        Inside("accuracy in training", made[TRAINING], low=0.98 - PRINTED),
        Inside("accuracy in testing", made[CLEAN], 0.75 - PRINTED, 0.80 + PRINTED),
    ]
    return settle(found, {"": {"cifar10": Every(parts)}})


@claim("A24", expected="at eps = 0.5 on CIFAR-10 more accuracy than the CNN without privacy, in one of the readings")
def above_no_privacy(found: Evidence) -> Finding:
    whole = at(found, "cifar10", CLEAN, math.inf, model="cnn")

    def test(reading: str) -> Parts:
        ours = at(found, "cifar10", CLEAN, 0.5, reading=reading)
        return {"cifar10": Inside(f"accuracy with reading {reading} minus the CNN's", minus(ours, whole), low=0)}

    limit, cannot = _ceiling("cifar10", 0.5)
    return by_reading(found, test, impossible=cannot if limit < whole.mean - whole.half(ALPHA) else "")
