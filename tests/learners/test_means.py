import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from torch import Tensor
from typed import make_as

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, make
from tensorldp.mechanisms.privunit import PrivUnit
from tensorldp.randomness import generator
from tensorldp_papers.public.means import class_moments, label_blocks, nearest_block_mean, nearest_mean, public_metric

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
