import torch

from tensorldp_papers.public.letters import public_digits


def test_two_sources_have_all_ten_digits_each() -> None:
    for handwriting, images in ((True, [60, 1797]), (False, [40, 20])):  # six fonts, four of them DejaVu's
        digits = public_digits(handwriting=handwriting, font_copies=1, hand_copies=1)
        assert digits.source.bincount().tolist() == images
        assert all(len(digits.y[digits.source == source].unique()) == 10 for source in (0, 1))
        assert digits.x.shape == (sum(images), 28, 28)
        assert 0.0 <= float(digits.x.min()) < float(digits.x.max()) <= 1.0


def test_copies_are_deformed_anew() -> None:
    digits = public_digits(handwriting=False, font_copies=2)
    first, second = (digits.x[digits.source == 1][part] for part in (slice(0, 20), slice(20, 40)))
    assert not torch.equal(first, second)
