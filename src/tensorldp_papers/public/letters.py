"""Public characters: letters of many scripts from Matplotlib's fonts, and digits that are public with their labels."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tensorldp.errors import check_whole
from tensorldp.randomness import generator

FONTS = ("DejaVuSans", "DejaVuSerif-Italic", "DejaVuSerif", "STIXGeneral", "STIXGeneralItalic", "DejaVuSans-Oblique")
CATEGORIES = ("Lu", "Ll", "Lo", "Lm")  # Unicode's letters: digits and number forms have the categories Nd, Nl and No
RENDERED_SIDE, INK = 56, 40  # of a rendered letter, and the longer side of its ink
LETTER_SIDE = 28  # of a deformed letter
LEAST_PIXELS = 10  # pixels: smaller signs are accents


@dataclass(frozen=True)
class Letters:
    """Letters as public labelled images."""

    x: Tensor  # (images, side, side) float32 in [0, 1]
    y: Tensor  # (images,) the letter, 0 .. letters - 1


def _render(characters: list[str], names: tuple[str, ...] = FONTS) -> tuple[list[NDArray[np.uint8]], list[int]]:
    """Draws centred 56 x 56 images of characters in the fonts that have them, and the position of each in the list."""
    import matplotlib
    from matplotlib.ft2font import FT2Font
    from PIL import Image, ImageDraw, ImageFont

    folder = f"{matplotlib.get_data_path()}/fonts/ttf"
    paths = [f"{folder}/{name}.ttf" for name in names]
    covered = [set(FT2Font(path).get_charmap()) for path in paths]
    fonts = [ImageFont.truetype(path, INK) for path in paths]
    images, positions = [], []
    for position, character in enumerate(characters):
        for font, has in zip(fonts, covered, strict=True):
            if ord(character) not in has:
                continue
            canvas = Image.new("L", (3 * INK, 3 * INK))
            ImageDraw.Draw(canvas).text((INK, INK // 2), character, font=font, fill=255)
            box = canvas.getbbox()
            if box is None or max(box[2] - box[0], box[3] - box[1]) < LEAST_PIXELS:
                continue
            figure = canvas.crop(box)
            scale = INK / max(figure.size)
            size = (max(1, round(figure.size[0] * scale)), max(1, round(figure.size[1] * scale)))
            figure = figure.resize(size, Image.Resampling.BILINEAR)
            left, top = (RENDERED_SIDE - size[0]) // 2, (RENDERED_SIDE - size[1]) // 2
            image = np.zeros((RENDERED_SIDE, RENDERED_SIDE), dtype=np.uint8)
            image[top : top + size[1], left : left + size[0]] = np.asarray(figure)
            images.append(image)
            positions.append(position)
    return images, positions


@cache
def rendered() -> Letters:
    """Draws every letter of DejaVu Sans without a decomposition, in all fonts that have it, centred: 56 x 56 pixels."""
    import matplotlib
    from matplotlib.ft2font import FT2Font

    codes = sorted(FT2Font(f"{matplotlib.get_data_path()}/fonts/ttf/{FONTS[0]}.ttf").get_charmap())
    letters = [
        chr(c) for c in codes if unicodedata.category(chr(c)) in CATEGORIES and not unicodedata.decomposition(chr(c))
    ]
    images, positions = _render(letters)
    _, y = np.unique(np.asarray(positions), return_inverse=True)
    return Letters(torch.from_numpy(np.stack(images)).float() / 255.0, torch.from_numpy(y).long())


def named(characters: str, copies: int = 40, names: tuple[str, ...] = FONTS) -> Letters:
    """Draws deformed images of given characters, such as the digits for a control; y is the position in the text."""
    images, positions = _render(list(characters), names)
    x = torch.from_numpy(np.stack(images)).float() / 255.0
    y = torch.tensor(positions).repeat(copies)
    stream = generator("letters", "named", characters, *names)
    return Letters(torch.cat([deform(x, stream) for _ in range(copies)]), y)


def deform(images: Tensor, source: torch.Generator) -> Tensor:
    """Draws one copy of each image as another hand might draw it: (images, 28, 28).

    Drawn anew for each: a rotation by up to 15 degrees, a shear by up to 0.4, scalings by up to e^0.2, an elastic
    displacement with deviation 0.08 of half a side at 4 x 4 nodes, a blur and a threshold that set the stroke's width.
    The images, (images, height, width), are in [0, 1], and the generator is on the CPU.
    """
    count = len(images)
    turn, shear, stretch_x, stretch_y, right, down = 2.0 * torch.rand(6, count, generator=source) - 1.0
    cos, sin = (turn * math.radians(15.0)).cos(), (turn * math.radians(15.0)).sin()
    stretch_x, stretch_y, shear = (0.2 * stretch_x).exp(), (0.2 * stretch_y).exp(), 0.4 * shear
    theta = torch.stack(
        (
            torch.stack((cos * stretch_x, cos * shear - sin * stretch_y, 0.04 * right), 1),
            torch.stack((sin * stretch_x, sin * shear + cos * stretch_y, 0.04 * down), 1),
        ),
        1,
    )
    grid = nn.functional.affine_grid(theta, [count, 1, LETTER_SIDE, LETTER_SIDE], align_corners=False)
    nodes = 0.08 * torch.randn(count, 2, 4, 4, generator=source)
    elastic = nn.functional.interpolate(nodes, (LETTER_SIDE, LETTER_SIDE), mode="bicubic", align_corners=True)
    drawn = nn.functional.grid_sample(
        images.unsqueeze(1), grid + elastic.permute(0, 2, 3, 1), align_corners=False
    ).squeeze(1)
    deviation = 0.3 + 1.3 * torch.rand(count, 1, 1, generator=source)
    distance = torch.arange(LETTER_SIDE).float()[:, None] - torch.arange(LETTER_SIDE).float()
    blur = torch.exp(-(distance / deviation).square() / 2.0)
    blur = blur / blur.sum(dim=2, keepdim=True)
    drawn = blur @ drawn @ blur.transpose(1, 2)
    top = drawn.amax(dim=(1, 2), keepdim=True).clamp_min(1e-3)
    threshold = 0.1 + 0.35 * torch.rand(count, 1, 1, generator=source)
    return ((drawn / top - threshold) / 0.4).clamp(0.0, 1.0)


def deformed(which: Tensor, copies: int, purpose: str) -> Letters:
    """Draws `copies` deformed images of each rendering of the letters `which` (their numbers), seeded by `purpose`."""
    letters, source = rendered(), generator("letters", purpose)
    chosen = torch.isin(letters.y, which).nonzero().squeeze(1).repeat(copies)
    parts = [deform(letters.x[part], source) for part in chosen.split(1000)]
    return Letters(torch.cat(parts), letters.y[chosen])


def fitting_and_tasks(fit_images: int = 12_000, tasks: int = 4, per_letter: int = 100) -> tuple[Letters, Letters]:
    """Returns letters to fit a representation on, and other letters, ten to a task, to choose its dimension on.

    Args:
        fit_images: about how many images to fit on.
        tasks: how many tasks of ten letters; letter k of the result belongs to task k // 10.
        per_letter: images of each letter of a task.

    Raises:
        InputError: if a number is not a whole number above 0.
    """
    fit_images, tasks = check_whole("fit_images", fit_images, low=1), check_whole("tasks", tasks, low=1)
    per_letter = check_whole("per_letter", per_letter, low=1)
    letters = rendered()
    counts = letters.y.bincount()
    order = torch.randperm(len(counts), generator=generator("letters", "split"))
    common = order[counts[order] >= len(FONTS) // 2]  # a task's letter needs several renderings
    held = common[: 10 * tasks]
    rest = order[~torch.isin(order, held)]
    fit = deformed(rest, max(1, round(fit_images / int(counts[rest].sum()))), "fit")
    drawn = deformed(held, -(-per_letter // (len(FONTS) // 2)), "tasks")
    index = torch.empty(len(counts), dtype=torch.long)
    index[held] = torch.arange(len(held))
    y = index[drawn.y]
    keep = torch.cat([(y == k).nonzero().squeeze(1)[:per_letter] for k in range(len(held))])
    return fit, Letters(drawn.x[keep], y[keep])


TEN = "0123456789"
STIX = tuple(font for font in FONTS if font.startswith("STIX"))
DEJAVU = tuple(font for font in FONTS if font not in STIX)


@dataclass(frozen=True)
class Digits:
    """Deformed digits."""

    x: Tensor  # (images, 28, 28) float32 in [0, 1]
    y: Tensor  # (images,) the digit
    source: Tensor  # (images,) which of the sources it comes from, 0 or 1


def public_digits(*, handwriting: bool, font_copies: int = 160, hand_copies: int = 6) -> Digits:
    """Draws deformed digits of two sources: several copies of each digit in each font, or of each handwritten one.

    With `handwriting` fonts are one source and scikit-learn's 1,797 digits the other; without, where those are the
    private records, DejaVu's fonts are one and STIX's the other.
    """
    if handwriting:
        parts = [named(TEN, font_copies), _handwritten(hand_copies)]
    else:
        parts = [named(TEN, font_copies, fonts) for fonts in (DEJAVU, STIX)]
    sources = torch.cat([torch.full_like(part.y, source) for source, part in enumerate(parts)])
    return Digits(torch.cat([part.x for part in parts]), torch.cat([part.y for part in parts]), sources)


def _handwritten(copies: int) -> Letters:
    """Draws deformed copies of scikit-learn's digits, enlarged from 8 x 8 pixels to the size of a rendered letter."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    small = torch.from_numpy(digits.images).float().unsqueeze(1) / 16.0
    large = nn.functional.interpolate(small, (RENDERED_SIDE, RENDERED_SIDE), mode="bicubic", align_corners=False).clamp(
        0.0, 1.0
    )
    stream = generator("digits", "handwriting")
    x = torch.cat([deform(large.squeeze(1), stream) for _ in range(copies)])
    return Letters(x, torch.from_numpy(digits.target).long().repeat(copies))
