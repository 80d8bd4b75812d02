"""IMDB reviews as rows of 500 token indices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp_papers.data.archives import tar_members, zip_lines
from tensorldp_papers.data.split import Options, Parsed, parser
from tensorldp_papers.run.progress import track

LENGTH = 500
"""Tokens of a review: longer ones are cut, shorter ones are padded with index 0 at the end."""
GLOVE_WORDS = 400_000
GLOVE_WIDTH = 100
VOCABULARY = 20_000
"""Most frequent training words that get an index of their own where there is no GloVe."""
PUBLIC_TEXTS = 5000
"""How many of the last training reviews are public, without their labels, for studies that learn from public texts."""

_REVIEW = re.compile(r"aclImdb/(train|test)/(neg|pos)/(\d+)_\d+\.txt")
_GLOVE = "glove.6B.100d.txt"
# The frozen embedding is public with GloVe, but the training vocabulary is not covered by any guarantee
_OWN_VOCABULARY = (
    f"indices 1 to {VOCABULARY} are the most frequent words of the training reviews, which no guarantee "
    "covers, in place of GloVe's 400000"
)


@parser("imdb")
def parse_imdb(files: Mapping[str, Path], options: Options) -> Parsed:
    """IMDB reviews: x (N, 500) int32 token indices, y 1 for positive; negative and positive alternate.

    Index 0 is padding and every word without an index. With GloVe 6B among the files, a word's index is its line
    (400,001 indices) and `embedding.safetensors` gets the vectors; otherwise the training vocabulary is used.
    `train_public_words.safetensors` and its counterpart for the test split then have the same reviews with the most
    frequent words of only the public reviews, the last `PUBLIC_TEXTS` of the training split: no other review influences
    these.

    `expect_full` insists on GloVe's 400,000 words; `limit` is the number of reviews of each split and class, the first
    by number, None for all.
    """
    archive = next(path for name, path in files.items() if name.startswith("aclImdb"))
    reviews = read_reviews(archive, options.limit)
    strings, tokens = tokenise([text for texts in reviews.values() for text in texts])
    count = sum(len(reviews["train", label]) for label in ("neg", "pos"))
    y = np.concatenate([np.full(len(texts), int(label == "pos")) for (_, label), texts in reviews.items()])
    order = [*_alternating(y[:count]), *(count + k for k in _alternating(y[count:]))]
    present = np.unique(np.concatenate(tokens))
    words = [strings[int(key)] for key in present]

    def vocabulary(of: list[int]) -> dict[str, int]:
        keys = np.searchsorted(present, np.concatenate([tokens[k] for k in of]))
        return frequent(words, np.bincount(keys, minlength=len(words)), VOCABULARY)

    def indexed(index: Mapping[str, int]) -> NDArray[np.int32]:
        indices = np.array([index.get(word, 0) for word in words], np.int32)
        x = np.zeros((len(tokens), LENGTH), np.int32)
        for row, place in zip(x, order, strict=True):
            row[: len(tokens[place])] = indices[np.searchsorted(present, tokens[place])]
        return x

    glove = next((files[name] for name in (_GLOVE, "glove.6B.zip") if name in files), None)
    if glove is not None:
        known, vectors = read_glove(glove, GLOVE_WORDS if options.expect_full else None)
        index = {word: position for position, word in enumerate(known, start=1)}
        metadata = {"vocabulary": str(len(known) + 1), "words": "GloVe 6B"}
        extra: dict[str, NDArray[Any]] = {"embedding": vectors}
    else:
        index = vocabulary(order[:count])
        metadata = {"vocabulary": str(len(index) + 1), "words": "training reviews", "deviation": _OWN_VOCABULARY}
        public = indexed(vocabulary(order[:count][-PUBLIC_TEXTS:]))
        extra = {"train_public_words": public[:count], "test_public_words": public[count:]}
    metadata |= {"high": str(int(metadata["vocabulary"]) - 1), "padding": "0"}
    x, y = indexed(index), y[order]
    return Parsed((x[:count], y[:count]), (x[count:], y[count:]), metadata, extra)


def read_reviews(path: Path, limit: int | None) -> dict[tuple[str, str], list[str]]:
    """The texts of aclImdb by (split, class), each list by review number; train comes first."""
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


def tokenise(texts: list[str]) -> tuple[Any, list[NDArray[np.uint64]]]:
    """spaCy's string table, and the keys in it of each text's first `LENGTH` tokens in lower case."""
    import spacy
    from spacy.attrs import IS_SPACE, LOWER

    tokenizer: Any = spacy.blank("en").tokenizer
    plain = (text.replace("<br />", " ") for text in texts)
    rows = []
    for document in track(tokenizer.pipe(plain), "tokenising reviews", total=len(texts)):
        keys = document.to_array([LOWER, IS_SPACE])
        rows.append(keys[keys[:, 1] == 0, 0][:LENGTH])
    return tokenizer.vocab.strings, rows


def frequent(words: list[str], counts: NDArray[np.int64], cap: int) -> dict[str, int]:
    """Indices from 1 by falling count, equal counts by the alphabet, for the `cap` most frequent words that occur."""
    order = sorted((k for k in range(len(words)) if counts[k]), key=lambda k: (-counts[k], words[k]))
    return {words[k]: position for position, k in enumerate(order[:cap], start=1)}


def read_glove(path: Path, expected: int | None) -> tuple[list[str], NDArray[np.float32]]:
    """The words of GloVe in order, and float32 vectors (words + 1, 100) whose row 0, for index 0, is zero."""
    words: list[str] = []
    rows = [np.zeros(GLOVE_WIDTH, np.float32)]
    lines = zip_lines(path, _GLOVE) if path.suffix == ".zip" else _lines(path)
    for number, line in enumerate(track(lines, "reading GloVe", total=expected), start=1):
        word, *values = line.split(" ")
        try:
            row = np.array(values, np.float32)
        except ValueError:
            row = np.zeros(0, np.float32)
        if row.shape != (GLOVE_WIDTH,):
            raise InputError(f"the line {number} of {path} must be a word and {GLOVE_WIDTH} numbers")
        words.append(word)
        rows.append(row)
    if expected is not None and len(words) != expected:
        raise InputError(f"the file {path} has {len(words)} words, expected {expected}")
    return words, np.stack(rows)


def _lines(path: Path) -> Iterable[str]:
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                yield line.rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the file {path} is missing or damaged ({error})") from None


def _alternating(y: NDArray[np.int64]) -> list[int]:
    """Positions so that the classes take turns, for studies that take only the first records."""
    rank = np.zeros(len(y), np.int64)
    for label in (0, 1):
        rank[y == label] = np.arange((y == label).sum())
    found: list[int] = np.lexsort((y, rank)).tolist()
    return found
