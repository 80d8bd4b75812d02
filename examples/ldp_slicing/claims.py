"""What LDP-Slicing states. Its seven budgets are those of one colour pixel; its faces have 112 x 112 pixels."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tensorldp.mechanisms import Box, make
from tensorldp.randomness import generator
from tensorldp_papers.claims.base import Claim, Finding, claim
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.fairness import on_each_dataset, settle
from tensorldp_papers.claims.statements import minus

from .method import LdpSlicing

Check = Callable[..., Finding]
BUDGETS = (1.0, 2.4, 5.2, 12.0, 20.0, 32.0, 58.0)


def state(number: int, place: str, text: str, kind: str, expected: str, **options: Any) -> Callable[[Check], Check]:
    return claim(Claim(f"LDPS{number}", "ldp-slicing", place, text, kind), expected=expected, **options)


def image(epsilon: float, height: int = 1, width: int = 1, **options: Any) -> LdpSlicing:
    return LdpSlicing(epsilon=epsilon, domain=Box(0, 255, (height, 3 * width)), channels=3, **options)


def weighted_error(epsilon: float, **options: Any) -> float:
    """The worst squared error of Y, Cb and Cr, weighted by 4, 1 and 1 as the paper weights channels."""
    flip, unit = 1 / (1 + np.exp(image(epsilon, **options).budgets)), 2.0 ** np.arange(8)
    return float(np.average((flip - flip**2) @ unit**2 + (flip @ unit) ** 2, weights=[4, 1, 1]))


@state(1, "Theorem 3", "24 coins with budgets that sum to epsilon make a pixel epsilon-LDP", "theorem", "a ratio of 1")
def one_pixel() -> Finding:
    ratios = [image(e).guarantee(0.0).epsilon / e for e in BUDGETS[::3]]
    return Finding(max(abs(r - 1) for r in ratios) < 1e-9, f"ratios from {min(ratios):.9g} to {max(ratios):.9g}")


@state(2, "abstract", "the pipeline, obfuscation included, has pixel-level epsilon-LDP", "theorem",
       "a loss of at most the budget of 20 for one pixel, before the obfuscation or else after it")  # fmt: skip
def pipeline() -> Finding:
    loss = {}
    for how in ("none", "ll"):
        m = image(20.0, 2, 2, obfuscation=how)
        first, second = (record.unsqueeze(0) for record in m.worst_pair())
        second[:, 1:], second[:, :, 3:] = first[:, 1:], first[:, :, 3:]  # all but one pixel
        bits = (m.levels(first) ^ m.levels(second)).reshape(4, 3, 1) >> torch.arange(8) & 1
        loss[how] = float((bits.numpy() * m.budgets).sum())
    condition = "neighbours differ in one pixel of the obfuscated image, or nothing is obfuscated"
    seen = f"a loss of {loss['none']:.6g}, with obfuscation {loss['ll']:.6g}"
    return Finding(loss["none"] < 20 + 1e-9, seen, "", condition if loss["ll"] > 20 + 1e-9 else "")


@state(3, "Definition 1", "images are told apart with an advantage of at most tanh(epsilon / 2) / 2", "theorem",
       "total variation at most tanh(epsilon / 2), of images or else pixels, with the budget of a pixel")  # fmt: skip
def advantage() -> Finding:
    held = all(image(e).curve().delta(0.0) <= np.tanh(e / 2) for e in BUDGETS[::3])
    one, face, limit = (*(image(1.0, n, n).curve().delta(0.0) for n in (1, 112)), np.tanh(0.5))
    condition = "" if face <= limit else "images differ in one pixel, or epsilon is the sum over all pixels"
    return Finding(held, f"at 1: pixel {one:.4g}, face {face:.4g}, limit {limit:.4g}", "", condition)


@state(4, "Theorem 3", "the sum over pixels is a loose bound for an image", "theorem",
       "a face's exact epsilon at delta = 1e-5 is at most half of the sum at 1, 12 or 20")  # fmt: skip
def loose() -> Finding:
    exact = {e: image(e, 112, 112).guarantee(1e-5).epsilon for e in (1.0, 12.0, 20.0)}
    seen = ", ".join(f"{value:,.0f} of {e * 112**2:,.0f}" for e, value in exact.items())
    where = [f"{e:g}" for e, value in exact.items() if value <= e * 112**2 / 2]
    return Finding(bool(where), seen, "", f"delta = 1e-5 and a budget of {' or '.join(where)}; delta = 0 attains it")


@state(5, "budget allocation", "budgets as sqrt(W) minimise the sum of W / budget", "theorem",
       "the same W / budget^2 for all bits; at 20 the printed 0.276 and 3.124 for Y's ends")  # fmt: skip
def optimum() -> Finding:
    m = image(20.0)
    slopes, (first, *_, last) = m.weights / m.budgets**2, m.budgets[0]
    held = np.ptp(slopes) < 1e-9 * slopes.max() and abs(first - 0.276) < 6e-4 and abs(last - 3.124) < 6e-4
    return Finding(bool(held), f"slopes differ by {np.ptp(slopes) / slopes.max():.1e}; {first:.4f}, {last:.4f}")


@state(6, "budget allocation", "equal budgets are suboptimal", "theorem",
       "more squared error at the seven budgets, channels weighted 4:1:1")  # fmt: skip
def unequal() -> Finding:
    ratios = [weighted_error(e, allocation="uniform") / weighted_error(e) for e in BUDGETS]
    return Finding(min(ratios) > 1, f"{min(ratios):.3g} to {max(ratios):.3g} times the error")


@state(7, "introduction", "bits keep more of a pixel than 256-ary randomised response", "theorem",
       "at 20 less squared error, weighted 4:1:1, than k-RR with a third of it a channel")  # fmt: skip
def bits_or_values() -> Finding:
    errors = {e: make("k-rr", epsilon=e / 3, domain=Box(0, 255, (1,))).squared_error() for e in BUDGETS}
    ratio = {e: weighted_error(e) / (error or np.nan) for e, error in errors.items()}
    above = [f"{e:g}" for e, r in ratio.items() if r >= 1]
    seen = ", ".join(f"{r:.3g} at {e:g}" for e, r in ratio.items())
    return Finding(ratio[20.0] < 1, f"ratios {seen}", "", f"not at {' and '.join(above)}" if above else "")


@state(8, "CIFAR figures", "the budgets of the comparison with DP-SGD are comparable", "descriptive",
       "at delta = 1e-10 a CIFAR image has at most ten times the nominal 12, or else a pixel has")  # fmt: skip
def same_unit() -> Finding:
    whole, one = (m.guarantee(1e-10).epsilon for m in (image(12.0, 32, 32), image(12.0)))
    condition = "" if whole <= 120 else f"of one pixel; a whole image has {whole / 12:.0f} times the budget"
    return Finding(one <= 120, f"image {whole:,.0f}, pixel {one:.4g}", "", condition)


@state(9, "overhead", "milliseconds for a face and no more storage", "cost", "below 68 ms, as many elements")
def overhead() -> Finding:
    m, times = image(20.0, 112, 112), [time.perf_counter()]
    for _ in range(5):
        y = m.privatize(torch.full((1, *m.shape), 99.0), generator("overhead"))
        times.append(time.perf_counter())
    fast = float(np.median(np.diff(times))) < 0.068
    return Finding(
        fast and y.shape == (1, *m.shape), f"{'below' if fast else 'at least'} 68 ms; shape {tuple(y.shape)}"
    )


ARMS: dict[str, dict[str, Any]] = {
    "optimised": {"mechanism": "ldp-slicing", "allocation": None, "obfuscation": None},
    "equal": {"mechanism": "ldp-slicing", "allocation": "uniform", "obfuscation": None},
    "pruned": {"mechanism": "ldp-slicing", "allocation": None, "obfuscation": "ll"},
    "Laplace": {"mechanism": "laplace"},
}


@state(10, "Table 3", "accuracy collapses with equal budgets", "empirical", "at 20 over 0.01 less than optimised",
       second="equal", by=0.01)  # fmt: skip
@state(11, "Table 3", "pruning costs little accuracy", "empirical", "at 20 at most 0.02 less than without",
       first="pruned", second="optimised", by=-0.02)  # fmt: skip
@state(12, "Table 1", "more accurate than other LDP", "empirical", "at 20 above Laplace noise at equal pure epsilon",
       second="Laplace")  # fmt: skip
@state(13, "Table 4", "accuracy rises with the budget", "empirical", "at 20 over 0.1 above that at the least budget",
       second="optimised", by=0.1, end=0)  # fmt: skip
def more_accurate(evidence: Evidence, second: str, first: str = "optimised", by: float = 0.0, end: int = -1) -> Finding:
    """By accuracy on released test records at the largest budget, the 20 of the tables, on each data set."""
    arms = {name: ARMS[name] for name in (first, second)}
    parts = []
    for scores in on_each_dataset(evidence, "ldp_slicing_images", "accuracy_perturbed_test", arms):
        ours, theirs = (list(scores.points(name).values()) for name in (first, second))  # Laplace has other epsilons
        parts.append(scores.statement(f"difference on {scores.name}", minus(ours[-1], theirs[end]), by))
    return settle(evidence, parts)
