"""Digits that are public with their labels: of Matplotlib's fonts, and in the handwriting of scikit-learn's digits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tensorldp.randomness import generator
from tensorldp_papers.public.letters import FONTS, SIDE, Letters, deform, named

TEN = "0123456789"
STIX = tuple(font for font in FONTS if font.startswith("STIX"))
DEJAVU = tuple(font for font in FONTS if font not in STIX)


@dataclass(frozen=True)
class Digits:
    """Deformed digits.

    Attributes:
        x: (images, 28, 28) float32 in [0, 1].
        y: (images,) the digit.
        source: (images,) which of the sources it comes from, 0 or 1.
    """

    x: Tensor
    y: Tensor
    source: Tensor


def public_digits(*, handwriting: bool, font_copies: int = 160, hand_copies: int = 6) -> Digits:
    """Deformed digits of two sources.

    Args:
        handwriting: fonts are one source and scikit-learn's digits the other; without, where those are the private
            records, DejaVu's fonts are one and STIX's the other.
        font_copies: of each digit in each font.
        hand_copies: of each of scikit-learn's 1,797 digits.
    """
    if handwriting:
        parts = [named(TEN, font_copies), _handwritten(hand_copies)]
    else:
        parts = [named(TEN, font_copies, fonts) for fonts in (DEJAVU, STIX)]
    sources = torch.cat([torch.full_like(part.y, source) for source, part in enumerate(parts)])
    return Digits(torch.cat([part.x for part in parts]), torch.cat([part.y for part in parts]), sources)


def _handwritten(copies: int) -> Letters:
    """Deformed copies of scikit-learn's digits, enlarged from 8 x 8 pixels to the size of a rendered letter."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    small = torch.from_numpy(digits.images).float().unsqueeze(1) / 16.0
    large = nn.functional.interpolate(small, (SIDE, SIDE), mode="bicubic", align_corners=False).clamp(0.0, 1.0)
    stream = generator("digits", "handwriting")
    x = torch.cat([deform(large.squeeze(1), stream) for _ in range(copies)])
    return Letters(x, torch.from_numpy(digits.target).long().repeat(copies))
