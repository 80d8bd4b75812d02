"""Networks: shapes, sizes and explicit randomness."""

import pytest
import torch
from torch import nn

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.nets import Task, build, names
from tensorldp_papers.nets.mobilenet import MobileNet
from tensorldp_papers.nets.registry import SeededDropout, image_layout, seed_model

IMAGE, COLOUR, TABLE, TEXT = Task((28, 28), 10), Task((32, 32, 3), 10), Task((30,), 2), Task((20,), 2, vocabulary=50)
TASKS = {
    **dict.fromkeys(("small_cnn", "lenet", "lenet_wide", "lenet_tanh", "pldp_cnn"), IMAGE),
    **dict.fromkeys(("mobilenet_v2", "vgg16_tanh", "alexnet_tanh"), COLOUR),
    **dict.fromkeys(("fcn", "linear", "lenet_tanh_head", "alexnet_tanh_head", "mlp_10", "mlp_12", "mlp"), TABLE),
    **dict.fromkeys(("bilstm", "bilstm_tanh"), TEXT),
}
LEAST = (
    ("small_cnn", 4),
    ("lenet", 4),
    ("lenet_wide", 4),
    ("lenet_tanh", 4),
    ("pldp_cnn", 16),
    ("alexnet_tanh", 8),
    ("vgg16_tanh", 32),
)
LARGE = ("vgg16_tanh", "alexnet_tanh")  # long to build: once will do, as their randomness is that of the others


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_scores_have_one_column_a_class_and_depend_on_the_given_generator_alone(name: str) -> None:
    task = TASKS[name]
    if task is TEXT:
        x = torch.randint(0, 50, (4, 20), generator=generator())
    else:
        x = torch.randn(
            4, *(image_layout(task.shape, name) if len(task.shape) > 1 else task.shape), generator=generator()
        )
    found: list[torch.Tensor] = []
    for seed in (0,) if name in LARGE else (0, 0, 1):
        with torch.random.fork_rng():
            torch.rand(1 + len(found))  # another state of the global generator
            model = build(name, task, generator(seed)).train()
            found.append(model(x))
    assert found[0].shape == (4, task.classes)
    assert not any(isinstance(module, nn.Dropout) for module in model.modules())
    if name not in LARGE:
        assert torch.equal(found[0], found[1])
        assert not torch.equal(found[0], found[2])


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("mobilenet_v2", 2_236_682),  # TLDP's backbone with ten classes
        ("fcn", 30 * 256 + 256 + 2 * (256 * 256 + 256) + 256 * 128 + 128 + 128 * 2 + 2),
        ("linear", 62),
        ("lenet_wide", 156 + 9_664 + 3136 * 512 + 512 + 5_130),  # TVG: 5 x 5 x 6 first, 3,136 x 512 the largest
        ("pldp_cnn", 260 + 5_020 + 16_050 + 510),  # PLDP-FL: "320-50-10" after two convolutions
    ],
)
def test_sizes_are_the_sources(name: str, size: int) -> None:
    model = build(name, TASKS[name], generator())
    assert sum(p.numel() for p in model.parameters() if p.requires_grad) == size


def test_the_frozen_embedding_is_not_a_released_parameter() -> None:
    model = build("bilstm", TEXT, generator())
    assert not any(p.requires_grad for name, p in model.named_parameters() if "embedding" in name)


@pytest.mark.parametrize("shape", [(28, 28), (32, 32, 3)])
def test_mobilenet_takes_small_images_and_has_1280_tanh_features(shape: tuple[int, ...]) -> None:
    net = MobileNet(10, tanh=True)
    seed_model(net, generator()).eval()
    assert not any(isinstance(m, nn.ReLU6) for m in net.modules())
    features = net.embed(torch.randn(2, *image_layout(shape, "it"), generator=generator()))
    assert features.shape == (2, 1280)
    assert float(features.detach().abs().max()) < 1.0


@pytest.mark.parametrize(("name", "size"), [pair for pair in LEAST if pair[0] not in LARGE])
def test_a_network_takes_the_smallest_images_that_it_says(name: str, size: int) -> None:
    assert build(name, Task((size, size), 3), generator())(torch.zeros(2, 1, size, size)).shape == (2, 3)


def test_dropout_keeps_its_share_and_its_mean() -> None:
    layer = SeededDropout(0.3).train()
    out = layer(torch.ones(200_000))
    assert abs(float((out > 0).float().mean()) - 0.7) < 5 * (0.3 * 0.7 / 200_000) ** 0.5
    assert torch.allclose(out[out > 0], torch.tensor(1 / 0.7))
    assert torch.equal(layer.eval()(torch.ones(5)), torch.ones(5))


@pytest.mark.parametrize(
    ("name", "task", "message"),
    [
        ("small_cn", IMAGE, "unknown model 'small_cn': did you mean 'small_cnn'"),
        ("small_cnn", TABLE, r"the model small_cnn takes images of shape .* got \(30,\)"),
        *(
            (name, Task((size - 1, 40), 3), f"the model {name} takes .* at least {size} x {size}")
            for name, size in LEAST
        ),
        ("bilstm", TABLE, "takes text"),
    ],
)
def test_mistakes_are_named(name: str, task: Task, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(name, task, generator())
    with pytest.raises(InputError, match="classes must be at least 2, got 1"):
        Task((3,), 1)
