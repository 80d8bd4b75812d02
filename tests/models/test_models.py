"""Networks: shapes, sizes and explicit randomness."""

import pytest
import torch
from torch import nn

from tensorldp.errors import InputError
from tensorldp_papers.nets import Task, build, names
from tensorldp_papers.nets.registry import SeededDropout

IMAGE, COLOUR, TABLE = Task((28, 28), 10), Task((32, 32, 3), 10), Task((30,), 2)
TEXT = Task((20,), 2, vocabulary=50)
TASKS = {
    "small_cnn": IMAGE,
    "mobilenet_v2": COLOUR,
    "fcn": TABLE,
    "linear": TABLE,
    "bilstm": TEXT,
    "lenet": IMAGE,
    "lenet_tanh": IMAGE,
    "vgg16_tanh": COLOUR,
    "alexnet_tanh": COLOUR,
    "bilstm_tanh": TEXT,
    "lenet_tanh_head": TABLE,
    "alexnet_tanh_head": TABLE,
    "mlp_10": TABLE,
    "mlp_12": TABLE,
    "mlp": TABLE,
    "pldp_cnn": IMAGE,
}


def gen(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def inputs(name: str) -> torch.Tensor:
    if TASKS[name] is TEXT:
        return torch.randint(0, 50, (4, 20), generator=gen())
    shape = {IMAGE: (4, 1, 28, 28), COLOUR: (4, 3, 32, 32)}.get(TASKS[name], (4, 30))
    return torch.randn(shape, generator=gen())


@pytest.mark.parametrize("name", names())
def test_scores_have_one_column_a_class_and_do_not_depend_on_the_global_generator(name: str) -> None:
    state = torch.random.get_rng_state()
    first = build(name, TASKS[name], gen()).train()
    scores = first(inputs(name))
    with torch.random.fork_rng():
        torch.rand(100)
        again = build(name, TASKS[name], gen()).train()(inputs(name))
    assert scores.shape == (4, TASKS[name].classes)
    assert torch.equal(scores, again)
    assert any(
        not torch.equal(a, b)
        for a, b in zip(first.parameters(), build(name, TASKS[name], gen(1)).parameters(), strict=True)
    )
    assert torch.random.get_rng_state().shape == state.shape


def test_sizes_are_the_sources() -> None:
    count = {
        name: sum(p.numel() for p in build(name, task, gen()).parameters() if p.requires_grad)
        for name, task in TASKS.items()
        if task is not TEXT and not name.startswith("alexnet")
    }
    assert count["mobilenet_v2"] == 2_236_682  # TLDP's backbone with ten classes
    assert count["fcn"] == 30 * 256 + 256 + 2 * (256 * 256 + 256) + 256 * 128 + 128 + 128 * 2 + 2
    assert count["linear"] == 62
    assert count["pldp_cnn"] == 260 + 5_020 + 16_050 + 510  # PLDP-FL: "320-50-10" after two convolutions


def test_the_frozen_embedding_is_not_a_released_parameter() -> None:
    model = build("bilstm", TEXT, gen())
    assert not any(p.requires_grad for n, p in model.named_parameters() if "embedding" in n)


@pytest.mark.parametrize("shape", [(28, 28), (32, 32, 3)])
def test_mobilenet_takes_small_images_and_has_1280_tanh_features(shape: tuple[int, ...]) -> None:
    from tensorldp_papers.nets.mobilenet import MobileNet
    from tensorldp_papers.nets.registry import image_layout, seed_model

    net = MobileNet(10, tanh=True)
    seed_model(net, gen())
    net.eval()
    features = net.embed(torch.randn(2, *image_layout(shape), generator=gen()))
    assert features.shape == (2, 1280)
    assert not any(isinstance(m, nn.ReLU6) for m in net.modules())
    assert float(features.abs().max()) < 1.0


def test_dropout_keeps_its_share_and_its_mean() -> None:
    layer = SeededDropout(0.3).train()
    out = layer(torch.ones(200_000))
    kept = float((out > 0).float().mean())
    assert abs(kept - 0.7) < 5 * (0.3 * 0.7 / 200_000) ** 0.5
    assert torch.allclose(out[out > 0], torch.tensor(1 / 0.7))
    assert torch.equal(layer.eval()(torch.ones(5)), torch.ones(5))


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="unknown model 'small_cn': did you mean 'small_cnn'"):
        build("small_cn", IMAGE, gen())
    with pytest.raises(InputError, match=r"takes images of shape .* got \(30,\)"):
        build("small_cnn", TABLE, gen())
    with pytest.raises(InputError, match="takes text"):
        build("bilstm", TABLE, gen())
    with pytest.raises(InputError, match="classes must be at least 2, got 1"):
        Task((3,), 1)
