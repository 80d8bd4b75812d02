"""TLDP's statements about privacy and structure, decided with exact curves (docs/mathematics/papers.md#tldp)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

import pandas as pd
import torch
from scipy import optimize

from tensorldp.composition import compose
from tensorldp.mechanism_table import NO_PRIVACY
from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.randomized_response import KaryRandomizedResponse, RandomizedResponse
from tensorldp.mechanisms.tldp import TldpLaplace
from tensorldp.randomness import generator
from tensorldp_papers.claims.base import Finding, NotRun, claim, named, not_checkable
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.fairness import settle, shortfall, weakly
from tensorldp_papers.claims.laws import squared_error
from tensorldp_papers.claims.statements import (
    LEAST_SEEDS,
    AllOf,
    Between,
    Estimate,
    Shortfall,
    Statement,
    estimate,
    joined,
    minus,
    per_seed,
)
from tensorldp_papers.extractors import TRAININGS
from tensorldp_papers.papers.tldp.claims.errors import LOWER
from tensorldp_papers.papers.tldp.claims.runs import F1, IMAGES, TLDP

STUDY, TANH, RELU6 = "tldp_type2", "mobilenet_v2_tanh", "mobilenet_v2"
SIDE = 28
USUALLY = 0.5  # "preserving" means at the least: more often than not
READINGS = {"weights that were trained with ReLU6": ("",), "weights that were trained again": TRAININGS}
ONE_TRAINING = "one training of each network, which all seeds share"
ONE_READING = f"{' and '.join(READINGS)} were not both run"
UNPERTURBED = "frozen weights and no noise, where the paper speaks of what bounded features do for private ones"
SYMMETRIC_PAIRS = SIDE * (SIDE - 1) // 2
LEAD = "F1 with tanh minus with ReLU6 on {}"
EVERYWHERE, LEAST = "on average over the epsilons", "at the smallest epsilon"


def _has(evidence: Evidence, name: str, mechanisms: Iterable[str], ending: str = "") -> bool:
    """Whether the network with ReLU6 was run with all of these mechanisms."""
    return all(evidence.cells(STUDY, dataset=name, mechanism=one, backbone=RELU6 + ending) for one in mechanisms)


def _trainings(evidence: Evidence, name: str, endings: tuple[str, ...]) -> list[str]:
    """The trainings that speak on a data set: all, or the first where they are too few to count as seeds."""
    made = [ending for ending in endings if _has(evidence, name, TLDP, ending)]
    return made if len(made) >= LEAST_SEEDS else made[:1]


def _scores(evidence: Evidence, name: str, mechanisms: tuple[str, ...], endings: Iterable[str]) -> pd.DataFrame:
    """The scores of both networks after each training, at the epsilons that both have."""
    trained = []
    for ending in endings:
        both = pd.concat(
            evidence.rows(STUDY, F1, dataset=name, mechanism=mechanisms, backbone=backbone + ending, range=None).assign(
                backbone=backbone, training=ending
            )
            for backbone in (TANH, RELU6)
        )
        trained.append(both[both.groupby("epsilon")["backbone"].transform("nunique") == 2])
    return pd.concat(trained)


def _lead(scores: pd.DataFrame) -> Estimate:
    """The mean with tanh minus that with ReLU6; each of several trainings is one value."""
    of = {key: per_seed(rows) for key, rows in scores.groupby(["backbone", "training"])}
    first, *others = scores["training"].unique()
    if not others:
        return minus(of[TANH, first], of[RELU6, first])
    tanh, relu6 = (estimate([of[name, training].mean for training in (first, *others)]) for name in (TANH, RELU6))
    return minus(tanh, relu6)


def _by_epsilon(scores: pd.DataFrame) -> str:
    means = scores.groupby(["backbone", "epsilon"])["value"].mean()
    return ", ".join(f"{value:.2f} at {epsilon:g}" for epsilon, value in (means[TANH] - means[RELU6]).items())


def _reading(evidence: Evidence, how: str, runs: dict[str, list[str]]) -> tuple[Statement, list[str], dict[str, float]]:
    """Of one reading, by the trainings on each data set: the statement, what is told, and the numbers in that."""
    several = all(len(made) > 1 for made in runs.values())
    said = f"{how}, each training a seed" if several else how
    scores = {name: _scores(evidence, name, TLDP, made) for name, made in runs.items()}
    parts = [
        Between(
            f"{LEAD.format(name)}, {said}, by TLDP's releases {EVERYWHERE}",
            _lead(scores[name]),
            low=0,
            weak=shortfall(evidence.cells(STUDY, dataset=name, mechanism=NO_PRIVACY, backbone=RELU6 + made[0])),
            dataset=name,
        )
        for name, made in runs.items()
    ]
    told = [f"{how}, by epsilon: {'; '.join(f'{_by_epsilon(both)} on {name}' for name, both in scores.items())}"]
    numbers = {}
    for name, mechanism in product(runs, TLDP):
        both = _scores(evidence, name, (mechanism,), runs[name])
        least = _lead(both[both["epsilon"] == both.groupby("training")["epsilon"].transform("min")]).mean
        told.append(f"{how}, {LEAST}: {mechanism} {least:.2f} on {name}")
        numbers[f"{how}, {LEAST}: {mechanism} on {name}"] = least
    one = not several and READINGS[how] == TRAININGS
    return weakly(AllOf(parts), ONE_TRAINING if one else ""), told, numbers


@claim(
    "T57",
    expected="F1 of a classifier of TLDP's releases higher with tanh than with ReLU6, at equal nominal epsilons, on "
    "average over them as in T60",
)
def tanh_helps(evidence: Evidence) -> Finding:
    """With TLDP's noise where both networks were run with it, and otherwise without any, which refutes nothing.

    Each network's noise is made for its own range, 2 or 6: with one printed Delta tanh would have no less noise. The
    paper does not say whether the network was trained again after its ReLU6 were replaced: it gets the better of the
    two readings. It names no epsilon either, so that the average decides, and the smallest epsilon is only told. Where
    only one reading was run, that one refutes nothing. Of networks that were trained again, each training is one
    value; with fewer than three of each network the seeds of the first speak, and refute nothing.
    """
    clean = [name for name in IMAGES if _has(evidence, name, [NO_PRIVACY])]
    noisy = [name for name in clean if _has(evidence, name, TLDP)]
    if not clean:
        raise NotRun(f"needs {STUDY} on features of {RELU6}, the network with ReLU6, beside {TANH}")
    unperturbed = {
        name: Between(
            f"{LEAD.format(name)}, unperturbed",
            _lead(_scores(evidence, name, (NO_PRIVACY,), [""])),
            low=0,
            weak=Shortfall((name, UNPERTURBED)),
            dataset=name,
        )
        for name in clean
    }
    if not noisy:
        return settle(evidence, list(unperturbed.values()), datasets=IMAGES)
    readings: dict[str, Statement] = {}
    told = [f"without noise {', '.join(f'{part.value.mean:.2f} on {name}' for name, part in unperturbed.items())}"]
    numbers: dict[str, float] = {}
    for how, endings in READINGS.items():
        if runs := {name: made for name in noisy if (made := _trainings(evidence, name, endings))}:
            readings[how], texts, leads = _reading(evidence, how, runs)
            told, numbers = told + texts, numbers | leads
    if len(readings) < len(READINGS):
        readings = {reading: weakly(statement, ONE_READING) for reading, statement in readings.items()}
    options = {f"with {how} alone": statement for how, statement in readings.items()}
    found = [*named(numbers), *(part.number() for part in unperturbed.values())]
    return settle(evidence, options, joined(told), datasets=IMAGES, numbers=found)


@claim("T58", expected="the probability that a pair of elements stays equal under independent noise, 0 for a density")
def independent_noise_breaks_symmetry() -> Finding:
    """Two independent draws of a continuous law are equal with probability 0, whatever its scale."""
    made = make("laplace", epsilon=1.0, domain=Box(-1, 1, (SIDE, SIDE)))
    atom = made.curve().atom
    return Finding.of(
        atom == 0,
        f"the Laplace mechanism's law has atoms of mass {{mass of atoms:g}}, so that each of the {SYMMETRIC_PAIRS} "
        f"pairs of a {SIDE} x {SIDE} tensor stays equal with probability 0; noise on the upper half, copied to the "
        "lower, keeps the symmetry",
        {"mass of atoms": atom},
    )


@claim(
    "T59",
    expected="the shape of the tensor and, more often than not, the symmetry of a symmetric one: the two structures "
    "that the paper names",
)
def structure() -> Finding:
    released = make("tldp-l", epsilon=1.0, domain=Box(-1, 1, (2, 3, 4))).privatize(
        torch.zeros(1, 2, 3, 4, dtype=torch.float64), generator("T59")
    )
    square = Box(-1, 1, (SIDE, SIDE))
    best = 1 / (SIDE**2 - 1)  # at which an element is kept most often: exp(-(I - 1) epsilon) epsilon / (2 Delta)
    # of the probability that both sides of each pair are kept
    logs = {
        epsilon: 2 * SYMMETRIC_PAIRS * TldpLaplace(epsilon=epsilon, domain=square).log_retention / math.log(10)
        for epsilon in (best, 0.1, 1.0, 10.0)
    }
    symmetric = max(logs.values()) > math.log10(USUALLY)
    texts = (f"{{log10 of the probability to stay symmetric at {e:.3g}:.4g}} at nominal {e:.3g}" for e in logs)
    return Finding.of(
        released.shape == (1, 2, 3, 4),
        f"a 2 x 3 x 4 tensor is released as {' x '.join(map(str, released.shape[1:]))}, as with any noise on each "
        f"element; log10 of the probability that a symmetric {SIDE} x {SIDE} tensor stays symmetric: {', '.join(texts)}"
        f": both sides of all {SYMMETRIC_PAIRS} pairs must be kept, since the noise of TLDP is independent, too",
        {f"log10 of the probability to stay symmetric at {e:.3g}": value for e, value in logs.items()},
        condition="" if symmetric else "of the shape, which noise on each element keeps anyway; not of symmetry",
    )


IMAGE = Box(0, 255, (28, 28))
ELEMENT = Box(0, 1, (1,))
EIGHT_ELEMENTS, EIGHT_GREY_LEVELS = Box(0, 1, (8,)), Box(0, 255, (8,))
SHAPES_OF_24 = ((24,), (4, 6), (2, 3, 4))
MODEL = Box(-1, 1, (2_236_682,))  # MobileNetV2 with 10 classes
WEIGHTED: tuple[tuple[str, dict[str, float]], ...] = (("tldp-l", {}), ("tldp-l-w", {"weights": 0.5}))
ROUNDING = 1e-9
LEAST_GAIN = 1e-6  # a share of the error; the search for the best retention stops at about 1e-9
# a nominal epsilon is what TLDP-L has for one element; the paper's words on Figure 1 are about those below 1
NOMINAL_EPSILONS = (0.1, 1.0, 5.0, 10.0)
BEYOND_THEM = (10.57, 12.0)  # beyond that range: more than 8,283 nats for an MNIST image
# nominal, up to 422; the largest of Figures 1 to 3 is 500
EPSILONS_OF_TLDP = tuple(10 ** (k / 8) for k in range(-40, 22))


not_checkable(
    __name__,
    {
        "T01": ("no earlier work", "a claim of priority over all earlier work, which no computation decides"),
        "T22": (
            "an error of C times the Laplace mechanism's",
            "neither DPHSGD's noise nor the constant C is specified; ours is a reconstruction",
        ),
        "T51": (
            "the order that the figure draws",
            "neither LLAGP's nor DPHSGD's parameters are given; ours are reconstructions, so their place among the "
            "others says nothing about the paper's",
        ),
    },
)


@claim(
    "T02",
    expected="with TLDP's own probability to keep an element of an image, less error at a true epsilon, at some budget",
)
def retention_substitutes_noise() -> Finding:
    """The best probability to keep an element, which is another mechanism's, is only told."""
    gains = {element: retention_gain(element) for element in (*NOMINAL_EPSILONS, *BEYOND_THEM)}
    own = {epsilon: own_retention_gain(epsilon, IMAGE) for epsilon in EPSILONS_OF_TLDP}
    words = ", ".join(f"{{error without retention over the least at {e:g}:.6f}} at {e:g}" for e in gains)
    paying = min((e for e, gain in gains.items() if gain > 1 + LEAST_GAIN), default=math.inf)
    most = 1 / (IMAGE.size - 1)  # at which TLDP-L keeps an element most often
    return Finding.of(
        max(own.values()) > 1 + LEAST_GAIN,
        "on the 256 grey levels, where keeping an element can be private at all, with TLDP-L's probabilities for an "
        "MNIST image the error without retention is at most {error without retention over that with it, at most:.6f} "
        "times that with it at one true epsilon, and {error without retention over that with it, most kept:.2g} times "
        f"at nominal {most:.3g}, where most is kept; over the least with any probability, which TLDP does not have, it "
        f"is {words} nats an element ({NOMINAL_EPSILONS[-1] * 784:,.0f} for an MNIST image at "
        f"{NOMINAL_EPSILONS[-1]:g})",
        {"error without retention over that with it, at most": max(own.values())}
        | {"error without retention over that with it, most kept": own_retention_gain(most, IMAGE)}
        | {f"error without retention over the least at {e:g}": gain for e, gain in gains.items()}
        | {"nats of an element from which on keeping it saves noise": paying},
    )


def retention_gain(element: float) -> float:
    """Returns the squared error of a grey level without retention over the least with it, at one exact epsilon."""
    plain, best = (squared_error("tldp-discrete", Box(0, 255, (1,)), element, rho=rho) for rho in (0.0, "best"))
    return plain / best


def own_retention_gain(epsilon: float, box: Box) -> float:
    """Returns the squared error of a grey level without retention over that with TLDP-L's own, at one exact epsilon.

    Two-sided geometric noise of TLDP-L's scale stands for its Laplace noise, with which nothing kept is private.
    Keeping with odds o adds log(1 + o / tanh(s / 2)) to the epsilon of an element, s being one over the scale.
    """
    made = TldpLaplace(epsilon=epsilon, domain=box)
    odds, rate = made.retention / (1 - made.retention), 1 / made.scale
    spent = epsilon + math.log1p(odds / math.tanh(rate / 2))
    with_it = (1 - made.retention) / (2 * math.sinh(rate / 2) ** 2)
    return 1 / (2 * math.sinh(spent / box.width / 2) ** 2) / with_it


@claim("T03", expected="exactly ln(p / (1 - p)) for each p")
def randomized_response() -> Finding:
    worst = 0.0
    for p in (0.55, 0.75, 0.9, 0.99):
        mechanism = RandomizedResponse(epsilon=math.log(p / (1 - p)), domain=ELEMENT)
        worst = max(worst, abs(mechanism.keep - p), abs(mechanism.curve().pure_epsilon - math.log(p / (1 - p))))
    return Finding.of(
        worst < ROUNDING,
        "largest deviation {largest deviation of p or epsilon:.1e} for p = 0.55, 0.75, 0.9, 0.99",
        {"largest deviation of p or epsilon": worst},
    )


@claim("T04", expected="(1 - p) / (n - 1) each")
def other_values() -> Finding:
    made = {values: KaryRandomizedResponse(epsilon=1.0, domain=Box(0, values - 1, (1,))) for values in (3, 10, 256)}
    worst = max(abs(math.exp(one.log_other) - (1 - one.keep) / (values - 1)) for values, one in made.items())
    return Finding.of(
        worst < ROUNDING,
        "largest deviation {largest deviation of a probability:.1e} for 3, 10 and 256 values",
        {"largest deviation of a probability": worst},
    )


@claim("T05", expected="KL <= epsilon", condition_is="reading")
def kl_divergence() -> Finding:
    """Between the outputs on two inputs; between one record before and after, KL falls as epsilon grows."""
    ratios = []
    for epsilon in (0.01, 0.1, 1.0, 10.0):
        p = 1 / (1 + math.exp(-epsilon))
        ratios.append((2 * p - 1) * epsilon / epsilon)  # randomised response
        ratios.append((epsilon - 1 + math.exp(-epsilon)) / epsilon)  # Laplace
    return Finding.of(
        max(ratios) <= 1,
        "KL / epsilon is {least KL / epsilon:.3g} to {largest KL / epsilon:.3g} for randomised response and Laplace "
        "between the outputs on two inputs, where epsilon also bounds the larger max-divergence; between a bit before "
        "and after randomised response at epsilon 0.1 KL is {KL of a bit before and after:.3f}",
        {"least KL / epsilon": min(ratios), "largest KL / epsilon": max(ratios)}
        | {"KL of a bit before and after": math.log1p(math.exp(-0.1))},
        condition="between the outputs on two inputs, not between the data before and after perturbation",
    )


@claim("T06", expected="one profile of a vector, a tensor of order one, and of the same elements in two more orders")
def scalar_is_a_tensor() -> Finding:
    points = (0.0, 0.3, 0.9, 1.0, 2.0)
    curve = make("laplace", epsilon=1.0, domain=ELEMENT).curve()
    worst = max(abs(curve.delta(e) - max(0.0, 1 - math.exp((e - 1) / 2))) for e in points)
    vector, *tensors = (make("tldp-l", epsilon=0.1, domain=Box(0, 1, shape)).curve() for shape in SHAPES_OF_24)
    apart = max(abs(vector.delta(e) - tensor.delta(e)) for tensor in tensors for e in points)
    return Finding.of(
        max(worst, apart) < 1e-8,
        f"profiles of TLDP-L on {' and '.join(' x '.join(map(str, shape)) for shape in SHAPES_OF_24)} elements: "
        "{distance of the profiles:.1e} apart; of a 1-element tensor against the scalar closed form: "
        "{distance from the scalar's profile:.1e}",
        {"distance of the profiles": apart, "distance from the scalar's profile": worst},
    )


@claim("T07", expected="Delta = the largest distance of two records")
def delta_is_the_sensitivity() -> Finding:
    a, b = make("laplace", epsilon=1.0, domain=IMAGE).worst_pair()
    l1, l2 = float((a - b).abs().sum()), float((a - b).norm())
    return Finding.of(
        l1 == IMAGE.width or l2 == IMAGE.width,
        "a black and a white 28 x 28 image are {largest l1 distance:.0f} (l1) and {largest l2 distance:.0f} (l2) "
        f"apart, Delta is {IMAGE.width:.0f}: it is the sensitivity of one element; the maximum norm has "
        f"{IMAGE.width:.0f}, too, but it is not affected by the size of tensors, as the paper says that sensitivity is",
        {"largest l1 distance": l1, "largest l2 distance": l2},
    )


@claim("T08", expected="pure epsilon of the image = nominal epsilon")
def tldp_l() -> Finding:
    curve, ours = (make("tldp-l", epsilon=1.0, domain=IMAGE, delta_range=delta).curve() for delta in (256, 255))
    bias = make("tldp-l", epsilon=0.1, domain=Box(0, 255, (10,)), delta_range=256).curve()
    return Finding.of(
        curve.pure_epsilon <= 1 and curve.log_atom == bias.log_atom == -math.inf,
        "at nominal 1 and Delta = 256, as Table 2 prints, an MNIST image has {epsilon without atoms at Delta 256:.1f} "
        "with the atoms removed and {epsilon at delta 1e-5, Delta 256:.1f} at delta 1e-5; with Delta = 255, the range "
        "of a grey level, {epsilon without atoms at Delta 255:.1f} and {epsilon at delta 1e-5, Delta 255:.1f}; a kept "
        "element has no finite epsilon (with Delta = 256 and 10 elements at nominal 0.1 one is kept with probability "
        "{probability to keep one of 10:.2g})",
        {f"epsilon without atoms at Delta {of}": one.pure_epsilon for of, one in ((256, curve), (255, ours))}
        | {f"epsilon at delta 1e-5, Delta {of}": one.epsilon(1e-5) for of, one in ((256, curve), (255, ours))}
        | {"probability to keep one of 10": bias.atom},
    )


@claim("T09", expected="delta(nominal epsilon) = 0")
def tldp_g() -> Finding:
    curve = make("tldp-g", epsilon=1.0, domain=IMAGE, delta_range=256).curve()
    return Finding.of(
        curve.delta(1.0) == 0 and math.isfinite(curve.pure_epsilon),
        "at nominal 1 and Delta = 256 an MNIST image has delta(1) = {delta(1):.6f}, {epsilon at delta 1e-5:.0f} at "
        "delta 1e-5 and no finite pure epsilon",
        {"delta(1)": curve.delta(1.0), "epsilon at delta 1e-5": curve.epsilon(1e-5)},
    )


@claim("T10", expected="for every number t of kept elements")
def exponent_step() -> Finding:
    mechanism = TldpLaplace(epsilon=1.0, domain=IMAGE)
    log_base = mechanism.log_retention - math.log1p(-mechanism.retention) + math.log(2 * mechanism.scale)
    none_kept = mechanism.size * math.log1p(-mechanism.retention)
    return Finding.of(
        log_base >= 0,
        "counterexample t = 0, which has probability {probability of t = 0:.6f}: the left side is 1, the right side "
        "e^({log of the right side at t = 0:.0f}); it holds for every t from 1 on",
        {"probability of t = 0": math.exp(none_kept), "log of the right side at t = 0": log_base},
    )


@claim("T11", expected="pure epsilon = nominal epsilon")
def laplace_baseline() -> Finding:
    worst = max(abs(make("laplace", epsilon=e, domain=IMAGE).curve().pure_epsilon / e - 1) for e in (0.1, 1.0, 10.0))
    return Finding.of(
        worst < ROUNDING,
        "relative deviation {relative deviation of epsilon:.1e} at nominal 0.1, 1 and 10",
        {"relative deviation of epsilon": worst},
    )


@claim("T12", expected="scales in the ratio 1/I and the same exact epsilon")
def scale_ratio() -> Finding:
    ours, theirs = TldpLaplace(epsilon=1.0, domain=IMAGE), make("laplace", epsilon=1.0, domain=IMAGE)
    scale = math.sqrt(squared_error("laplace", IMAGE) / (2 * IMAGE.size))
    a, b = ours.curve().pure_epsilon, theirs.curve().pure_epsilon
    return Finding.of(
        abs(ours.scale / scale * IMAGE.size - 1) < ROUNDING and abs(a / b - 1) < ROUNDING,
        "the scales are in the ratio 1/{Laplace's scale over TLDP-L's:.6g}, but the budgets are "
        "{epsilon of TLDP-L:.0f} and {epsilon of Laplace:.0f}: the same mechanism with epsilon relabelled by I",
        {"Laplace's scale over TLDP-L's": scale / ours.scale, "epsilon of TLDP-L": a, "epsilon of Laplace": b},
    )


@claim("T13", expected="delta(epsilon) = 0")
def gaussian_baseline() -> Finding:
    curve = make("gaussian", epsilon=1.0, domain=IMAGE).curve()
    return Finding.of(
        curve.delta(1.0) == 0,
        "delta(1) = {delta(1):.3f} at nominal 1; {epsilon at delta 1e-5:.2f} at delta 1e-5, and no finite pure epsilon",
        {"delta(1)": curve.delta(1.0), "epsilon at delta 1e-5": curve.epsilon(1e-5)},
    )


@claim("T14", expected="variances in the ratio 1/I and the same epsilon at delta 1e-5")
def variance_ratio() -> Finding:
    ours, theirs = (squared_error(name, IMAGE) for name in ("tldp-g", "gaussian"))
    budgets = [make(name, epsilon=1.0, domain=IMAGE).curve().epsilon(1e-5) for name in ("tldp-g", "gaussian")]
    return Finding.of(
        abs(ours / theirs * IMAGE.size - 1) < 1e-6 and abs(budgets[0] / budgets[1] - 1) < 1e-6,
        "the variances are in the ratio 1/{variance of Gaussian over TLDP-G's:.6g}, but at delta 1e-5 the budgets are "
        "{epsilon of TLDP-G:.2f} and {epsilon of Gaussian:.2f}",
        {"variance of Gaussian over TLDP-G's": theirs / ours}
        | {"epsilon of TLDP-G": budgets[0], "epsilon of Gaussian": budgets[1]},
    )


@claim("T15", expected="the likelihood ratio stays below (1 - w) e^epsilon for every w in [0, 1]")
def weighted_bound() -> Finding:
    weight, epsilon = 0.9, 1.0
    bound = math.log((1 - weight) * math.exp(epsilon))
    curve = make("tldp-l-w", epsilon=epsilon, domain=IMAGE, weights=weight).curve()
    return Finding.of(
        curve.pure_epsilon <= bound,
        f"with w = {weight} the bound is {{bound on the likelihood ratio:.3f}} < 1, but two densities that integrate "
        "to 1 have a ratio of at least 1 somewhere; the exact one is e^{log of the exact ratio:.0f}",
        {"bound on the likelihood ratio": math.exp(bound), "log of the exact ratio": curve.pure_epsilon},
    )


@claim("T16", expected="a smaller delta with weights than without, also with weights that are private, as the paper's")
def weights_strengthen() -> Finding:
    """With Delta = 1, the largest in which a record of 8 elements is kept with a chance that can be seen."""
    small = [make(name, epsilon=0.3, domain=EIGHT_ELEMENTS, **options).curve() for name, options in WEIGHTED]
    private = make("tldp-l-w", epsilon=0.3, domain=EIGHT_ELEMENTS).curve()
    image = [make(name, epsilon=1.0, domain=IMAGE, **options).curve().epsilon(1e-5) for name, options in WEIGHTED]
    lower = private.atom < small[0].atom
    return Finding.of(
        small[1].atom < small[0].atom,
        "with Delta = 1 public weights of 0.5 lower the probability to give 8 elements away from "
        "{8 elements given away without weights:.4f} to {8 elements given away with public weights:.4f}; private ones "
        "leave it at {8 elements given away with private weights:.4f}, and delta(1) at "
        "{delta(1) with private weights:.4f} ({delta(1) without weights:.4f} without weights); at the sizes of the "
        "experiments nothing changes: {epsilon of MNIST without weights:.4f} and {epsilon of MNIST with weights:.4f} "
        "at delta 1e-5 for MNIST",
        {
            "8 elements given away without weights": small[0].atom,
            "8 elements given away with public weights": small[1].atom,
            "8 elements given away with private weights": private.atom,
            "delta(1) with private weights": private.delta(1.0),
            "delta(1) without weights": small[0].delta(1.0),
            "epsilon of MNIST without weights": image[0],
            "epsilon of MNIST with weights": image[1],
        },
        condition=""
        if lower
        else "of public weights alone, and of records of few elements with a small Delta; the paper's weights are the "
        "record's own grey levels",
    )


@claim("T53", expected="1e-5 in every study of the paper: by construction")
def fixed_delta(evidence: Evidence) -> Finding:
    used = {cell.delta for cell in evidence.plan.cells if cell.study.startswith("tldp")}
    if not used:
        raise NotRun("needs a study of tldp, but none is chosen")
    return Finding.of(
        used == {1e-5},
        f"our studies of the paper set delta {sorted(used)}",
        {"least delta that is set": min(used), "largest delta that is set": max(used)},
        condition="by construction: the studies set it, and neither TLDP method uses it",
    )


@claim("T54", expected="both pure")
def noise_satisfies_ldp() -> Finding:
    pure = {name: make(name, epsilon=1.0, domain=IMAGE).curve().pure_epsilon for name in ("laplace", "gaussian")}
    return Finding.of(
        all(e <= 1 + ROUNDING for e in pure.values()),
        "pure epsilon at nominal 1: Laplace {pure epsilon of laplace:.6f}, Gaussian {pure epsilon of gaussian}",
        {f"pure epsilon of {name}": e for name, e in pure.items()},
    )


@claim("T55", expected="the parameters of a user have the nominal epsilon")
def parameters() -> Finding:
    mechanism = make("tldp-l", epsilon=100.0, domain=MODEL)
    one, all_rounds = mechanism.curve().pure_epsilon, compose(mechanism, count=10, delta=1e-5).epsilon
    printed = make("tldp-l", epsilon=100.0, domain=MODEL, delta_range=256).curve().pure_epsilon
    return Finding.of(
        min(one, printed) <= 100,
        "MobileNetV2's 2,236,682 parameters at nominal 100: {epsilon of a round:.3g} in one round with Delta = 2, the "
        "range of clipped parameters, and {epsilon of a round with the printed Delta:.3g} with the printed Delta = "
        "256; {epsilon of ten rounds at delta 1e-5:.3g} at delta 1e-5 after ten with Delta = 2",
        {"epsilon of a round": one, "epsilon of a round with the printed Delta": printed}
        | {"epsilon of ten rounds at delta 1e-5": all_rounds},
    )


@claim(
    "T56", expected=f"at the paper's Delta at most {1 - LOWER:g} of the squared error with weights, at an equal epsilon"
)
def weights_reduce_noise() -> Finding:
    """At an equal nominal epsilon and at an equal true one, at delta 1e-5: the paper does not say which."""
    (plain, options), (weighted, other) = WEIGHTED
    chance = make(plain, epsilon=0.3, domain=EIGHT_GREY_LEVELS, delta_range=255, **options).curve().atom
    before, after = (squared_error(name, IMAGE, **more) for name, more in WEIGHTED)
    target = make(plain, epsilon=1.0, domain=IMAGE, **options).curve().epsilon(1e-5)
    equal = optimize.brentq(
        lambda e: make(weighted, epsilon=e, domain=IMAGE, **other).curve().epsilon(1e-5) - target, 0.5, 2.0
    )
    matched = squared_error(weighted, IMAGE, equal, **other)
    return Finding.of(
        min(after, matched) < before * (1 - LOWER),
        "an MNIST image, Delta = 255: with weights of 0.5 the error is {error with weights at nominal 1:.6f} of that "
        "without at nominal 1 and {error with weights at a true epsilon:.6f} at an equal true epsilon of "
        "{true epsilon:.1f}; of 8 elements at nominal 0.3 any is kept with probability "
        "{probability to keep one of 8:.2g} alone",
        {"error with weights at nominal 1": after / before, "error with weights at a true epsilon": matched / before}
        | {"true epsilon": target, "probability to keep one of 8": chance},
    )
