"""Data sets as the studies see them: records with a domain, and model inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tensorldp.errors import InputError
from tensorldp.mechanisms import Box
from tensorldp_papers.run.sealed import read_prepared
from tensorldp_papers.task import Task


@dataclass(frozen=True)
class Records:
    """One split of a data set or of its features.

    Attributes:
        x: (records, *shape), the stored type.
        y: (records,) class indices.
        name: the name of the data set.
        classes: number of classes.
        low, high: the public range of an element.
        kind: image, tabular, text or features.
        vocabulary: number of token indices, for text.
        embedding: (vocabulary, dimensions) public word vectors, where the data set came with some.
    """

    x: Tensor
    y: Tensor
    name: str
    classes: int
    low: float
    high: float
    kind: str
    vocabulary: int = 0
    embedding: Tensor | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Returns the shape of one record, as stored."""
        return tuple(self.x.shape[1:])

    @property
    def task(self) -> Task:
        """Returns what a model has to solve."""
        return Task(self.shape, self.classes, self.vocabulary)

    def first(self, limit: int | None) -> Records:
        """Returns the first `limit` records, or all."""
        if limit is None or limit >= len(self.x):
            return self
        return replace(self, x=self.x[:limit], y=self.y[:limit])

    def box(self) -> Box:
        """Returns where a record lives when released: an image as (height, width x channels), else its own shape."""
        if not math.isfinite(self.low) or not math.isfinite(self.high):
            raise InputError(
                f"the records of {self.name} have no public range, so they cannot be released as data; "
                "use a study that releases features or parameters"
            )
        return Box(self.low, self.high, matrix_shape(self.shape))


def matrix_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns (height, width x channels) for a colour image, the shape itself otherwise."""
    return (shape[0], shape[1] * shape[2]) if len(shape) == 3 else shape


def read_records(path: Path) -> Records:
    """Reads a split as `prepare` or `extract_features` wrote it.

    Raises:
        InputError: if the file is missing, damaged or lacks what a split needs.
    """
    arrays, metadata = read_prepared(path)
    words = path.with_name("embedding.safetensors")
    try:
        return Records(
            torch.from_numpy(arrays["x"]),
            torch.from_numpy(arrays["y"]).long(),
            metadata["dataset"],
            int(metadata["classes"]),
            float(metadata["low"]),
            float(metadata["high"]),
            metadata["kind"],
            int(metadata.get("vocabulary", 0)),
            torch.from_numpy(read_prepared(words)[0]["weight"]) if words.exists() else None,
        )
    except (KeyError, ValueError) as error:
        raise InputError(f"the file {path} is not a prepared split ({error}): delete it and run again") from None


def read_public_words(path: Path) -> Records:
    """Reads a split whose words have indices that no private text influences: GloVe's, or of only the public texts.

    The latter are in a file beside the split; see `data.text`.
    """
    records, own = read_records(path), path.with_name(f"{path.stem}_public_words.safetensors")
    if own.exists():
        return replace(records, x=torch.from_numpy(read_prepared(own)[0]["weight"]))
    if records.kind == "text" and records.embedding is None:
        raise InputError(
            f"the words of {path} have indices that private texts influence, and {own.name} is not beside it: "
            "prepare the data set again"
        )
    return records


def read_signs(data: Path) -> NDArray[np.int8]:
    """Reads 1 for words of praise and -1 for words of blame, by the word indices of `read_public_words`."""
    return read_prepared(data / "public_polarity.safetensors")[0]["weight"].astype(np.int8)


def model_inputs(x: Tensor, kind: str) -> Tensor:
    """Returns stored records as float32 model inputs: images become (records, channels, height, width)."""
    if kind == "text":
        return x
    x = x.float()
    if kind != "image":
        return x
    return x.permute(0, 3, 1, 2).contiguous() if x.dim() == 4 else x.unsqueeze(1)


SCALING_BLOCK = 1024  # records whose float64 copy is held at once


@dataclass(frozen=True)
class Scaling:
    """One shift and one scale for all elements of model inputs."""

    mean: float
    std: float

    @classmethod
    def of(cls, released: Tensor) -> Scaling:
        """Takes the released training set's own mean and deviation: post-processing, so it costs no privacy."""
        parts, count = released.split(SCALING_BLOCK), released.numel()  # no second copy of all in float64
        mean = sum(float(part.double().sum()) for part in parts) / count
        square = sum(float((part.double() - mean).square().sum()) for part in parts)
        return cls(mean, max(math.sqrt(square / (count - 1)), 1e-12))

    @classmethod
    def public(cls, low: float, high: float) -> Scaling:
        """Maps [low, high] to [-1, 1], only from the public range."""
        return cls((low + high) / 2, (high - low) / 2)

    def __call__(self, x: Tensor) -> Tensor:
        return (x - self.mean) / self.std
