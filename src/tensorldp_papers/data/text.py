"""IMDB reviews as rows of token indices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp_papers.data.archives import decompressed, tar_members, zip_lines
from tensorldp_papers.data.sentiment import polarity
from tensorldp_papers.data.split import Options, Parsed, parser
from tensorldp_papers.progress import track

LENGTH = 500
"""Tokens of a review: longer ones are cut, shorter ones are padded with index 0 at the end."""
SHORT_LENGTH = 50
"""Tokens of a review in `imdb_glove_short`, the last ones: they say more about its verdict than as many first ones."""
SHORT_TEST = 1000
"""Test reviews in `imdb_glove_short`, the first ones."""
GLOVE_WORDS, GLOVE_WIDTH = 400_000, 100  # lines of GloVe 6B, and numbers of each
PART_WORDS, PART_WIDTH = 100_000, 50  # of the part of GloVe 6B 50d
VOCABULARY = 20_000
"""Most frequent training words that get an index of their own where there is no GloVe."""
PUBLIC_TEXTS = 5000
"""How many of the last training reviews are public, without their labels, for studies that learn from public texts.

Of IMDB's other 20,000, 20 are copies of them, and 40 of its test reviews."""

_REVIEW = re.compile(r"aclImdb/(train|test)/(neg|pos)/(\d+)_\d+\.txt")
_GLOVE = "glove.6B.100d.txt"
_PART = "glove.6B.50d.first100000.txt.xz"
# The frozen embedding is public with GloVe, but the training vocabulary is not covered by any guarantee
_OWN_VOCABULARY = (
    f"indices 1 to {VOCABULARY} are the most frequent words of the training reviews, which no guarantee "
    "covers, in place of GloVe's 400000"
)


@parser("imdb")
def parse_imdb(files: Mapping[str, Path], options: Options) -> Parsed:
    """Reads IMDB reviews: x (N, 500) int32 token indices, y 1 for positive; negative and positive alternate.

    Index 0 is padding and every word without an index. With GloVe 6B among the files, a word's index is its line
    (400,001 indices) and `embedding.safetensors` gets the vectors; otherwise the training vocabulary is used.
    `train_public_words.safetensors` and its counterpart for the test split then have the same reviews with the most
    frequent words of only the public reviews, the last `PUBLIC_TEXTS` of the training split: no other review influences
    these.

    `expect_full` insists on GloVe's 400,000 words; `limit` is the number of reviews of each split and class, the first
    by number, None for all.
    """
    reviews = _Reviews.of(files, options, LENGTH)
    glove = next((files[name] for name in (_GLOVE, "glove.6B.zip") if name in files), None)
    if glove is not None:
        return reviews.with_glove(glove, GLOVE_WORDS if options.expect_full else None, GLOVE_WIDTH, "GloVe 6B")
    every = list(range(len(reviews.tokens)))[: reviews.count]
    index = reviews.vocabulary(every)
    own = reviews.vocabulary(every[-PUBLIC_TEXTS:])
    public = reviews.indexed(own)
    metadata = {"words": "training reviews", "deviation": _OWN_VOCABULARY}
    extra: dict[str, NDArray[Any]] = {
        "train_public_words": public[: reviews.count],
        "test_public_words": public[reviews.count :],
    }
    extra["public_polarity"] = polarity(own, len(own) + 1)
    return reviews.parsed(index, metadata, extra)


@parser("imdb_glove")
def parse_imdb_glove(files: Mapping[str, Path], options: Options) -> Parsed:
    """Reads the same tokens, whose indices are lines of GloVe 6B 50d.

    Of GloVe's 400,000 words it has the first 100,000, the most frequent ones of GloVe's own texts; others have index 0.
    `embedding.safetensors` gets the vectors. The options are those of `parse_imdb`.
    """
    return _with_part(files, options, _Reviews.of(files, options, LENGTH))


@parser("imdb_glove_short")
def parse_imdb_glove_short(files: Mapping[str, Path], options: Options) -> Parsed:
    """Reads what `parse_imdb_glove` does, of the last `SHORT_LENGTH` tokens and the first `SHORT_TEST` test reviews."""
    parsed = _with_part(files, options, _Reviews.of(files, options, SHORT_LENGTH, last=True))
    x, y = parsed.test
    return replace(parsed, test=(x[:SHORT_TEST], y[:SHORT_TEST]))


def _with_part(files: Mapping[str, Path], options: Options, reviews: _Reviews) -> Parsed:
    expected = PART_WORDS if options.expect_full else None
    return reviews.with_glove(files[_PART], expected, PART_WIDTH, "GloVe 6B 50d")


@dataclass(frozen=True)
class _Reviews:
    """The tokens of all reviews, those of the training split first, in which classes take turns.

    Attributes:
        count: reviews of the training split.
        y: 1 for positive.
        words: all words that occur.
        tokens: of each review, positions in `words`.
        length: tokens of a review at most.
    """

    count: int
    y: NDArray[np.int64]
    words: list[str]
    tokens: list[NDArray[np.int64]]
    length: int

    @classmethod
    def of(cls, files: Mapping[str, Path], options: Options, length: int, *, last: bool = False) -> _Reviews:
        """Reads the archive among some files."""
        archive = next(path for name, path in files.items() if name.startswith("aclImdb"))
        reviews = read_reviews(archive, options.limit)
        strings, keys = tokenise([text for texts in reviews.values() for text in texts], length, last=last)
        count = sum(len(reviews["train", label]) for label in ("neg", "pos"))
        y = np.concatenate([np.full(len(texts), int(label == "pos")) for (_, label), texts in reviews.items()])
        order = [*_alternating(y[:count]), *(count + k for k in _alternating(y[count:]))]
        present = np.unique(np.concatenate(keys))
        tokens = [np.searchsorted(present, keys[place]) for place in order]
        return cls(count, y[order], [strings[int(key)] for key in present], tokens, length)

    def vocabulary(self, of: list[int]) -> dict[str, int]:
        """Returns the indices of the most frequent words of some reviews."""
        places = np.concatenate([self.tokens[k] for k in of])
        return frequent(self.words, np.bincount(places, minlength=len(self.words)), VOCABULARY)

    def indexed(self, index: Mapping[str, int]) -> NDArray[np.int32]:
        """Returns the reviews as rows of `length` indices; words without one have 0, as padding has."""
        indices = np.array([index.get(word, 0) for word in self.words], np.int32)
        x = np.zeros((len(self.tokens), self.length), np.int32)
        for row, places in zip(x, self.tokens, strict=True):
            row[: len(places)] = indices[places]
        return x

    def with_glove(self, path: Path, expected: int | None, width: int, name: str) -> Parsed:
        """Returns both splits with the lines of a file of GloVe for indices, and its vectors."""
        words, vectors = read_glove(path, expected, width)
        index = {word: position for position, word in enumerate(words, start=1)}
        return self.parsed(
            index, {"words": name}, {"embedding": vectors, "public_polarity": polarity(index, len(words) + 1)}
        )

    def parsed(self, index: Mapping[str, int], metadata: dict[str, str], extra: dict[str, NDArray[Any]]) -> Parsed:
        """Returns both splits with these indices."""
        x, count = self.indexed(index), self.count
        metadata = {"vocabulary": str(len(index) + 1), "high": str(len(index)), "padding": "0", **metadata}
        return Parsed((x[:count], self.y[:count]), (x[count:], self.y[count:]), metadata, extra)


def read_reviews(path: Path, limit: int | None) -> dict[tuple[str, str], list[str]]:
    """Reads the texts of aclImdb by (split, class), each list by review number; train comes first."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {
        (split, label): [] for split in ("train", "test") for label in ("neg", "pos")
    }
    try:
        for name, content in tar_members(path, lambda name: _REVIEW.fullmatch(name) is not None):
            split, label, number = _REVIEW.fullmatch(name).groups()  # type: ignore[union-attr]
            found[split, label].append((int(number), content.decode("utf-8")))
    except UnicodeDecodeError:
        raise InputError(f"the review {name} in {path} is not UTF-8 text") from None
    for (split, label), texts in found.items():
        if not texts:
            raise InputError(f"the archive {path} has no review aclImdb/{split}/{label}/<number>_<stars>.txt")
    return {key: [text for _, text in sorted(texts)[:limit]] for key, texts in found.items()}


def tokenise(texts: list[str], length: int = LENGTH, *, last: bool = False) -> tuple[Any, list[NDArray[np.uint64]]]:
    """Returns spaCy's string table, and the keys in it of each text's first or last `length` tokens in lower case."""
    import spacy
    from spacy.attrs import IS_SPACE, LOWER

    tokenizer: Any = spacy.blank("en").tokenizer
    plain = (text.replace("<br />", " ") for text in texts)
    rows = []
    for document in track(tokenizer.pipe(plain), "tokenising reviews", total=len(texts)):
        keys = document.to_array([LOWER, IS_SPACE])
        words = keys[keys[:, 1] == 0, 0]
        rows.append(words[-length:] if last else words[:length])
    return tokenizer.vocab.strings, rows


def frequent(words: list[str], counts: NDArray[np.int64], cap: int) -> dict[str, int]:
    """Returns indices from 1 by falling count, ties by the alphabet, for the `cap` most frequent words that occur."""
    order = sorted((k for k in range(len(words)) if counts[k]), key=lambda k: (-counts[k], words[k]))
    return {words[k]: position for position, k in enumerate(order[:cap], start=1)}


def read_glove(path: Path, expected: int | None, width: int = GLOVE_WIDTH) -> tuple[list[str], NDArray[np.float32]]:
    """Reads the words of GloVe in order, and float32 vectors (words + 1, width) whose row 0, for index 0, is zero."""
    words: list[str] = []
    rows = [np.zeros(width, np.float32)]
    lines = zip_lines(path, _GLOVE) if path.suffix == ".zip" else _lines(path)
    for number, line in enumerate(track(lines, "reading GloVe", total=expected), start=1):
        word, *values = line.split(" ")
        try:
            row = np.array(values, np.float32)
        except ValueError:
            row = np.zeros(0, np.float32)
        if row.shape != (width,):
            raise InputError(f"the line {number} of {path} must be a word and {width} numbers")
        words.append(word)
        rows.append(row)
    if expected is not None and len(words) != expected:
        raise InputError(f"the file {path} has {len(words)} words, expected {expected}")
    return words, np.stack(rows)


def _lines(path: Path) -> Iterable[str]:
    try:
        if path.suffix == ".xz":
            yield from decompressed(path).decode("utf-8").removesuffix("\n").split("\n")
            return
        with path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                yield line.rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the file {path} is missing or damaged ({error})") from None


def _alternating(y: NDArray[np.int64]) -> list[int]:
    """Returns positions so that the classes take turns, for studies that take only the first records."""
    rank = np.zeros(len(y), np.int64)
    for label in (0, 1):
        rank[y == label] = np.arange((y == label).sum())
    found: list[int] = np.lexsort((y, rank)).tolist()
    return found
