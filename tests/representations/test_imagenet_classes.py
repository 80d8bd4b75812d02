"""Labels of public images by ImageNet's classes, and the network that gives them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torchvision.models import MobileNet_V2_Weights

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.data.catalogue import get
from tensorldp_papers.nets.efficientnet import EfficientNetLite2, SameConv, load_lite2
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.public.imagenet_classes import IMAGENET_CLASSES, columns_of, mapped_labels

NAMES = MobileNet_V2_Weights.IMAGENET1K_V1.meta["categories"]


@pytest.mark.parametrize("dataset", list(IMAGENET_CLASSES))
def test_every_class_has_names_of_imagenet_that_no_other_has(dataset: str) -> None:
    columns, classes = columns_of(dataset)
    assert len(set(columns)) == len(columns)
    assert sorted(set(classes)) == list(range(get(dataset).classes))


def test_a_range_of_names_is_all_that_lie_between() -> None:
    columns, classes = columns_of("cifar10")
    frogs = [NAMES[column] for column, k in zip(columns, classes, strict=True) if k == 6]
    assert frogs == ["bullfrog", "tree frog", "tailed frog"]
    assert sum(k == 5 for k in classes) == 118  # ImageNet's breeds of dogs


def test_a_class_of_few_names_is_chosen_as_often_as_others_deserve() -> None:
    """One name of a horse against 118 of dogs: what ImageNet says of all images alike is taken off."""
    source = generator("scores")
    scores = torch.randn(400, 1000, generator=source)
    horses = torch.arange(400) % 2 == 0
    scores[horses, NAMES.index("sorrel")] += 6.0
    scores[~horses, NAMES.index("pug")] += 12.0
    found = mapped_labels(scores, "cifar10")
    assert float((found[horses] == 7).double().mean()) > 0.9
    assert float((found[~horses] == 5).double().mean()) > 0.9


def test_same_padding_gives_an_odd_pixel_to_the_end() -> None:
    conv = SameConv(1, 1, 3, 2, bias=False)
    torch.nn.init.ones_(conv.weight)
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert conv(x)[0, 0].tolist() == [[45.0, 39.0], [66.0, 50.0]]  # sums of rows and columns 0 to 2, and 2 to 3


def test_weights_are_loaded_whole_or_refused_by_name(tmp_path: Path) -> None:
    net, other = EfficientNetLite2(), EfficientNetLite2()
    seed_model(net, generator("weights"))
    names = [key for key in net.state_dict() if not key.endswith("num_batches_tracked")]
    arrays = {f"layer{k}": net.state_dict()[key].numpy() for k, key in enumerate(names)}
    np.savez(tmp_path / "whole.npz", **arrays)
    load_lite2(other, tmp_path / "whole.npz")
    x = torch.rand(2, 3, 32, 32, generator=generator("images"))
    net.eval(), other.eval()
    assert torch.equal(net(x), other(x))
    assert net(x).shape == (2, 1000)
    np.savez(tmp_path / "short.npz", **dict(list(arrays.items())[:-1]))
    with pytest.raises(InputError, match=r"short.npz has 321 arrays, EfficientNet-Lite2 has 322"):
        load_lite2(other, tmp_path / "short.npz")
    np.savez(tmp_path / "turned.npz", **{**arrays, "layer0": np.zeros((3, 32, 3, 3), np.float32)})
    with pytest.raises(InputError, match=r"layer0 of the weights file .* has the shape \(3, 32, 3, 3\)"):
        load_lite2(other, tmp_path / "turned.npz")
    (tmp_path / "no.npz").write_text("text")
    with pytest.raises(InputError, match="cannot be read"):
        load_lite2(other, tmp_path / "no.npz")
