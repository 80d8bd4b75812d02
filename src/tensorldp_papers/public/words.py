"""Texts as weighted counts of words and their latent directions, fitted on public texts without labels.

A word is kept if enough public texts contain it. Counts are damped, 1 + ln(count), weighted by the inverse share of
public texts with the word, and scaled to unit length. They are then projected to the leading singular directions of the
public texts: latent semantic analysis [deerwester1990]. The map is then a function of a single text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tensorldp.errors import InputError

PADDING = 0  # the index for no word, or for one without an index
LEAST_TEXTS = 20  # public texts that a kept word occurs in
DIRECTIONS = 256  # that are kept of those in which public texts spread


@dataclass(frozen=True)
class WordSpace:
    """Word indices (texts, length) -> float32 coordinates (texts, dimension)."""

    columns: NDArray[np.int64]  # of each word index, -1 for words that are not kept
    weights: NDArray[np.float64]  # (columns,) of a word's damped count
    directions: NDArray[np.float64]  # (columns, dimension)

    def weighted(self, tokens: Tensor) -> Any:
        """Returns the sparse rows of unit length, (texts, columns); a text without a kept word is a row of zeros."""
        from scipy.sparse import diags_array
        from sklearn.preprocessing import normalize

        found = _counts(tokens, self.columns)
        found.data = 1.0 + np.log(found.data)
        return normalize(found @ diags_array(self.weights))

    def __call__(self, tokens: Tensor) -> Tensor:
        return torch.from_numpy((self.weighted(tokens) @ self.directions).astype(np.float32))


def _counts(tokens: Tensor, columns: NDArray[np.int64]) -> Any:
    """Counts each kept word in each text, sparse (texts, columns); indices beyond `columns` are not kept."""
    from scipy.sparse import csr_array

    index = tokens.numpy()
    at = np.where(index < len(columns), columns[np.minimum(index, len(columns) - 1)], -1)
    row, place = np.nonzero(at >= 0)
    shape = (len(index), int(columns.max(initial=-1)) + 1)
    found = csr_array((np.ones(len(row)), (row, at[row, place])), shape=shape)
    found.sum_duplicates()
    return found


def text_shares(tokens: Tensor) -> NDArray[np.float64]:
    """Computes the share of the texts in which each word index occurs; 0 for padding."""
    if tokens.dim() != 2 or tokens.is_floating_point() or (tokens.numel() and int(tokens.min()) < PADDING):
        raise InputError(f"texts must be word indices (texts, length) from 0, got {tokens.dtype} {tuple(tokens.shape)}")
    seen = np.zeros(int(tokens.max()) + 1)
    for text in tokens.numpy():
        seen[np.unique(text)] += 1.0
    seen[PADDING] = 0.0
    return seen / len(tokens)


def fit_words(public: Tensor, dimension: int = DIRECTIONS, *, least: int = LEAST_TEXTS) -> WordSpace:
    """Fits the kept words, their weights and the directions in which public texts spread most.

    Args:
        public: word indices of public texts (texts, length), 0 for padding.
        dimension: how many directions to keep, at most.
        least: how many of the texts a kept word occurs in.
    """
    from sklearn.decomposition import TruncatedSVD

    shares = text_shares(public)
    kept = np.nonzero(shares * len(public) >= least - 0.5)[0]
    if len(kept) < 3:
        raise InputError(
            f"{len(kept)} words occur in at least {least} of {len(public)} public texts, too few to fit on"
        )
    columns = np.full(len(shares), -1, dtype=np.int64)
    columns[kept] = np.arange(len(kept))
    space = WordSpace(columns, 1.0 - np.log(shares[kept]), np.eye(len(kept), 1))
    fit = TruncatedSVD(min(dimension, len(kept) - 1, len(public) - 1), algorithm="arpack", random_state=0)
    fit.fit(space.weighted(public))
    return WordSpace(columns, space.weights, fit.components_.T)


def half_tasks(public: Tensor, space: WordSpace, tasks: int = 10) -> tuple[Tensor, Tensor]:
    """Makes public tasks without labels: from every other word of a text, on which side of a direction are the others?

    What words of a text share, such as its topic, tells; the k-th task is about the k-th direction of the space, and
    the median of its coordinate divides the texts in two equal classes. Gives coordinates (texts, dimension) of the
    words in even places, and classes (texts, tasks) by those in odd ones.
    """
    even, odd = space(public[:, 0::2]), space(public[:, 1::2])[:, :tasks]
    return even, (odd > odd.median(dim=0).values).long()
