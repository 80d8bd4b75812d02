from pathlib import Path

import numpy as np
import pytest
import tiny
import torch
from torch import nn

from tensorldp.errors import InputError
from tensorldp_papers.data.prepare import prepare
from tensorldp_papers.papers.frontier.represent import (
    extractor,
    fuse_batch_norms,
    public_arrays,
    public_texts,
    represent,
)
from tensorldp_papers.public.words import WordSpace
from tensorldp_papers.run.records import Records, read_public_words


def images(count: int = 6, shape: tuple[int, ...] = (8, 8), kind: str = "image") -> Records:
    g = torch.Generator().manual_seed(0)
    return Records(
        torch.randint(0, 17, (count, *shape), generator=g).byte(), torch.zeros(count).long(), "made", 10, 0, 16, kind
    )


@pytest.mark.parametrize(("backbone", "columns"), [("strokes", 784), ("gradients", 784), ("mobilenet_v2_96", 1280)])
def test_features_are_of_one_record_alone(backbone: str, columns: int) -> None:
    records = images(4)
    together = represent(backbone, records, workers=2)
    assert together.shape == (4, columns)
    alone = represent(backbone, records.first(1))
    assert torch.allclose(together[:1], alone, atol=1e-4)


def test_batch_norms_fold_into_their_convolutions() -> None:
    g = torch.Generator().manual_seed(1)
    norm = nn.BatchNorm2d(3)
    assert norm.running_mean is not None
    assert norm.running_var is not None
    net = nn.Sequential(nn.Conv2d(2, 3, 3, bias=False), norm, nn.ReLU(), nn.Sequential(nn.Conv2d(3, 3, 1))).eval()
    norm.running_mean.copy_(torch.randn(3, generator=g))
    norm.running_var.copy_(torch.rand(3, generator=g) + 0.5)
    x = torch.randn(2, 2, 8, 8, generator=g)
    before = net(x)
    fused = fuse_batch_norms(net)
    assert not any(isinstance(module, nn.BatchNorm2d) for module in fused.modules())
    assert torch.allclose(fused(x), before, atol=1e-5)


def test_the_public_records_of_gradients_are_scikit_learns_digits() -> None:
    arrays = public_arrays("gradients")
    assert set(arrays) == {"task_x", "task_y"}
    assert arrays["task_x"].shape == (1797, 784)
    assert np.unique(arrays["task_y"]).tolist() == list(range(10))


def test_scikit_learns_digits_are_public_only_where_they_are_not_the_private_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []

    def digits(handwriting: bool, **_: int) -> None:
        asked.append(handwriting)
        raise StopIteration

    monkeypatch.setattr("tensorldp_papers.papers.frontier.represent.public_digits", digits)
    monkeypatch.setattr("tensorldp_papers.papers.frontier.represent.fitting_and_tasks", lambda: (None, None))
    for private in ("digits", "mnist"):
        with pytest.raises(StopIteration):
            public_arrays("strokes", private=private)
    assert asked == [False, True]


def made_texts(count: int) -> Records:
    source = torch.Generator().manual_seed(2)
    words = torch.randint(1, 40, (count, 12), generator=source, dtype=torch.int32)
    return Records(words, torch.arange(count) % 2, "made", 2, 0, 39, "text")


def test_words_are_fitted_on_the_last_training_texts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorldp_papers.papers.frontier.represent.PUBLIC_TEXTS", 300)
    records = made_texts(500)
    public = public_texts(records)
    assert torch.equal(public, records.x[200:])
    embed = extractor("words", public=public)
    assert represent("words", records, embed).shape == (500, 38)
    arrays = public_arrays("words", embed, public)
    assert arrays["task_x"].shape == (10 * 300, 38)
    assert np.unique(arrays["task_y"]).tolist() == [10 * task + label for task in range(10) for label in (0, 1)]


def test_no_private_text_influences_the_map_of_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("data.text", "papers.frontier.represent"):
        monkeypatch.setattr(f"tensorldp_papers.{module}.PUBLIC_TEXTS", 60)
    monkeypatch.setattr("tensorldp_papers.data.text.VOCABULARY", 30)
    source = np.random.default_rng(3)
    public = [" ".join(source.choice([f"w{k}" for k in range(30)], 40)) for _ in range(60)]
    maps = []
    for private in (["w1 w2"] * 10, [" ".join(f"v{k}" for k in range(40))] * 10):  # the second is all of other words
        folder = tmp_path / private[0][:2]
        tiny.write_reviews(folder / "aclImdb_labeled.tar.xz", private + public)
        prepare("imdb", folder, folder, expect_full=False)
        texts = public_texts(read_public_words(folder / "train.safetensors"))
        space = extractor("words", public=texts)
        assert isinstance(space, WordSpace)
        maps.append((texts.numpy(), space.columns, space.weights, space.directions))
    assert all(np.array_equal(*pair) for pair in zip(*maps, strict=True))
    (folder / "train_public_words.safetensors").unlink()
    with pytest.raises(
        InputError, match=r"train_public_words\.safetensors is not beside it: prepare the data set again"
    ):
        read_public_words(folder / "train.safetensors")


def test_words_need_enough_texts() -> None:
    with pytest.raises(InputError, match="made has 50 training texts, but words needs 5000 of them as public"):
        public_texts(made_texts(50))
    with pytest.raises(InputError, match="the representation words takes texts, but made holds image"):
        public_texts(images())
    with pytest.raises(InputError, match="needs public texts"):
        extractor("words")


def test_what_is_no_image_or_no_representation_is_refused() -> None:
    with pytest.raises(InputError, match="takes images, but made holds tabular"):
        represent("strokes", images(kind="tabular"))
    with pytest.raises(InputError, match="stroke"):
        extractor("stroke")
