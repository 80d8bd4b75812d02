"""Public representations of records: frozen extractors, and those of the study `frontier`."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny
import torch
import torchvision
from small import CPU, fixed, images, table
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp.files import read_json
from tensorldp.randomness import generator
from tensorldp_papers.data.prepare import prepare
from tensorldp_papers.data.sentiment import BLAME, PRAISE, polarity
from tensorldp_papers.extractors import feature_range
from tensorldp_papers.nets.features import feature_extractor
from tensorldp_papers.nets.mobilenet import MobileNet, imagenet_normalise
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.papers.frontier import represent as public
from tensorldp_papers.papers.frontier.represent import (
    extractor,
    public_arrays,
    public_labels,
    public_records,
    public_texts,
    represent,
)
from tensorldp_papers.public.words import WordSpace
from tensorldp_papers.run.records import Records, model_inputs, read_public_words

REPRESENT = "tensorldp_papers.papers.frontier.represent"


def extract(backbone: str, records: Records, workers: int = 1) -> Tensor:
    return feature_extractor(backbone, records, CPU).features(records, workers)


def test_extracted_features_lie_in_the_open_box_and_do_not_depend_on_other_records_or_threads() -> None:
    features = extract("tanh_cnn", images(1200))
    assert features.shape == (1200, 8, 16)
    assert float(features.abs().max()) < 1.0
    assert torch.allclose(features[:3], extract("tanh_cnn", images(1200).first(3)), atol=1e-6)
    assert torch.equal(features, extract("tanh_cnn", images(1200), workers=3))
    with pytest.raises(InputError, match="workers must be a whole number of at least 1, got 0"):
        extract("tanh_cnn", images(), workers=0)
    with pytest.raises(InputError, match="unknown backbone 'tanh'"):
        extract("tanh", images())


def test_a_trained_body_depends_on_the_records_and_their_labels_and_others_do_not() -> None:
    """Labels that say nothing give another body; where nothing is trained, the records do not matter."""
    train, test = images(200), images(40)
    shuffled = replace(train, y=train.y.flip(0))
    for backbone, same in (("lenet_tanh_trained", False), ("lenet_tanh", True)):
        one, again, other = (
            feature_extractor(backbone, records, CPU).features(test) for records in (train, train, shuffled)
        )
        assert torch.equal(one, again)
        assert torch.equal(one, other) == same
        assert float(one.abs().max()) < 1.0


def test_text_has_150_features_that_padding_does_not_change() -> None:
    tokens = torch.randint(1, 30, (6, 12), generator=fixed(), dtype=torch.int32)
    padded = torch.cat([tokens, torch.zeros(6, 5, dtype=torch.int32)], dim=1)
    found, longer = (extract("bilstm_tanh", table(x, "text", vocabulary=30)) for x in (tokens, padded))
    assert found.shape == (6, 150)
    assert torch.allclose(longer[:, :75], found[:, :75], atol=1e-6)  # the backward direction starts in the padding


def test_features_of_text_are_of_word_vectors_that_came_with_the_data() -> None:
    tokens = torch.randint(1, 30, (6, 12), generator=fixed(), dtype=torch.int32)
    same = torch.zeros(30, 50)
    same[1:] = torch.randn(50, generator=fixed(1))
    found, drawn = (
        extract("bilstm_tanh", table(tokens, "text", vocabulary=30, embedding=words)) for words in (same, None)
    )
    assert torch.allclose(found, found[:1].expand(6, -1), atol=1e-6)  # all words have one vector
    assert not torch.allclose(drawn, drawn[:1].expand(6, -1), atol=1e-2)
    with pytest.raises(
        InputError, match=r"word vectors of shape \(30, 100\) are needed, or shorter ones, got \(29, 50\)"
    ):
        extract("bilstm_tanh", table(tokens, "text", vocabulary=30, embedding=same[1:]))


def test_mobilenet_keeps_its_relu6_where_it_is_asked_for() -> None:
    """Against torchvision's own network with the same weights."""
    records = images(5)
    found = extract("mobilenet_v2", records)
    net = MobileNet(2)
    seed_model(net, generator("features", "mobilenet_v2"))
    plain = torchvision.models.mobilenet_v2(weights=None, num_classes=2).eval()
    plain.load_state_dict(net.state_dict())
    x = model_inputs(records.x, "image") / records.high
    with torch.no_grad():
        expected = plain.features(imagenet_normalise(x)).mean(dim=(2, 3))
    assert any(isinstance(layer, torch.nn.ReLU6) for layer in plain.modules())
    torch.testing.assert_close(found.flatten(1), expected, rtol=1e-4, atol=1e-5)
    assert feature_range("mobilenet_v2") == (0.0, 6.0)
    assert feature_range("mobilenet_v2_tanh") == (-1.0, 1.0)


@pytest.mark.parametrize(("backbone", "columns"), [("strokes", 784), ("gradients", 784), ("imagenet_160", 2560)])
def test_features_are_of_one_record_alone(backbone: str, columns: int) -> None:
    together = represent(backbone, images(4), workers=2)
    assert together.shape == (4, columns)
    assert torch.allclose(together[:1], represent(backbone, images(4).first(1)), atol=1e-4)


def test_batch_norms_fold_into_their_convolutions() -> None:
    norm = nn.BatchNorm2d(3)
    norm.load_state_dict(
        {**norm.state_dict(), "running_mean": torch.tensor([0.5, -1, 2]), "running_var": torch.tensor([0.5, 1, 1.5])}
    )
    net = nn.Sequential(nn.Conv2d(2, 3, 3, bias=False), norm, nn.ReLU(), nn.Sequential(nn.Conv2d(3, 3, 1))).eval()
    x = torch.randn(2, 2, 8, 8, generator=fixed(1))
    before = net(x)
    fused = public.fuse_batch_norms(net)
    assert not any(isinstance(module, nn.BatchNorm2d) for module in fused.modules())
    assert torch.allclose(fused(x), before, atol=1e-5)


def test_scikit_learns_digits_are_the_public_records_only_where_they_are_not_the_private_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arrays = public_arrays("gradients")
    assert set(arrays) == {"task_x", "task_y"}
    assert arrays["task_x"].shape == (1797, 784)
    assert np.unique(arrays["task_y"]).tolist() == list(range(10))
    asked: list[bool] = []

    def digits(handwriting: bool, **_: int) -> None:
        asked.append(handwriting)
        raise StopIteration

    monkeypatch.setattr(f"{REPRESENT}.public_digits", digits)
    monkeypatch.setattr(f"{REPRESENT}.fitting_and_tasks", lambda: (None, None))
    for private in ("digits", "mnist"):
        with pytest.raises(StopIteration):
            public_arrays("strokes", private=private)
    assert asked == [False, True]


def made_texts(count: int) -> Records:
    words = torch.randint(1, 40, (count, 12), generator=fixed(2), dtype=torch.int32)
    return table(words, "text", low=0.0, high=39.0)


def test_words_are_fitted_on_the_last_training_texts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{REPRESENT}.PUBLIC_TEXTS", 300)
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
    with pytest.raises(InputError, match=r"train_public_words\.safetensors is not beside it: prepare .* again"):
        read_public_words(folder / "train.safetensors")


def test_copies_of_public_texts_among_the_others_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("data.text", "papers.frontier.represent"):
        monkeypatch.setattr(f"tensorldp_papers.{module}.PUBLIC_TEXTS", 60)
    monkeypatch.setattr(f"{REPRESENT}.TASK_TEXTS", 60)
    source = np.random.default_rng(3)
    words = [*PRAISE, *BLAME, *(f"w{k}" for k in range(10))]
    texts = [" ".join(source.choice(words[::8], 20)) for _ in range(70)]
    texts[1], texts[2] = texts[-1], texts[-2]
    tiny.write_reviews(tmp_path / "aclImdb_labeled.tar.xz", texts)
    prepare("imdb", tmp_path, tmp_path, expect_full=False)
    script = runpy.run_path(str(Path(__file__).parents[2] / "workflow" / "scripts" / "represent.py"))
    script["main"](["--data", str(tmp_path), "--backbone", "words", "--out", str(tmp_path / "out")])
    # the test reviews are the same seventy: sixty public ones and two of the others
    assert read_json(tmp_path / "out" / "record.json")["copies_of_public"] == {"private": 2, "test": 62}
    assert "imdb: copies of public records: {'private': 2, 'test': 62}" in capsys.readouterr().out


def test_what_cannot_be_represented_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match="d has 50 training texts, but words needs 5000 of them as public"):
        public_texts(made_texts(50))
    with pytest.raises(InputError, match="the representation words takes texts, but d holds image"):
        public_texts(images())
    with pytest.raises(InputError, match="needs public texts"):
        extractor("words")
    with pytest.raises(InputError, match="takes images, but d holds tabular"):
        represent("strokes", table(torch.zeros(6, 8, 8)))
    with pytest.raises(InputError, match="takes tables, but d holds image"):
        represent("columns", images())
    with pytest.raises(InputError, match="stroke"):
        extractor("stroke")


def test_a_tables_columns_lie_between_minus_one_and_one_over_their_public_range() -> None:
    rows = table(torch.tensor([[0.0, 20.0], [5.0, 10.0]]), low=0.0, high=20.0)
    assert represent("columns", rows).tolist() == [[-1.0, 1.0], [-0.5, 0.0]]
    assert public_records("columns", rows) is None


@pytest.mark.slow
def test_each_networks_features_are_over_their_deviation_on_public_images() -> None:
    public = torch.rand(24, 3, 16, 16, generator=fixed(4))
    plain, scaled = extractor("imagenet_160"), extractor("imagenet_160", public=public)
    with torch.inference_mode():
        found, before = scaled(public), plain(public)
    for part in (slice(0, 1280), slice(1280, 2560)):
        assert float(found[:, part].double().var(dim=0).mean()) == pytest.approx(1.0, abs=1e-4)
        ratio = before[:, part].sum() / found[:, part].sum()
        torch.testing.assert_close(found[:, part] * ratio, before[:, part], rtol=1e-3, atol=1e-4)


def test_public_labels_are_the_task_that_chooses_the_dimension_of_photographs() -> None:
    labels, rows = torch.arange(6) % 2, torch.rand(6, 4, generator=fixed(5))
    arrays = public_arrays("imagenet_160", lambda x: x, rows, private="cifar10", labels=labels, features_of_public=rows)
    assert arrays["task_y"].tolist() == arrays["labels"].tolist() == labels.tolist()
    assert torch.equal(torch.from_numpy(arrays["task_x"]), rows)
    assert set(public_arrays("gradients", labels=labels)) == {"task_x", "task_y", "labels"}  # digits choose theirs


def test_public_records_are_the_last_images_between_0_and_1() -> None:
    records = images(7)
    found = public_records("imagenet_160", records)
    assert found is not None
    assert found.shape == (7, 1, *records.shape)
    assert 0.0 <= float(found.min()) <= float(found.max()) <= 1.0
    assert public_records("strokes", records) is None
    assert public_labels("svhn", found, {}) is None


def test_praise_and_blame_label_texts_by_their_balance() -> None:
    index = {"wonderful": 1, "film": 2, "awful": 3, "waste": 4, "the": 5}
    signs = polarity(index, 6)
    assert signs.tolist() == [0, 1, 0, -1, -1, 0]
    texts = torch.tensor([[1, 2, 5, 0], [3, 2, 4, 5], [2, 5, 1, 1], [5, 2, 9, 3]], dtype=torch.int32)
    found = public_labels("imdb", texts, {}, signs)
    assert found is not None
    assert found.tolist() == [1, 0, 1, 0]
    assert not set(PRAISE.split()) & set(BLAME.split())
