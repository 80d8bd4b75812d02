"""LATENT's statements about randomised response on bit strings (docs/mathematics/papers.md#latent).

Reading A keeps a bit with the p of Equation 6; reading B, which Section 2.3 and Equation 7 describe, keeps it with p
and tosses a fair coin otherwise.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch

from tensorldp.mechanisms import Box, make
from tensorldp.mechanisms.bits import bit_count, encode_bits
from tensorldp.randomness import generator
from tensorldp_papers.claims.base import Finding, claim, named
from tensorldp_papers.claims.laws import cifar_latent, latent, two_coins
from tensorldp_papers.nets.registry import image_layout
from tensorldp_papers.papers.latent.networks import conv_module

ROUNDING = 1e-9
SUBSTANTIAL = 0.5  # a blind guess is off by 1
NEAR_HALF = 1e-3  # "around 0.5": what a reader can tell apart in Figure 7
RECORDS = 100  # of the simulated membership test


@claim("A02", expected="pure epsilon = eps for both coins of bias p")
def biased_coins() -> Finding:
    budgets = {}
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        p = math.exp(epsilon) / (1 + math.exp(epsilon))
        one = make("randomized-response", epsilon=epsilon, domain=Box(0, 1, (1,))).curve().pure_epsilon
        budgets[epsilon] = (two_coins(p, p).pure_epsilon, two_coins(p, 0.5).pure_epsilon, one)
    both, fair, one = budgets[1.0]
    return Finding(
        all(abs(pure[0] - epsilon) < ROUNDING for epsilon, pure in budgets.items()),
        f"at p = e/(1+e) two such coins have {both:.4f}, a fair second one {fair:.4f}; one coin "
        f"between the truth and its opposite has {one:.4f}: it is true if p is the probability of a true answer",
    )


@claim("A03", expected="the largest likelihood ratio of two one-hot vectors = e^eps")
def one_hot() -> Finding:
    worst = 0.0
    for bits, epsilon in itertools.product((2, 3, 6), (0.5, 2.0)):
        per_bit = make("randomized-response", epsilon=epsilon / 2, domain=Box(0, 1, (bits,)))
        outcomes = torch.tensor(list(itertools.product((0.0, 1.0), repeat=bits)))
        hot = torch.eye(bits)
        ratio = max(
            float(per_bit.log_likelihood_ratio(outcomes, hot[i].expand_as(outcomes), hot[j].expand_as(outcomes)).max())
            for i, j in itertools.permutations(range(bits), 2)
        )
        worst = max(worst, abs(ratio - epsilon))
    return Finding(
        worst < ROUNDING,
        f"over all outcomes and pairs for 2, 3 and 6 bits the largest log ratio is within "
        f"{worst:.1e} of eps = 0.5 and 2: two one-hot vectors differ in two bits of eps/2 each",
    )


@claim("A04", expected="the largest likelihood ratio over all strings = e^eps", condition_is="reading")
def merged_string() -> Finding:
    small = latent(0.5, "A", values=2, whole=1, fraction=1)
    codes = [math.copysign(magnitude / 2, sign) for sign in (1, -1) for magnitude in range(4)]
    outcomes = torch.tensor(list(itertools.product(codes, repeat=2)), dtype=torch.float64)
    a, b = (x.expand_as(outcomes) for x in small.worst_pair())
    ratio = float(small.log_likelihood_ratio(outcomes, a, b).max())
    large, other = latent(0.5, "A").curve(), latent(0.5, "B").curve()
    return Finding(
        abs(ratio - 0.5) < ROUNDING and abs(large.pure_epsilon - 0.5) < ROUNDING,
        f"eps = 0.5, each bit kept with the p of Eq. 6: {ratio:.9f} over all {len(outcomes)} strings of 6 "
        f"bits, {large.pure_epsilon:.9f} for MNIST's 92,160; kept as Eq. 7 has it (p, else a fair coin) "
        f"they have {other.pure_epsilon:,.0f} ({other.epsilon(1e-5):,.0f} at delta 1e-5)",
        condition="" if other.pure_epsilon <= 0.5 + ROUNDING else "each bit kept with the p of Eq. 6, not as in Eq. 7",
    )


@claim("A05", expected="less than the sum over the strings, at the same probability of keeping a bit")
def merging() -> Finding:
    strings, epsilon = 9216, 0.5
    merged = latent(epsilon, "A")
    alone = latent(epsilon / strings, "A", values=1)
    apart = alone.curve().compose(strings).pure_epsilon
    full = latent(epsilon, "A", values=1).curve().compose(strings).pure_epsilon
    return Finding(
        merged.curve().pure_epsilon < apart * (1 - ROUNDING),
        f"9,216 strings apart with the coins of the merged string (P(flip) {alone.flip:.9f} and "
        f"{merged.flip:.9f}) compose to {apart:.6f}, the merged string has "
        f"{merged.curve().pure_epsilon:.6f}: the same mechanism. The r eps = {full:,.0f} of 3.1.4 is for "
        "strings with eps each, and falls because each bit gets eps/(rl), not because they are merged",
    )


@claim(
    "A06",
    expected="the share of ones that the coins of one of the readings make with the p of Eq. 6, for every y",
    condition_is="reading",
)
def share_of_ones() -> Finding:
    made, described = latent(0.5, "A"), latent(0.5, "B")
    p = 1 - made.flip
    y = np.linspace(0, 1, 11)
    printed = y * p + (1 - p) / 2
    shares = {name: y * (1 - coins.flip) + (1 - y) * coins.flip for name, coins in (("A", made), ("B", described))}
    gaps = {name: float(np.abs(printed - share).max()) for name, share in shares.items()}
    return Finding(
        min(gaps.values()) < ROUNDING,
        f"a string of ones (y = 1) at eps = 0.5, MNIST: Eq. 7 says t = {printed[-1]:.6f}, bits kept with the p of "
        f"Eq. 6 and else flipped give {shares['A'][-1]:.6f}, bits kept with p and otherwise tossed "
        f"{shares['B'][-1]:.6f}; the epsilon of these is {described.curve().pure_epsilon:,.0f}",
        condition=""
        if gaps["A"] < ROUNDING
        else f"bits kept with p and otherwise tossed, whose epsilon is {described.curve().pure_epsilon:,.0f}",
    )


def _numbered(length: int, ones: int, i: int, printed: bool) -> int:
    """F(l, k, i) of Equation 10, with its printed base case or with 2^k - 1."""
    if ones == 0:
        return 0
    if length == ones:
        return int(2 ** (ones - 1)) if printed else (1 << ones) - 1
    first = math.comb(length - 1, ones)
    if i < first:
        return _numbered(length - 1, ones, i, printed)
    return (1 << (length - 1)) + _numbered(length - 1, ones - 1, i - first, printed)


@claim("A07", expected="the i-th number with k ones among l bits, for every l up to 7", condition_is="slip")
def recursion() -> Finding:
    wrong, total, counterexample = {True: 0, False: 0}, 0, ""
    for length in range(1, 8):
        for ones in range(length + 1):
            truth = [n for n in range(1 << length) if n.bit_count() == ones]
            total += len(truth)
            for printed, (i, n) in itertools.product((True, False), enumerate(truth)):
                value = _numbered(length, ones, i, printed)
                wrong[printed] += value != n
                if value != n and not counterexample:
                    counterexample = f"F({length}, {ones}, {i}) = {value} instead of {n}"
    return Finding(
        min(wrong.values()) == 0,
        f"wrong for {wrong[True]} of {total} triples with l <= 7, first "
        f"{counterexample}; with the base case 2^k - 1 wrong for {wrong[False]}",
        condition="with the base case 2^k - 1 in the place of 2^(k-1)" if wrong[True] else "",
    )


@claim("A08", expected="n + m + 1 places in Eq. 5's range, one of them for the sign")
def code_length() -> Finding:
    counts, agree = [], True
    for n, m in ((4, 5), (2, 7)):
        x = (2**n) * (2 * torch.rand(500, 1, generator=generator("codes", n, m), dtype=torch.float64) - 1)
        bits = np.unpackbits(encode_bits(x, whole_bits=n, fraction_bits=m).numpy(), axis=1)[:, : bit_count(n, m)]
        values = x.squeeze(1).numpy()
        expected = [np.floor(2.0**-k * np.abs(values)).astype(int) % 2 for k in range(n - 1, -m - 1, -1)]
        agree &= bool((bits == np.stack([values < 0, *expected], axis=1)).all())
        counts.append((len(range(-m, n + 1)), bit_count(n, m), n + m + 1))
    return Finding(
        agree and all(len(set(c)) == 1 for c in counts),
        f"k = -m..n has {counts[0][0]} places for 1 + 4 + 5 and {counts[1][0]} for 1 + 2 + 7 bits; its top "
        "one, k = n, holds the sign, so the largest magnitude is 2^n - 2^-m (15.96875 and 3.9921875) and "
        "larger values must saturate; a sign beside all of Eq. 5's bits would make n + m + 2",
    )


@claim("A09", expected="the printed layers give 9216 and 2304 values, times 10 bits")
def flattened_sizes() -> Finding:
    mnist = 64 * (((28 - 2) - 2) // 2) ** 2
    cifar = {}
    for padded in itertools.product((True, False), repeat=4):
        side = 32
        for layer, same in enumerate(padded):
            side = (side if same else side - 2) // (2 if layer % 2 else 1)
        cifar[padded] = 64 * side**2
    fitting = sum(size == 2304 for size in cifar.values())
    bits = [mnist * bit_count(4, 5), 2304 * bit_count(2, 7)]
    return Finding(
        mnist == 9216 and fitting > 0 and bits == [92_160, 23_040],
        f"MNIST {mnist}; CIFAR-10 2304 for {fitting} of the 16 ways to pad its four convolutions, "
        f"{cifar[(False,) * 4]} for none (the padding is not printed); {bits[0]:,} and {bits[1]:,} bits",
        condition="with padding in CIFAR-10's convolutions, which the paper does not print"
        if fitting < len(cifar)
        else "",
    )


@claim("A10", expected=f"p within {NEAR_HALF} of 0.5 for eps up to 10, on both data sets")
def nearly_half() -> Finding:
    away = [made(10.0, "A").signal / 2 for made in (latent, cifar_latent)]
    linear = [10.0 / (4 * 10 * values) for values in (9216, 2304)]
    return Finding(
        max(away) < NEAR_HALF,
        f"p - 1/2 at eps = 10 is {away[0]:.3e} (MNIST) and {away[1]:.3e} "
        f"(CIFAR-10), eps/(4rl) to {max(abs(a / b - 1) for a, b in zip(away, linear, strict=True)):.0e}",
        numbers=named({"mnist": away[0], "cifar10": away[1]}),
    )


@claim(
    "A19",
    expected="a bad event among the n records with a probability of 1 %, to a hundredth of it",
    condition_is="reading",
)
def bad_events() -> Finding:
    n = 60_000
    printed, meant = 1 / 100 * n, 1 / (100 * n)
    chance = -math.expm1(n * math.log1p(-meant))
    return Finding(
        abs(chance - 0.01) < 1e-4,
        f"for n = {n:,} records 1/100*n is {printed:g}, no probability; 1/(100n) = {meant:.2e} is meant, "
        f"with n delta = {meant * n:.4f} and a bad event with probability {chance:.5f}",
        condition="with 1/100*n read as 1/(100n)",
    )


@claim("A20", expected="a guarantee for each record by itself, before it leaves its owner")
def no_curator() -> Finding:
    made, described = latent(0.5, "A"), latent(0.5, "B")
    return Finding(
        made.unit == "record" and math.isfinite(described.curve().pure_epsilon),
        f"each {made.unit} is randomised alone, without a curator: {made.curve().pure_epsilon:.3g} of one "
        f"release with the coins of Eq. 6, {described.curve().pure_epsilon:,.0f} with those of Eq. 7; of "
        "the image alone, since labels leave their owner in clear",
        condition="of the image alone: labels leave their owner in clear",
    )


@claim(
    "A21",
    expected="in one of the readings no better guess whether a record was released than 0.5-LDP allows",
    condition_is="reading",
)
def membership() -> Finding:
    """A server that holds all releases asks whether a record is behind one of them.

    Its statistic is the least distance of a release from the record's own string; half of the records asked about are
    members. The bound holds for any attack on one release, and an attack on a network that was trained on the releases
    is weaker.
    """
    allowed = math.tanh(0.5 / 2)
    bound = {reading: latent(0.5, reading).curve().delta(0.0) for reading in "AB"}
    stream = generator("membership")
    features = torch.randn(2, RECORDS, 9216, generator=stream)
    members, others = (encode_bits(x) for x in features)
    won = {}
    for reading in "AB":
        released = latent(0.5, reading).privatize_bits(members, stream)
        near, far = (
            np.array([np.bitwise_count((released ^ one).numpy()).sum(axis=1, dtype=np.int64).min() for one in strings])
            for strings in (members, others)
        )
        wins = (near[:, None] < far).mean() + (near[:, None] == far).mean() / 2
        won[reading] = float(wins)
    safe = [reading for reading in "AB" if bound[reading] <= allowed]
    return Finding(
        bool(safe),
        f"a release of one of {RECORDS} records, or of none: the nearest release told members from others with "
        f"probability {won['A']:.2f} with the coins of Eq. 6 and {won['B']:.2f} with those of Eq. 7; on one release no "
        f"attack has more advantage than {bound['A']:.1e} and {bound['B']:.6f} ({allowed:.3f} would be 0.5-LDP)",
        condition="with the coins of Eq. 6 alone" if safe == ["A"] else "",
    )


@claim("A25", expected=f"a root mean squared error of the best estimate of at least {SUBSTANTIAL} of a blind guess's")
def error_of_estimation() -> Finding:
    """Given its release a fair bit is worth its mean: an error of 1 - signal^2 in the square, at every place alike."""
    left = {reading: math.sqrt(1 - latent(0.5, reading).signal ** 2) for reading in "AB"}
    whole = latent(0.5, "B").curve().pure_epsilon
    return Finding(
        min(left.values()) >= SUBSTANTIAL,
        f"at eps = 0.5 the best estimate of one element from its release has {left['A']:.4f} (Eq. 6) and "
        f"{left['B']:.4f} (Eq. 7) of the root mean squared error of a blind guess, all codes being equally likely",
        condition=f"of one element by itself; of an image, 9,216 of them, the epsilon is {whole:,.0f} with Eq. 7",
    )


@claim("A26", expected="shorter vectors than images, and a finite epsilon before any bit is randomised")
def reduced_before_randomisation() -> Finding:
    """A fixed function of a record separates any two records with different outputs with certainty."""
    sizes = {}
    for name, shape in (("MNIST", (28, 28)), ("CIFAR-10", (32, 32, 3))):
        module = conv_module(shape, generator("A26", name))
        with torch.no_grad():
            black, white = (module(torch.full((1, *image_layout(shape, "LATENT")), value)) for value in (0.0, 1.0))
        sizes[name] = (math.prod(shape), black.numel(), bool((black != white).any()))
    return Finding(
        all(after < before and not apart for before, after, apart in sizes.values()),
        "; ".join(
            f"an image of {name} has {before:,} numbers and its vector {after:,}"
            for name, (before, after, _) in sizes.items()
        )
        + "; the module is a fixed function, and a black and a white image have different vectors in both: before the "
        "bits are randomised no epsilon is finite, so that it adds no differential privacy",
    )
