"""How accuracy is learned from releases, from public records and in rounds."""

import itertools
import math

import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from torch import Tensor
from typed import make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Mechanism, make
from tensorldp.mechanisms.privunit import PrivUnit
from tensorldp.randomness import generator
from tensorldp_papers.public.least_squares import discriminant_from_releases, least_squares, logistic, second_moment
from tensorldp_papers.public.means import (
    LinearScores,
    class_moments,
    label_blocks,
    nearest_block_mean,
    nearest_mean,
    public_metric,
)
from tensorldp_papers.public.rounds import EPOCHS, LEARNING_RATE, average_directions, upload_size
from tensorldp_papers.public.unlabelled import (
    accuracy,
    best_across_sources,
    best_names,
    clusters,
    linear_discriminant,
    self_train,
    taught,
    together,
)

Records = tuple[Tensor, Tensor]


@pytest.fixture(scope="module")
def sphere() -> Records:
    g = generator("sphere")
    y = torch.arange(4000) % 4
    x = torch.randn(4, 6, generator=g)[y] * 1.5 + torch.randn(4000, 6, generator=g)
    return torch.nn.functional.normalize(x), y


def test_without_noise_it_is_the_nearest_mean(sphere: Records) -> None:
    x, y = sphere
    _, means, error = class_moments(x, y, 6)
    nearest = torch.cdist(x.double(), means[:4]).argmin(dim=1)
    assert float((nearest_mean(x, y, 4).predict(x) == nearest).float().mean()) > 0.995  # the debiasing moves ties
    assert torch.allclose(means[5], x.double().mean(dim=0))  # a class without releases gets the mean of all
    assert float(error[5]) == 0.0


def test_the_squared_length_of_a_mean_is_unbiased() -> None:
    """300 classes of one record at (1, 0, .., 0), 40 releases each: squared lengths of 1 on average, not of 1 + v."""
    mechanism = make_as(PrivUnit, epsilon=1.0, domain=Ball(1.0, (16,)), lift=False)
    x, y = torch.eye(16)[:1].repeat(12_000, 1), torch.arange(12_000) % 300
    _, means, error = class_moments(mechanism.privatize(x, generator("length")), y, 300)
    gap = means.square().sum(dim=1) - error - 1.0
    assert float(error.mean()) == pytest.approx(mechanism.squared_error() / 40, rel=0.01)
    assert abs(float(gap.mean())) < 5.0 * float(gap.std()) / 300**0.5  # false alarms: 6e-7
    assert float((gap + error).mean()) > 10.0 * float(gap.std()) / 300**0.5


def test_blocks_hold_the_features_at_the_label_and_give_the_same_means(sphere: Records) -> None:
    x, y = sphere
    blocks = label_blocks(x, y, 4)
    expected = torch.zeros(4000, 4, 6)
    expected[torch.arange(4000), y] = x
    assert torch.allclose(blocks, expected.reshape(4000, 24))
    apart, together = nearest_mean(x, y, 4), nearest_block_mean(blocks, 4)
    assert torch.allclose(apart.weight, together.weight, atol=1e-5)
    assert torch.allclose(apart.bias, together.bias, atol=5e-3)
    mechanism = make("privunit", epsilon=30.0, domain=Ball(1.0, (24,)), lift=False)
    private_labels = nearest_block_mean(mechanism.privatize(blocks, generator("blocks")), 4)
    assert private_labels.accuracy(x, y) > apart.accuracy(x, y) - 0.02  # at a large epsilon they cost little


@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.bool])
def test_labels_are_any_whole_numbers(sphere: Records, kind: torch.dtype) -> None:
    """As pandas has the codes of categories in the smallest integers that hold them."""
    x, y = sphere
    two = (y % 2).to(kind)
    assert torch.equal(label_blocks(x, two, 2), label_blocks(x, y % 2, 2))
    assert torch.equal(nearest_mean(x, two, 2).weight, nearest_mean(x, y % 2, 2).weight)


def test_what_does_not_fit_is_refused(sphere: Records) -> None:
    x, y = sphere
    with pytest.raises(InputError, match=r"lie in 0 .. 2"):
        nearest_mean(x, y, 3)
    with pytest.raises(InputError, match="do not divide into 5 blocks"):
        nearest_block_mean(x, 5)
    with pytest.raises(InputError, match="one class index each"):
        label_blocks(x, y[:3], 4)
    with pytest.raises(InputError, match="takes rows of 6 numbers"):
        nearest_mean(x, y, 4)(x[:, :5])


def test_with_the_metric_of_unlabelled_records_it_is_the_linear_discriminant() -> None:
    g = torch.Generator().manual_seed(1)
    y = torch.arange(9000) % 3
    x = torch.randn(3, 4, generator=g)[y] + torch.randn(9000, 4, generator=g) * torch.tensor([1.0, 3.0, 1.0, 0.3])
    found = nearest_mean(x, y, 3, public_metric(x, 1e-9)).accuracy(x, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(x.numpy(), y.numpy())
    # the total covariance differs from that within by the means' own, which moves every class's score alike for
    # discriminants of equal length and a little otherwise
    assert found > theirs.score(x.numpy(), y.numpy()) - 0.02
    assert found > nearest_mean(x, y, 3).accuracy(x, y) + 0.1
    assert public_metric(x, float("inf")) is None


def privunit(epsilon: float, d: int = 6) -> Mechanism:
    return make("privunit", epsilon=epsilon, domain=Ball(1.0, (d,)), lift=False)


@pytest.fixture(scope="module")
def stretched() -> tuple[Tensor, Tensor]:
    """Two classes whose common covariance hides what tells them apart from the plain distance."""
    y = torch.arange(20_000) % 2
    x = torch.randn(20_000, 6, generator=generator("stretched")) * torch.tensor([1.0, 4.0, 4.0, 1.0, 1.0, 1.0])
    x[:, :2] += torch.tensor([[-1.0, -2.0], [1.0, 2.0]])[y]
    return torch.nn.functional.normalize(x), y


@pytest.mark.parametrize(
    "mechanism", [privunit(1.0, 5), privunit(8.0, 40), make("gaussian-analytic", epsilon=2.0, domain=Ball(1.0, (5,)))]
)
def test_the_second_moment_is_that_of_releases(mechanism: Mechanism) -> None:
    x = torch.eye(mechanism.size, dtype=torch.float64)[:1].repeat(30_000, 1)
    z = mechanism.privatize(x, generator("moment", mechanism.size))
    known = second_moment(mechanism)
    for squares, expected in ((z[:, 0].square(), known.along + known.around), (z[:, 1].square(), known.around)):
        assert abs(float(squares.mean()) - expected) < 5.0 * float(squares.std()) / 30_000**0.5  # false alarms: 6e-7


def test_with_little_noise_the_learners_use_the_covariance_that_the_nearest_mean_does_not(
    stretched: tuple[Tensor, Tensor],
) -> None:
    x, y = stretched
    released = privunit(20.0).privatize(x, generator("released"))
    rows = torch.cat([x, torch.ones(20_000, 1)], 1)
    best = torch.linalg.lstsq(rows, torch.nn.functional.one_hot(y).float()).solution.T
    clean = {
        least_squares: LinearScores(best[:, :6], best[:, 6]).accuracy(x, y),
        discriminant_from_releases: linear_discriminant(x, y, 2, ridge=0.01).accuracy(x, y),
    }
    for learner, of_records in clean.items():
        found = learner(released, y, 2, privunit(20.0), ridge=0.1).accuracy(x, y)
        assert found > nearest_mean(released, y, 2).accuracy(x, y) + 0.02
        assert abs(found - of_records) < 0.02


def test_where_noise_is_all_there_is_the_discriminant_is_the_nearest_mean(stretched: tuple[Tensor, Tensor]) -> None:
    x, y = (part[:2000] for part in stretched)
    released = privunit(0.5).privatize(x, generator("released"))
    wide = discriminant_from_releases(released, y, 2, privunit(0.5), ridge=1e6)
    assert float((wide.predict(x) == nearest_mean(released, y, 2).predict(x)).double().mean()) > 0.99


def test_a_mechanism_without_a_known_second_moment_is_refused(stretched: tuple[Tensor, Tensor]) -> None:
    laplace = make("laplace", epsilon=1.0, domain=Ball(1.0, (6,)))
    with pytest.raises(InputError, match="not for laplace"):
        second_moment(laplace)
    with pytest.raises(InputError, match="not for laplace"):
        discriminant_from_releases(*stretched, 2, laplace)


@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_separates_what_a_line_separates_whatever_the_scales(classes: int) -> None:
    y = torch.arange(600) % classes
    x = torch.nn.functional.one_hot(y, 5).float() + 0.1 * torch.randn(600, 5, generator=generator("clear"))
    x = x * torch.tensor([1.0, 1e3, 1e-3, 1.0, 1.0]) + 7.0
    assert logistic(x, y, classes).accuracy(x, y) == 1.0


def test_the_logistic_scores_of_two_classes_are_log_odds() -> None:
    g = generator("odds")
    x = torch.randn(4000, 1, generator=g)
    y = (torch.rand(4000, generator=g) < torch.sigmoid(2.0 * x[:, 0])).long()
    odds = logistic(x, y, 2, strength=1e4)(x).diff(dim=1)
    slope = float((odds[0] - odds[1]) / (x[0] - x[1]))
    assert abs(slope - 2.0) < 0.4  # five deviations of the estimate from 4,000 draws


CENTRES = torch.randn(5, 20, generator=generator("centres")) * 0.9


def blobs(count: int, centres: Tensor, spread: float, *key: object) -> tuple[Tensor, Tensor]:
    y = torch.arange(count) % len(centres)
    return centres[y] + spread * torch.randn(count, centres.shape[1], generator=generator("blobs", *key)), y


def test_clear_groups_are_found_without_labels_and_named_with_them() -> None:
    (public, _), (x, y) = (blobs(count, 3.0 * torch.eye(4), 0.3, count) for count in (400, 200))
    assert best_names(clusters(public, 4, generator("starts")), x, y).accuracy(x, y) == 1.0
    with pytest.raises(InputError, match="401 clusters need at least as many"):
        clusters(public, 401, generator("starts"))


def test_no_other_naming_is_better() -> None:
    x, y = blobs(200, 3.0 * torch.eye(4), 3.0)
    weight = torch.randn(4, 4, generator=generator("any"))
    found = best_names(LinearScores(weight, torch.zeros(4)), x, y).accuracy(x, y)
    orders = map(list, itertools.permutations(range(4)))
    every = [LinearScores(weight[order], torch.zeros(4)).accuracy(x, y) for order in orders]
    assert min(every) < found == max(every)


def test_the_discriminant_is_scikit_learns_up_to_the_ridge() -> None:
    x, y = blobs(3000, CENTRES, 1.0)
    ours = linear_discriminant(x, y, 5, ridge=1e-9).predict(x)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(x.numpy(), y.numpy()).predict(x.numpy())
    assert float((ours == torch.from_numpy(theirs)).float().mean()) > 0.999
    without = linear_discriminant(x[y < 4], y[y < 4], 5)  # a class that no public record gets
    assert int(without.predict(x).max()) == 3


def test_public_records_without_labels_improve_a_noisy_classifier() -> None:
    (x, _), (test, y) = (blobs(3000, CENTRES, 1.0, part) for part in ("public", "test"))
    noisy_centres = CENTRES + torch.randn(5, 20, generator=generator("noise")) * 0.9
    noisy = LinearScores(noisy_centres, -noisy_centres.square().sum(1) / 2)
    assert accuracy(self_train(noisy, x, lambda rows: rows, 5), test, y) > noisy.accuracy(test, y) + 0.05


def test_public_records_with_many_wrong_labels_teach_more_than_the_labels_know() -> None:
    (x, right), (test, y) = (blobs(3000, CENTRES, 1.0, part) for part in ("public", "test"))
    source = generator("wrong labels")
    wrong = torch.where(torch.rand(3000, generator=source) < 0.4, torch.randint(5, (3000,), generator=source), right)
    assert float((wrong == right).double().mean()) < 0.75
    assert accuracy(taught(wrong, x, lambda rows: rows, 5), test, y) > 0.9


def test_two_classifiers_together_weigh_the_same_whatever_their_scale() -> None:
    x, y = blobs(2000, CENTRES, 1.0, "public")
    first, second = (linear_discriminant(x[part], y[part], 5) for part in (slice(0, 500), slice(500, 1000)))
    larger = LinearScores(1e3 * second.weight, 1e3 * second.bias)
    found, scaled = together(first, second, x)(x), together(first, larger, x)(x)
    torch.testing.assert_close(found, scaled, rtol=1e-4, atol=1e-4)


def rings(count: int, *key: str) -> tuple[Tensor, Tensor]:
    """Two classes that no straight line divides: points near the origin, and far from it."""
    source, y = generator(*key), torch.arange(count) % 2
    angle = 6.283 * torch.rand(count, generator=source)
    radius = 1.0 + 2.0 * y + 0.2 * torch.randn(count, generator=source)
    return torch.stack((radius * angle.cos(), radius * angle.sin()), dim=1), y


def test_the_learner_that_carries_over_to_other_sources_is_chosen_and_repeats_with_its_stream() -> None:
    x, y = rings(600, "public")
    (best, means), (again, same) = (
        best_across_sources(x, y, torch.arange(600) // 200, 2, lambda x: x, generator("networks")) for _ in range(2)
    )
    assert means == same
    assert means["nearest"] < 0.7
    assert means["network"] > 0.95
    x_test, y_test = rings(500, "test")
    assert accuracy(best, x_test, y_test) > 0.95
    assert torch.equal(best(x_test), again(x_test))


def records(count: int = 1500) -> tuple[Tensor, Tensor]:
    y = torch.arange(count) // 7 % 3
    return torch.nn.functional.normalize(
        torch.eye(3)[y] + 0.3 * torch.randn(count, 3, generator=generator("clients", count))
    ), y


def none(size: int = upload_size(3, 3)) -> Mechanism:
    return make("none", epsilon=math.inf, domain=Ball(1.0, (size,)))


def average(x: Tensor, y: Tensor, clients: int, mechanism: Mechanism | None = None, *, rounds: int = 1) -> LinearScores:
    return average_directions(x, y, 3, clients, mechanism or none(), generator("releases"), rounds=rounds)


def flat(scores: LinearScores) -> Tensor:
    return torch.cat((scores.weight.flatten(), scores.bias))


def test_clients_learn_what_separates_the_classes_the_better_the_less_noise() -> None:
    x, y = records()
    clean = average(x, y, 100)
    assert clean.accuracy(x, y) > 0.95
    ball = Ball(1.0, (upload_size(3, 3),))
    noisy = [average(x, y, 100, make("privunit", epsilon=e, domain=ball, lift=False)) for e in (0.5, 8.0)]
    low, high = (float((found.weight - clean.weight).norm()) for found in noisy)
    assert low > 2.0 * high


def test_one_client_alone_uploads_a_unit_vector_a_round() -> None:
    x, y = records(21)
    assert float(flat(average(x, y, 1)).norm()) == pytest.approx(1.0, rel=1e-5)
    assert 1.0 < float(flat(average(x, y, 1, rounds=3)).norm()) <= 3.0 + 1e-5
    # a client whose model does not change does so, too
    still = average_directions(torch.zeros(4, 3), torch.zeros(4).long(), 1, 2, none(4), generator("releases"))
    assert float(flat(still).norm()) == pytest.approx(1.0)
    with pytest.raises(InputError, match="22 clients cannot share 21 records"):
        average(x, y, 22)


def test_a_client_takes_plain_gradient_steps_on_its_own_records() -> None:
    x, y = records(7)
    weight, bias = torch.zeros(3, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
    for _ in range(EPOCHS):
        loss = torch.nn.functional.cross_entropy(x[::2] @ weight.T + bias, y[::2])
        for part, gradient in zip((weight, bias), torch.autograd.grad(loss, (weight, bias)), strict=True):
            part.data -= LEARNING_RATE * gradient
    first = torch.cat((weight.detach().flatten(), bias.detach()))
    # of two clients the first has records 0, 2, 4 and 6; the second's upload is taken away
    left = 2.0 * flat(average(x, y, 2)) - flat(average(x[1::2], y[1::2], 1))
    assert torch.allclose(left, first / first.norm(), atol=1e-5)
