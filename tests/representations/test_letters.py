import unicodedata

import torch

from tensorldp.randomness import generator
from tensorldp_papers.public import letters


def test_the_categories_hold_no_digit() -> None:
    for code in range(0x3000):
        if chr(code).isdigit() or unicodedata.category(chr(code)) in ("Nd", "Nl", "No"):
            assert unicodedata.category(chr(code)) not in letters.CATEGORIES


def test_letters_are_rendered_once_in_several_fonts() -> None:
    all_letters = letters.rendered()
    counts = all_letters.y.bincount()
    assert len(counts) > 1000
    assert int(counts.min()) >= 1
    assert int(counts.max()) == len(letters.FONTS)
    assert float(all_letters.x.min()) == 0.0
    assert float(all_letters.x.max()) == 1.0
    assert bool((all_letters.x.flatten(1).amax(dim=1) > 0.3).all())


def test_a_deformed_letter_is_an_image_and_repeats_with_its_seed() -> None:
    images = letters.rendered().x[:50]
    drawn = letters.deform(images, generator("a"))
    assert drawn.shape == (50, 28, 28)
    assert float(drawn.min()) >= 0.0
    assert float(drawn.max()) <= 1.0
    assert torch.equal(drawn, letters.deform(images, generator("a")))
    small = torch.nn.functional.interpolate(images[:, None], (28, 28), mode="area")[:, 0]
    same = torch.nn.functional.cosine_similarity(drawn.flatten(1), small.flatten(1)).mean()
    other = torch.nn.functional.cosine_similarity(drawn.flatten(1), small.flip(0).flatten(1)).mean()
    assert float(same) > float(other) + 0.15


def test_the_letters_of_the_tasks_are_not_those_of_the_fit() -> None:
    fit, tasks = letters.fitting_and_tasks(fit_images=2000, tasks=2, per_letter=20)
    assert tasks.y.bincount().tolist() == [20] * 20
    held = torch.randperm(int(letters.rendered().y.max()) + 1, generator=generator("letters", "split"))
    counts = letters.rendered().y.bincount()
    held = held[counts[held] >= len(letters.FONTS) // 2][:20]
    assert not bool(torch.isin(fit.y, held).any())
