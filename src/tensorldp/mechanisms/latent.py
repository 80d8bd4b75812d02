"""LATENT: each element as a fixed-point bit string, and a coin per bit (LATENT, Eq. 4 to 7)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from tensorldp.curves.base import PrivacyCurve
from tensorldp.curves.discrete import DiscreteCurve
from tensorldp.errors import check_word
from tensorldp.mechanisms.base import Mechanism
from tensorldp.mechanisms.bits import bit_count, check_packed, code_numbers, decode_bits, encode_bits, flip_mask
from tensorldp.mechanisms.registry import register
from tensorldp.randomness import check_generator

BITS_BYTES = 8 << 20  # bytes of packed bits tossed at once

__all__ = ["Latent", "decode_bits", "encode_bits"]


@lru_cache(maxsize=4096)
def _farthest(low: int, high: int, low_other: int, high_other: int, bits: int) -> tuple[int, int]:
    """One number from each interval of `bits`-bit numbers, such that the two differ in the most bits."""
    if bits == 0:
        return 0, 0
    half = 1 << (bits - 1)
    best: tuple[int, int] | None = None
    for top, top_other in ((1, 0), (0, 1), (1, 1), (0, 0)):
        a, b = max(low - top * half, 0), min(high - top * half, half - 1)
        c, d = max(low_other - top_other * half, 0), min(high_other - top_other * half, half - 1)
        if a > b or c > d:
            continue
        u, v = _farthest(a, b, c, d, bits - 1)
        u, v = u + top * half, v + top_other * half
        if best is None or (u ^ v).bit_count() > (best[0] ^ best[1]).bit_count():
            best = u, v
        if (u ^ v).bit_count() == bits:
            break
    assert best is not None
    return best


@register
class Latent(Mechanism):
    """A bit string per element, each bit kept with P(true) = q; the release is decoded back to floats.

    Reading A (Eq. 4 and 6) reports the true bit with probability p = e^(epsilon/(r l)) / (1 + e^(epsilon/(r l)))
    and is epsilon-LDP. Reading B (Eq. 7) keeps it with probability p and tosses a fair coin otherwise, so
    q = (1 + p) / 2 and the record has r l ln(1 + 2 e^(epsilon/(r l))). Both are exact on domains with two codes that
    differ in every bit, such as [-2^n, 2^n], and upper bounds on others.

    Args:
        whole: n, bits of the whole part.
        fraction: m, bits of the fraction.
        reading: "A" or "B".
    """

    name = "latent"
    formula = (
        r"\text{each of } r l \text{ bits true with probability } e^{\varepsilon/(rl)} / (1 + "
        r"e^{\varepsilon/(rl)})"
    )
    acts_on = "element"
    on_grid = True
    block_bytes = 4 << 20
    domain_kind = "box"
    source = "LATENT, Eq. 4 to 7"
    status = "as printed"
    leaves_input = True

    whole: int = 4
    fraction: int = 5
    reading: Literal["A", "B"] = "A"

    def _prepare(self) -> None:
        super()._prepare()
        self.bits = bit_count(self.whole, self.fraction)
        check_word("reading of latent", self.reading, "A", "B")
        if self.reading == "B":
            self.note = "the paper's Eq. 7 keeps a bit with probability (1 + p) / 2, which is far from its epsilon"

    @property
    def bit_epsilon(self) -> float:
        """The nominal epsilon / (r l) of one bit."""
        return self.epsilon / (self.size * self.bits)

    @property
    def flip(self) -> float:
        """1 - q, the probability that a released bit is not the true one."""
        odds = math.exp(-self.bit_epsilon)
        flip = odds / (1.0 + odds)
        return flip if self.reading == "A" else flip / 2.0

    @property
    def signal(self) -> float:
        """2q - 1, without cancellation."""
        return math.tanh(self.bit_epsilon / 2.0) if self.reading == "A" else 1.0 - 2.0 * self.flip

    @property
    def bit_loss(self) -> float:
        """ln(q / (1 - q)), the pure epsilon of one released bit."""
        eps = self.bit_epsilon
        return eps if self.reading == "A" else float(np.logaddexp(0.0, math.log(2.0) + eps))

    @property
    def information(self) -> float:
        """r l (ln 2 - h(q)) nats, h the entropy of a bit: the divergence of a record's string from fair coins."""
        s = self.signal
        per_bit = s * s / 2.0 if s < 1e-3 else ((1.0 + s) * math.log1p(s) + (1.0 - s) * math.log(2.0 * self.flip)) / 2.0
        return self.size * self.bits * per_bit

    def privatize_bits(self, packed: Tensor, generator: torch.Generator) -> Tensor:
        """Toss every bit of packed strings (`encode_bits`); a new uint8 tensor (batch, ceil(r l / 8)).

        Raises:
            InputError: if packed has another shape or type, or the generator is on another device.
        """
        check_packed("privatize_bits of latent takes", packed, self.size * self.bits)
        width = packed.shape[1]
        check_generator(generator, packed)
        out = torch.empty_like(packed, memory_format=torch.contiguous_format)
        step = max(1, BITS_BYTES // width)
        for start in range(0, packed.shape[0], step):
            block = packed[start : start + step]
            mask = self._mask(block.numel(), generator)
            out[start : start + step] = block ^ mask.view(block.shape).to(packed.device)
        unused = 8 * width - self.size * self.bits
        out[:, -1] &= 0xFF << unused & 0xFF
        return out

    def _mask(self, count: int, generator: torch.Generator) -> Tensor:
        """`count` bytes whose bits are 1 where a bit is flipped."""
        return torch.from_numpy(flip_mask(count, self.flip, self.signal, generator))

    def _randomize(self, x: Tensor, generator: torch.Generator) -> Tensor:
        packed = encode_bits(x, whole_bits=self.whole, fraction_bits=self.fraction)
        return decode_bits(
            self.privatize_bits(packed, generator),
            self.shape,
            whole_bits=self.whole,
            fraction_bits=self.fraction,
            dtype=x.dtype,
        )

    def expected_release(self, x: Tensor) -> Tensor:
        """E M(x) = (2q-1) s ((2q-1) c + (1-q) L), s the sign of an element, c its coded magnitude, L the largest one.

        A release is biased: whoever learns from releases compares their means with this, which is known for any x.
        """
        coded = code_numbers(x.abs(), self.whole, self.fraction).to(x.dtype) / float(1 << self.fraction)
        size = self.signal * (self.signal * coded + self.flip * self.largest)
        return torch.where(torch.signbit(x), -size, size)

    @property
    def largest(self) -> float:
        """2^n - 2^-m, the largest magnitude a code holds."""
        return ((1 << (self.bits - 1)) - 1) / (1 << self.fraction)

    def _element_error(self, x: float) -> float:
        """E (x~ - x)^2 = V + M^2 - 2 x (2q-1) s M + x^2 for one element, of any x."""
        unit = 2.0**-self.fraction
        coded = min(math.floor(abs(x) / unit) * unit, self.largest)
        flip, signal = self.flip, self.signal
        mean = signal * coded + flip * self.largest
        variance = flip * (1.0 - flip) * (4.0 ** (self.bits - 1) - 1.0) / 3.0 * unit**2
        # the square completed: no difference of large numbers when bits hardly flip
        return variance + (mean - abs(x)) ** 2 + 4.0 * flip * abs(x) * mean

    def _worst_value(self) -> float:
        unit = 2.0**-self.fraction
        ends = (self.box.low, self.box.high)
        inside = (math.copysign(math.floor(abs(v) / unit) * unit, v) for v in ends)
        return max((v for v in (*ends, *inside) if self.box.low <= v <= self.box.high), key=self._element_error)

    def squared_error(self) -> float:
        return self.size * self._element_error(self._worst_value())

    def worst_input(self) -> Tensor:
        return self.box.constant(self._worst_value())

    def _widest_pair(self) -> tuple[float, float, int]:
        """Two values of the domain whose codes differ in the most bits, and in how many."""
        sign, unit = 1 << (self.bits - 1), 2.0**-self.fraction
        low, high = self.box.low, self.box.high
        sides: list[tuple[int, int]] = []
        for side, least, most in ((0, max(low, 0.0), high), (sign, max(-high, 0.0), -low)):
            if most >= 0 and (side == 0 or low < 0):
                lowest, highest = (side | min(sign - 1, math.floor(v / unit)) for v in (least, most))
                sides.append((lowest, highest))
        first, second = max(
            (_farthest(*u, *v, self.bits) for u in sides for v in sides),
            key=lambda pair: (pair[0] ^ pair[1]).bit_count(),
        )

        def value(code: int) -> float:
            magnitude = (code & (sign - 1)) * unit
            return min(high, max(low, -(magnitude or unit / 2) if code & sign else magnitude))

        return value(first), value(second), (first ^ second).bit_count()

    def curve(self) -> PrivacyCurve:
        # over all real inputs, which saturate; a domain whose codes cannot differ in every bit has a little less
        keep = self.bit_loss - float(np.logaddexp(0.0, self.bit_loss))
        other = keep - self.bit_loss
        exact = self._widest_pair()[2] == self.bits
        return DiscreteCurve.mirrored((keep, other), self.bit_loss, self.size * self.bits, exact)

    def worst_pair(self) -> tuple[Tensor, Tensor]:
        first, second, _ = self._widest_pair()
        return self.box.constant(first), self.box.constant(second)

    def log_likelihood_ratio(self, y: Tensor, x: Tensor, x_prime: Tensor) -> Tensor:
        y, x, x_prime = (code_numbers(self._flat(z), self.whole, self.fraction) for z in (y, x, x_prime))

        def distance(a: Tensor, b: Tensor) -> Tensor:
            different = a ^ b
            return sum(((different >> k) & 1).sum(dim=1) for k in range(self.bits))  # type: ignore[return-value]

        return self.bit_loss * (distance(y, x_prime) - distance(y, x)).double()
