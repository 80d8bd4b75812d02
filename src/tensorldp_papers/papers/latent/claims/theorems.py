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
    names = "epsilon of two such coins", "epsilon with a fair second coin", "epsilon of one coin"
    return Finding.of(
        all(abs(pure[0] - epsilon) < ROUNDING for epsilon, pure in budgets.items()),
        "at p = e/(1+e) two such coins have {epsilon of two such coins:.4f}, a fair second one "
        "{epsilon with a fair second coin:.4f}; one coin between the truth and its opposite has "
        "{epsilon of one coin:.4f}: it is true if p is the probability of a true answer",
        dict(zip(names, budgets[1.0], strict=True)),
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
    return Finding.of(
        worst < ROUNDING,
        "over all outcomes and pairs for 2, 3 and 6 bits the largest log ratio is within "
        "{largest log ratio off eps:.1e} of eps = 0.5 and 2: two one-hot vectors differ in two bits of eps/2 each",
        {"largest log ratio off eps": worst},
    )


@claim("A04", expected="the largest likelihood ratio over all strings = e^eps", condition_is="reading")
def merged_string() -> Finding:
    small = latent(0.5, "A", values=2, whole=1, fraction=1)
    codes = [math.copysign(magnitude / 2, sign) for sign in (1, -1) for magnitude in range(4)]
    outcomes = torch.tensor(list(itertools.product(codes, repeat=2)), dtype=torch.float64)
    a, b = (x.expand_as(outcomes) for x in small.worst_pair())
    ratio = float(small.log_likelihood_ratio(outcomes, a, b).max())
    large, other = latent(0.5, "A").curve(), latent(0.5, "B").curve()
    return Finding.of(
        abs(ratio - 0.5) < ROUNDING and abs(large.pure_epsilon - 0.5) < ROUNDING,
        "eps = 0.5, each bit kept with the p of Eq. 6: {largest log ratio of 6 bits by Eq. 6:.9f} over all "
        f"{len(outcomes)} strings of 6 bits, {{pure epsilon by Eq. 6:.9f}} for MNIST's 92,160; kept as Eq. 7 has it "
        "(p, else a fair coin) they have {pure epsilon by Eq. 7:,.0f} ({epsilon at delta 1e-5 by Eq. 7:,.0f} at delta "
        "1e-5)",
        {"largest log ratio of 6 bits by Eq. 6": ratio, "pure epsilon by Eq. 6": large.pure_epsilon}
        | {"pure epsilon by Eq. 7": other.pure_epsilon, "epsilon at delta 1e-5 by Eq. 7": other.epsilon(1e-5)},
        condition="" if other.pure_epsilon <= 0.5 + ROUNDING else "each bit kept with the p of Eq. 6, not as in Eq. 7",
    )


@claim("A05", expected="less than the sum over the strings, at the same probability of keeping a bit")
def merging() -> Finding:
    strings, epsilon = 9216, 0.5
    merged = latent(epsilon, "A")
    alone = latent(epsilon / strings, "A", values=1)
    apart = alone.curve().compose(strings).pure_epsilon
    full = latent(epsilon, "A", values=1).curve().compose(strings).pure_epsilon
    return Finding.of(
        merged.curve().pure_epsilon < apart * (1 - ROUNDING),
        "9,216 strings apart with the coins of the merged string (P(flip) {P(flip) of a string:.9f} and "
        "{P(flip) of the merged string:.9f}) compose to {epsilon of strings apart:.6f}, the merged string has "
        "{epsilon of the merged string:.6f}: the same mechanism. The r eps = {epsilon of strings with eps each:,.0f} "
        "of 3.1.4 is for strings with eps each, and falls because each bit gets eps/(rl), not because they are merged",
        {"P(flip) of a string": alone.flip, "P(flip) of the merged string": merged.flip}
        | {"epsilon of strings apart": apart, "epsilon of the merged string": merged.curve().pure_epsilon}
        | {"epsilon of strings with eps each": full},
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
    return Finding.of(
        min(gaps.values()) < ROUNDING,
        "a string of ones (y = 1) at eps = 0.5, MNIST: Eq. 7 says t = {t of ones by Eq. 7:.6f}, bits kept with the p "
        "of Eq. 6 and else flipped give {t of ones, else flipped:.6f}, bits kept with p and otherwise tossed "
        "{t of ones, else tossed:.6f}; the epsilon of these is {epsilon, else tossed:,.0f}",
        {"t of ones by Eq. 7": printed[-1], "t of ones, else flipped": shares["A"][-1]}
        | {"t of ones, else tossed": shares["B"][-1], "epsilon, else tossed": described.curve().pure_epsilon},
        condition=""
        if gaps["A"] < ROUNDING
        else "bits kept with p and otherwise tossed, whose epsilon is {epsilon, else tossed:,.0f}",
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
    return Finding.of(
        min(wrong.values()) == 0,
        f"wrong for {{wrong as printed:.0f}} of {{all with l <= 7:.0f}} triples with l <= 7, first {counterexample}; "
        "with the base case 2^k - 1 wrong for {wrong with 2^k - 1:.0f}",
        named(
            {"wrong as printed": wrong[True], "all with l <= 7": total, "wrong with 2^k - 1": wrong[False]}, "triples"
        ),
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
    return Finding.of(
        agree and all(len(set(c)) == 1 for c in counts),
        "k = -m..n has {k from -5 to 4:.0f} places for 1 + 4 + 5 and {k from -7 to 2:.0f} for 1 + 2 + 7 bits; its top "
        "one, k = n, holds the sign, so the largest magnitude is 2^n - 2^-m (15.96875 and 3.9921875) and "
        "larger values must saturate; a sign beside all of Eq. 5's bits would make n + m + 2",
        named({"k from -5 to 4": counts[0][0], "k from -7 to 2": counts[1][0]}, "places"),
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
    bits = {"string of MNIST": mnist * bit_count(4, 5), "string of CIFAR-10": 2304 * bit_count(2, 7)}
    return Finding.of(
        mnist == 9216 and fitting > 0 and list(bits.values()) == [92_160, 23_040],
        "MNIST {flattened MNIST:.0f}; CIFAR-10 2304 for {CIFAR-10 with 2304 values:.0f} of the 16 ways to pad its four "
        "convolutions, {flattened CIFAR-10 without padding:.0f} for none (the padding is not printed); "
        "{string of MNIST:,.0f} and {string of CIFAR-10:,.0f} bits",
        (
            *named({"flattened MNIST": mnist, "flattened CIFAR-10 without padding": cifar[(False,) * 4]}, "values"),
            *named({"CIFAR-10 with 2304 values": fitting}, "ways to pad"),
            *named(bits, "bits"),
        ),
        condition="with padding in CIFAR-10's convolutions, which the paper does not print"
        if fitting < len(cifar)
        else "",
    )


@claim("A10", expected=f"p within {NEAR_HALF} of 0.5 for eps up to 10, on both data sets")
def nearly_half() -> Finding:
    away = [made(10.0, "A").signal / 2 for made in (latent, cifar_latent)]
    linear = [10.0 / (4 * 10 * values) for values in (9216, 2304)]
    return Finding.of(
        max(away) < NEAR_HALF,
        "p - 1/2 at eps = 10 is {p - 1/2 on mnist:.3e} (MNIST) and {p - 1/2 on cifar10:.3e} (CIFAR-10), eps/(4rl) to "
        "{p - 1/2 off eps/(4rl):.0e}",
        {"p - 1/2 on mnist": away[0], "p - 1/2 on cifar10": away[1]}
        | {"p - 1/2 off eps/(4rl)": max(abs(a / b - 1) for a, b in zip(away, linear, strict=True))},
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
    return Finding.of(
        abs(chance - 0.01) < 1e-4,
        f"for n = {n:,} records 1/100*n is {{1/100*n:g}}, no probability; 1/(100n) = {{1/(100n):.2e}} is meant, "
        "with n delta = {n delta:.4f} and a bad event with probability {probability of a bad event:.5f}",
        {"1/100*n": printed, "1/(100n)": meant, "n delta": meant * n, "probability of a bad event": chance},
        condition="with 1/100*n read as 1/(100n)",
    )


@claim("A20", expected="a guarantee for each record by itself, before it leaves its owner")
def no_curator() -> Finding:
    made, described = latent(0.5, "A"), latent(0.5, "B")
    return Finding.of(
        made.unit == "record" and math.isfinite(described.curve().pure_epsilon),
        f"each {made.unit} is randomised alone, without a curator: {{epsilon by Eq. 6:.3g}} of one release with the "
        "coins of Eq. 6, {epsilon by Eq. 7:,.0f} with those of Eq. 7; of the image alone, since labels leave their "
        "owner in clear",
        {"epsilon by Eq. 6": made.curve().pure_epsilon, "epsilon by Eq. 7": described.curve().pure_epsilon},
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
    return Finding.of(
        bool(safe),
        f"a release of one of {RECORDS} records, or of none: the nearest release told members from others with "
        "probability {members told from others by Eq. 6:.2f} with the coins of Eq. 6 and "
        "{members told from others by Eq. 7:.2f} with those of Eq. 7; on one release no attack has more advantage than "
        "{largest advantage by Eq. 6:.1e} and {largest advantage by Eq. 7:.6f} ({largest advantage by 0.5-LDP:.3f} "
        "would be 0.5-LDP)",
        {
            "members told from others by Eq. 6": won["A"],
            "members told from others by Eq. 7": won["B"],
            "largest advantage by Eq. 6": bound["A"],
            "largest advantage by Eq. 7": bound["B"],
            "largest advantage by 0.5-LDP": allowed,
        },
        condition="with the coins of Eq. 6 alone" if safe == ["A"] else "",
    )


@claim("A25", expected=f"a root mean squared error of the best estimate of at least {SUBSTANTIAL} of a blind guess's")
def error_of_estimation() -> Finding:
    """Given its release a fair bit is worth its mean: an error of 1 - signal^2 in the square, at every place alike."""
    left = {reading: math.sqrt(1 - latent(0.5, reading).signal ** 2) for reading in "AB"}
    return Finding.of(
        min(left.values()) >= SUBSTANTIAL,
        "at eps = 0.5 the best estimate of one element from its release has {error of the estimate by Eq. 6:.4f} "
        "(Eq. 6) and {error of the estimate by Eq. 7:.4f} (Eq. 7) of the root mean squared error of a blind guess, all "
        "codes being equally likely",
        {"error of the estimate by Eq. 6": left["A"], "error of the estimate by Eq. 7": left["B"]}
        | {"epsilon of an image by Eq. 7": latent(0.5, "B").curve().pure_epsilon},
        condition="of one element by itself; of an image, 9,216 of them, the epsilon is "
        "{epsilon of an image by Eq. 7:,.0f} with Eq. 7",
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
    return Finding.of(
        all(after < before and not apart for before, after, apart in sizes.values()),
        "; ".join(
            f"an image of {name} has {{image of {name}:,.0f}} numbers and its vector {{vector of {name}:,.0f}}"
            for name in sizes
        )
        + "; the module is a fixed function, and a black and a white image have different vectors in both: before the "
        "bits are randomised no epsilon is finite, so that it adds no differential privacy",
        named(
            {f"image of {name}": before for name, (before, _, _) in sizes.items()}
            | {f"vector of {name}": after for name, (_, after, _) in sizes.items()},
            "elements",
        ),
    )
