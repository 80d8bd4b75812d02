from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
import tiny
from tiny import load

from tensorldp.errors import InputError
from tensorldp.files import read_arrays
from tensorldp_papers.data.prepare import prepare
from tensorldp_papers.data.text import LENGTH, frequent, tokenise

ARCHIVE = "aclImdb_labeled.tar.xz"


def test_tokens_are_spacys() -> None:
    strings, rows = tokenise(["It isn't  Great!<br /><br />A film.", ""])
    assert [strings[int(key)] for key in rows[0]] == ["it", "is", "n't", "great", "!", "a", "film", "."]
    assert len(rows[1]) == 0


def test_words_by_count_then_alphabet() -> None:
    assert frequent(["b", "a", "c", "unseen"], np.array([2, 2, 5, 0]), 2) == {"c": 1, "a": 2}


def test_training_vocabulary(tmp_path: Path) -> None:
    tiny.write_imdb(tmp_path / ARCHIVE)
    prepare("imdb", tmp_path, tmp_path / "out", expect_full=False)
    train, test = (load(tmp_path / "out" / f"{split}.safetensors") for split in ("train", "test"))
    assert (train.x.shape, train.x.dtype) == ((6, LENGTH), np.int32)
    assert train.y.tolist() == test.y.tolist() == [0, 1, 0, 1, 0, 1]
    # the second review of a class is longer than 500 tokens, the others are padded at the end
    assert (train.x[:, -1] > 0).tolist() == [False, False, True, True, False, False]
    assert train.x.max() == int(train.metadata["high"]) == int(train.metadata["vocabulary"]) - 1
    assert train.metadata["words"] == "training reviews"
    assert "no guarantee covers" in train.metadata["deviation"]
    # 'awful' and 'great' are the fourth token
    assert len(set(train.x[train.y == 0, 3])) == 1
    assert train.x[0, 3] != train.x[1, 3]
    assert not (tmp_path / "out" / "embedding.safetensors").exists()


def prepared_texts(folder: Path, texts: list[str]) -> dict[str, np.ndarray]:
    """What `prepare` makes of training and test reviews, the same ones, of which the last two are public."""
    tiny.write_reviews(folder / ARCHIVE, texts)
    prepare("imdb", folder, folder / "out", expect_full=False)
    names = ("train", "train_public_words", "test_public_words")
    arrays = {name: read_arrays(folder / "out" / f"{name}.safetensors")[0] for name in names}
    return {name: found["x" if name == "train" else "weight"] for name, found in arrays.items()}


def test_no_private_text_influences_the_public_index_of_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorldp_papers.data.text.PUBLIC_TEXTS", 2)
    monkeypatch.setattr("tensorldp_papers.data.text.VOCABULARY", 4)
    public = ["good good film", "bad film"]
    one = prepared_texts(tmp_path / "one", ["bad story", "good one", *public])
    other = prepared_texts(tmp_path / "other", ["plot plot plot story story", "plot story acting", *public])
    assert one["train_public_words"][2:, :3].tolist() == [[2, 2, 1], [3, 1, 0]]  # film, good and bad by count
    assert np.array_equal(one["train_public_words"][2:], other["train_public_words"][2:])
    assert np.array_equal(one["test_public_words"][2:], other["test_public_words"][2:])
    assert other["train_public_words"][:2].max() == 0  # words that no public text has
    assert not np.array_equal(one["train"][2:], other["train"][2:])  # the studies' own index is of all training texts


def test_limit(tmp_path: Path) -> None:
    tiny.write_imdb(tmp_path / ARCHIVE)
    prepare("imdb", tmp_path, tmp_path / "out", limit=1)
    assert len(load(tmp_path / "out" / "train.safetensors").x) == 2
    with pytest.raises(InputError, match="limit must be a whole number of at least 1"):
        prepare("imdb", tmp_path, tmp_path / "out", limit=0)
    with pytest.raises(InputError, match="limit is for reviews"):
        prepare("digits", None, tmp_path / "out", limit=5)


@pytest.mark.parametrize("zipped", [False, True])
def test_glove(tmp_path: Path, zipped: bool) -> None:
    tiny.write_imdb(tmp_path / ARCHIVE)
    lines = "".join(f"{word} " + " ".join([str(k / 2)] * 100) + "\n" for k, word in enumerate(["film", "n't", "awful"]))
    if zipped:
        with zipfile.ZipFile(tmp_path / "glove.6B.zip", "w") as archive:
            archive.writestr("glove.6B.100d.txt", lines)
    else:
        (tmp_path / "glove.6B.100d.txt").write_text(lines)
    prepare("imdb", tmp_path, tmp_path / "out", expect_full=False)
    train = load(tmp_path / "out" / "train.safetensors")
    assert train.x[0, :8].tolist() == [0, 0, 2, 3, 0, 0, 1, 0]
    assert (train.metadata["vocabulary"], train.metadata["high"]) == ("4", "3")
    weight = read_arrays(tmp_path / "out" / "embedding.safetensors")[0]["weight"]
    assert weight[:, 0].tolist() == [0, 0, 0.5, 1]
    assert weight.shape == (4, 100)
    assert not (tmp_path / "out" / "train_public_words.safetensors").exists()  # GloVe's words are public
    with pytest.raises(InputError, match="has 3 words, expected 400000"):
        prepare("imdb", tmp_path, tmp_path / "out", limit=1)


def test_damaged_glove(tmp_path: Path) -> None:
    tiny.write_imdb(tmp_path / ARCHIVE)
    (tmp_path / "glove.6B.100d.txt").write_text("film 1 2 3\n")
    with pytest.raises(InputError, match=r"line 1 of .* must be a word and 100 numbers"):
        prepare("imdb", tmp_path, tmp_path / "out", expect_full=False)


def test_archive_that_leaves_its_folder(tmp_path: Path) -> None:
    tiny.write_tar(tmp_path / ARCHIVE, {"aclImdb/train/pos/../../../../x_1.txt": b"x"}, "w:xz")
    with pytest.raises(InputError, match="are refused"):
        prepare("imdb", tmp_path, tmp_path / "out")
    tiny.write_imdb(tmp_path / ARCHIVE, link="aclImdb/train/pos/9_9.txt")
    with pytest.raises(InputError, match="is a link or a device"):
        prepare("imdb", tmp_path, tmp_path / "out")
    tiny.write_imdb(tmp_path / ARCHIVE, reviews=0)
    with pytest.raises(InputError, match="has no review aclImdb/train/neg"):
        prepare("imdb", tmp_path, tmp_path / "out")
