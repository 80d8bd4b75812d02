import unicodedata

import torch

from tensorldp.randomness import generator
from tensorldp_papers.public import letters


def test_the_categories_hold_no_digit() -> None:
    for code in range(0x3000):
        if chr(code).isdigit() or unicodedata.category(chr(code)) in ("Nd", "Nl", "No"):
            assert unicodedata.category(chr(code)) not in letters.CATEGORIES


def test_letters_are_rendered_once_in_several_fonts() -> None:
    every = letters.rendered()
    counts = every.y.bincount()
    assert len(counts) > 1000
    assert 1 <= int(counts.min()) <= int(counts.max()) == len(letters.FONTS)
    assert (float(every.x.min()), float(every.x.max())) == (0.0, 1.0)
    assert bool((every.x.flatten(1).amax(dim=1) > 0.3).all())


def test_a_deformed_letter_is_an_image_and_repeats_with_its_seed() -> None:
    images = letters.rendered().x[:50]
    drawn = letters.deform(images, generator("a"))
    assert drawn.shape == (50, 28, 28)
    assert 0.0 <= float(drawn.min()) <= float(drawn.max()) <= 1.0
    assert torch.equal(drawn, letters.deform(images, generator("a")))
    small = torch.nn.functional.interpolate(images[:, None], (28, 28), mode="area")[:, 0]
    same, other = (
        torch.nn.functional.cosine_similarity(drawn.flatten(1), z.flatten(1)).mean() for z in (small, small.flip(0))
    )
    assert float(same) > float(other) + 0.15


def test_the_letters_of_the_tasks_are_not_those_of_the_fit() -> None:
    fit, tasks = letters.fitting_and_tasks(fit_images=2000, tasks=2, per_letter=20)
    assert tasks.y.bincount().tolist() == [20] * 20
    counts = letters.rendered().y.bincount()
    held = torch.randperm(len(counts), generator=generator("letters", "split"))
    held = held[counts[held] >= len(letters.FONTS) // 2][:20]
    assert not bool(torch.isin(fit.y, held).any())


def test_two_sources_have_all_ten_digits_each() -> None:
    for handwriting, images in ((True, [60, 1797]), (False, [40, 20])):  # six fonts, four of them DejaVu's
        digits = letters.public_digits(handwriting=handwriting, font_copies=1, hand_copies=1)
        assert digits.source.bincount().tolist() == images
        assert all(len(digits.y[digits.source == source].unique()) == 10 for source in (0, 1))
        assert digits.x.shape == (sum(images), 28, 28)
        assert 0.0 <= float(digits.x.min()) < float(digits.x.max()) <= 1.0


def test_copies_are_deformed_anew() -> None:
    digits = letters.public_digits(handwriting=False, font_copies=2)
    first, second = digits.x[digits.source == 1].split(20)
    assert not torch.equal(first, second)
