"""Public representations: projections, the rule for their dimension, letters, gradients and words."""

import inspect
import math
import unicodedata
from typing import Any

import numpy as np
import pytest
import torch
from typed import exact_error

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.public import letters
from tensorldp_papers.public.dimension import Plan, PublicTask, choose_dimension, mean_error
from tensorldp_papers.public.oriented_gradients import FEATURES, GRID, ORIENTATIONS, align, oriented_energies
from tensorldp_papers.public.projection import discriminant, principal
from tensorldp_papers.public.words import fit_words, half_tasks, text_shares

Records = tuple[torch.Tensor, torch.Tensor]


@pytest.fixture(scope="module")
def blobs() -> Records:
    """Three classes apart along coordinate 0, with a spread within of 5 along coordinate 1 and of 1 elsewhere."""
    y = torch.arange(6000) % 3
    x = torch.randn(6000, 6, generator=generator("blobs")) * torch.tensor([1.0, 5.0, 1.0, 1.0, 1.0, 1.0])
    x[:, 0] += 3.0 * y
    return x, y


def test_principal_directions_are_those_of_the_covariance(blobs: Records) -> None:
    projection = principal(blobs[0], 4)
    assert projection.dimension == 4
    assert projection.ball == Ball(1.0, (4,))
    assert abs(float(projection.directions[1, 0])) == pytest.approx(1.0, abs=0.01)
    assert abs(float(projection.directions[0, 1])) == pytest.approx(1.0, abs=0.01)
    assert float(projection.scales[0]) == pytest.approx(5.0, rel=0.05)
    rows = projection.weighted(1.0).coordinates(blobs[0])  # the exponent one whitens
    assert torch.allclose(rows.T @ rows / len(rows), torch.eye(4), atol=1e-3)
    assert torch.equal(projection.weighted(0.0).coordinates(blobs[0]), projection.coordinates(blobs[0]))


def test_the_first_discriminant_is_fishers(blobs: Records) -> None:
    x, y = blobs
    found = discriminant(x, y, 3, ridge=1e-6)
    means = torch.stack([x[y == k].mean(0) for k in range(3)])
    rest = x - means[y]
    fisher = torch.linalg.solve(rest.T @ rest, means[2] - means[0])
    assert abs(float(torch.nn.functional.cosine_similarity(found.directions[:, 0], fisher, dim=0))) > 0.999
    within = found.coordinates(rest + x.mean(0))
    assert torch.allclose(within.T @ within / len(x), torch.eye(3), atol=1e-2)


def test_records_go_to_the_unit_sphere_each_alone(blobs: Records) -> None:
    x, y = blobs
    projection = discriminant(x, y, 6).first(2)
    rows = projection(x)
    assert torch.allclose(rows.norm(dim=1), torch.ones(len(x)), atol=1e-5)
    assert torch.allclose(rows[:2], projection(x[:2]), atol=1e-6)
    assert projection(projection.centre[None]).tolist() == [[1.0, 0.0]]


def test_what_does_not_fit_is_refused(blobs: Records) -> None:
    x, y = blobs
    with pytest.raises(InputError, match="one class index each"):
        discriminant(x, y[:5])
    with pytest.raises(InputError, match="must be finite"):
        principal(x * torch.nan)
    with pytest.raises(InputError, match="takes 6 columns, got 5"):
        principal(x)(x[:, :5])
    with pytest.raises(InputError, match="dimension"):
        principal(x, 4).first(5)
    with pytest.raises(InputError, match="exponent"):
        principal(x, 4).weighted(2.0)


def privunit(epsilon: float, size: int) -> Mechanism:
    return make("privunit", epsilon=epsilon, domain=Ball(1.0, (size,)), lift=False)


@pytest.fixture(scope="module")
def task() -> PublicTask:
    g = torch.Generator().manual_seed(3)
    centres = torch.randn(10, 64, generator=g) * torch.linspace(0.6, 0.15, 64)
    y = torch.arange(4000) % 10
    x = centres[y] + torch.randn(4000, 64, generator=g) * torch.linspace(1.0, 0.8, 64)
    return PublicTask(x[:2000], y[:2000], x[2000:], y[2000:], principal(x, 64))


def plan(task: PublicTask, epsilon: float, records: int, **options: Any) -> Plan:
    return choose_dimension([task], lambda size: exact_error(privunit(epsilon, size)), records, **options)


@pytest.mark.parametrize("private", [False, True])
def test_the_error_of_a_class_mean_is_that_of_privunit(private: bool) -> None:
    d, classes, records = 8, 4, 20_000
    mechanism = privunit(1.0, d * classes if private else d)
    x = torch.eye(mechanism.size, dtype=torch.float64)[:1].repeat(records, 1)
    spread = float((mechanism.privatize(x, generator("error")) - x).var(dim=0).mean())
    # of 160,000 numbers and more: the deviation is below 1 %
    expected = spread * (classes**2 / records if private else classes / records)
    error = mean_error(lambda size: exact_error(privunit(1.0, size)), d, records, classes, labels_private=private)
    assert error == pytest.approx(expected, rel=0.05)


def test_more_records_or_a_larger_epsilon_promise_more(task: PublicTask) -> None:
    def promised(epsilon: float, records: int, **options: Any) -> float:
        return plan(task, epsilon, records, dimensions=(64,), **options).accuracy

    assert promised(1.0, 2_000) < promised(1.0, 100_000)
    assert promised(0.2, 20_000) < promised(4.0, 20_000)
    assert promised(1.0, 20_000, labels_private=True) < promised(1.0, 20_000)


def test_the_dimension_grows_with_epsilon_and_the_plan_is_the_best(task: PublicTask) -> None:
    low, again = (plan(task, 0.3, 5_000, exponents=(0.0, 0.5)) for _ in range(2))
    high = plan(task, 20.0, 60_000, exponents=(0.0, 0.5))
    assert low == again
    assert low.dimension < high.dimension
    for d in (8, 32):
        assert plan(task, 20.0, 60_000, exponents=(0.5,), dimensions=(d,)).accuracy <= high.accuracy
    with pytest.raises(InputError, match="no dimension among"):
        plan(task, 1.0, 100, dimensions=(500,))


def test_the_rule_has_no_way_to_see_a_private_record() -> None:
    parameters = inspect.signature(choose_dimension).parameters
    assert list(parameters) == ["tasks", "error", "records", "dimensions", "exponents", "ridges", "labels_private"]
    assert parameters["records"].annotation == "int"


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


def images(count: int, side: int) -> torch.Tensor:
    return torch.rand(count, side, side, generator=torch.Generator().manual_seed(0))


def ellipse(
    row: float = 28.0, column: float = 28.0, *, tall: float = 6.0, wide: float = 3.0, shear: float = 0.0
) -> torch.Tensor:
    y, x = torch.meshgrid(torch.arange(56.0), torch.arange(56.0), indexing="ij")
    across = x - column - shear * (y - row)
    return torch.exp(-((y - row) / tall).square() / 2 - (across / wide).square() / 2)[None]


@pytest.mark.parametrize(
    "moved", [{"row": 33.0}, {"column": 21.0}, {"shear": 0.5}, {"shear": -0.4, "row": 25.0}, {"tall": 9.0, "wide": 4.5}]
)
def test_a_moved_sheared_or_scaled_figure_has_one_standard_position(moved: dict[str, Any]) -> None:
    assert torch.allclose(align(ellipse(**moved)), align(ellipse()), atol=0.02)


def test_the_ink_is_centred_and_has_the_standard_spread() -> None:
    image = align(ellipse(row=20.0, column=33.0, shear=0.3), size=40, spread=5.0)[0]
    # variances 36 and 9: the longer side becomes 5, the shorter 5 sqrt(3 / 6)
    for ink, deviation in ((image.sum(1), 5.0), (image.sum(0), 5.0 * math.sqrt(0.5))):
        at, share = torch.arange(40.0), ink / ink.sum()
        assert float(share @ at) == pytest.approx(19.5, abs=0.05)
        assert math.sqrt(float(share @ (at - share @ at).square())) == pytest.approx(deviation, rel=0.03)


def test_each_image_alone_decides_its_place() -> None:
    several = torch.cat([ellipse(), ellipse(row=20.0), torch.zeros(1, 56, 56)])
    assert torch.allclose(align(several), torch.cat([align(image[None]) for image in several]), atol=1e-5)
    assert bool(torch.isfinite(align(several)).all())
    assert align(several[:0]).shape == (0, 28, 28)


@pytest.mark.parametrize("wrong", [images(1, 28)[0], torch.zeros(1, 28, 28, dtype=torch.uint8), 1.0 + images(1, 8)])
def test_what_is_no_grey_image_is_refused(wrong: torch.Tensor) -> None:
    with pytest.raises(InputError, match="grey images"):
        align(wrong)
    with pytest.raises(InputError, match="divide bytes by 255"):
        oriented_energies(images(1, 28) * 255)


def test_rows_have_unit_length_and_depend_on_one_image_alone() -> None:
    rows = oriented_energies(images(1100, 12))
    assert rows.shape == (1100, FEATURES)
    assert torch.allclose(rows.norm(dim=1), torch.ones(1100), atol=1e-5)
    assert torch.allclose(rows[[0, 700]], oriented_energies(images(1100, 12)[[0, 700]]), atol=1e-6)


@pytest.mark.parametrize(("slope", "direction"), [((1, 0), 0), ((1, 1), 1), ((0, 1), 2), ((-1, 0), 4), ((0, -1), 6)])
def test_a_ramp_has_the_orientation_of_its_gradient(slope: tuple[int, ...], direction: int) -> None:
    y, x = torch.meshgrid(torch.arange(28.0), torch.arange(28.0), indexing="ij")
    ramp = 0.5 + (slope[0] * (x - 13.5) + slope[1] * (y - 13.5)) / 60.0
    centre = oriented_energies(ramp[None]).reshape(2, ORIENTATIONS, GRID, GRID)[0, :, 3, 3].square()
    assert int(centre.argmax()) == direction
    assert float(centre[direction] / centre.sum()) > 0.98


def test_brightness_and_contrast_do_not_matter_and_an_empty_image_is_zero() -> None:
    assert torch.allclose(oriented_energies(images(1, 28)), oriented_energies(0.3 * images(1, 28)), atol=1e-5)
    assert float(oriented_energies(torch.zeros(1, 28, 28)).abs().max()) == 0.0


TOPIC = torch.arange(200) % 2


@pytest.fixture
def texts() -> torch.Tensor:
    """Of two topics: words 1 to 20 or 11 to 30, padded to one length."""
    words = torch.randint(1, 21, (200, 30), generator=generator("texts")) + 10 * TOPIC[:, None]
    words[::3, 15:] = 0
    return words


def test_shares_count_texts_not_words_and_no_padding() -> None:
    assert text_shares(torch.tensor([[1, 1, 0], [1, 3, 3]])).tolist() == [0.0, 1.0, 0.0, 0.5]
    with pytest.raises(InputError, match="word indices"):
        text_shares(torch.rand(3, 4))


def test_coordinates_are_those_of_scikit_learns_pipeline(texts: torch.Tensor) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    space = fit_words(texts, 5, least=1)
    documents = [" ".join(f"w{k:02d}" for k in text if k) for text in texts.tolist()]
    other = TfidfVectorizer(sublinear_tf=True, smooth_idf=False).fit_transform(documents).toarray()
    assert np.allclose(space.weighted(texts).toarray(), other)
    _, values, vectors = np.linalg.svd(other)
    assert np.allclose(np.abs(space(texts).numpy()), np.abs(other @ vectors[:5].T), atol=1e-5)
    assert values[4] > values[5] + 1e-6


def test_a_text_is_represented_by_itself_and_words_not_kept_count_for_nothing(texts: torch.Tensor) -> None:
    space = fit_words(texts, 4, least=20)
    assert torch.allclose(space(texts)[:3], torch.cat([space(text[None]) for text in texts[:3]]), atol=1e-6)
    assert torch.equal(space(torch.where(texts == 0, 10_000, texts)), space(texts))
    assert torch.equal(space(torch.zeros(1, 30, dtype=torch.long)), torch.zeros(1, 4))


def test_words_of_too_few_texts_are_not_kept(texts: torch.Tensor) -> None:
    texts[:4, 0] = 77
    assert fit_words(texts, 4, least=5).columns[77] == -1
    assert fit_words(texts, 4, least=4).columns[77] >= 0
    with pytest.raises(InputError, match="0 words occur in at least 201 of 200 public texts"):
        fit_words(texts, least=201)


def test_tasks_are_balanced_and_half_of_a_text_tells_about_the_other(texts: torch.Tensor) -> None:
    rows, labels = half_tasks(texts, fit_words(texts, 6, least=1), 2)
    assert rows.shape == (200, 6)
    assert labels.sum(dim=0).tolist() == [100, 100]
    agreement = float((labels[:, 1] == TOPIC).double().mean())
    assert max(agreement, 1 - agreement) > 0.95  # the second direction is the topic
