"""Frozen extractors of features."""

import pytest
import torch
import torchvision

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.nets.features import extract, feature_range
from tensorldp_papers.nets.mobilenet import MobileNet, imagenet_normalise
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.run.records import Records, model_inputs

CPU = torch.device("cpu")


def images(count: int = 40, shape: tuple[int, ...] = (8, 8)) -> Records:
    x = torch.randint(0, 17, (count, *shape), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    return Records(x, torch.arange(count) % 4, "d", 4, 0.0, 16.0, "image")


def test_features_lie_in_the_open_box_and_do_not_depend_on_other_records() -> None:
    features = extract("tanh_cnn", images(), CPU)
    assert features.shape == (40, 8, 16)
    assert float(features.abs().max()) < 1.0
    assert torch.allclose(features[:3], extract("tanh_cnn", images().first(3), CPU), atol=1e-6)
    with pytest.raises(InputError, match="unknown backbone 'tanh'"):
        extract("tanh", images(), CPU)


def test_mobilenet_keeps_its_relu6_where_it_is_asked_for() -> None:
    """Against torchvision's own network with the same weights."""
    found = extract("mobilenet_v2", images().first(5), CPU)
    net = MobileNet(2)
    seed_model(net, generator("features", "mobilenet_v2"))
    plain = torchvision.models.mobilenet_v2(weights=None, num_classes=2).eval()
    plain.load_state_dict(net.state_dict())
    records = images().first(5)
    x = model_inputs(records.x, "image") / records.high
    with torch.no_grad():
        expected = plain.features(imagenet_normalise(x)).mean(dim=(2, 3))
    assert any(isinstance(layer, torch.nn.ReLU6) for layer in plain.modules())
    torch.testing.assert_close(found.flatten(1), expected, rtol=1e-4, atol=1e-5)
    assert feature_range("mobilenet_v2") == (0.0, 6.0)
    assert feature_range("mobilenet_v2_tanh") == (-1.0, 1.0)


def test_features_are_the_same_however_many_threads_share_the_records() -> None:
    assert torch.equal(extract("tanh_cnn", images(1200), CPU), extract("tanh_cnn", images(1200), CPU, workers=3))
    with pytest.raises(InputError, match="workers must be a whole number of at least 1, got 0"):
        extract("tanh_cnn", images(), CPU, workers=0)
