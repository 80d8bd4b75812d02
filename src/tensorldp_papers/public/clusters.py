"""What unlabelled public records know of the classes: clusters, named by the labels that they are scored on.

A control, no learner. It bounds what these clusters give to whoever names them, and no other use of the public records.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tensorldp.errors import InputError, check_whole
from tensorldp_papers.public.scores import LinearScores


def clusters(rows: Tensor, count: int, source: torch.Generator) -> LinearScores:
    """The nearest of the centres that k-means finds, the best of ten starts.

    Args:
        rows: (records, dimension), public.
        count: of clusters, at least 2.
        source: of the starts.

    Raises:
        InputError: if there are fewer records than clusters.
    """
    from sklearn.cluster import KMeans

    count = check_whole("the number of clusters", count, low=2)
    if rows.dim() != 2 or len(rows) < count:
        raise InputError(f"{count} clusters need at least as many public rows, got {tuple(rows.shape)}")
    seed = int(torch.randint(2**31, (1,), generator=source))
    fit = KMeans(count, n_init=10, random_state=seed).fit(rows.numpy())
    centres = torch.from_numpy(fit.cluster_centers_).float()
    return LinearScores(centres, -centres.square().sum(dim=1) / 2.0)


def best_names(scores: LinearScores, rows: Tensor, labels: Tensor) -> LinearScores:
    """The same clusters in the order of the classes, one to one, that gives the most of these rows their label.

    Args:
        scores: of as many clusters as there are classes.
        rows: (records, dimension).
        labels: (records,) their classes.

    Raises:
        InputError: if a label is beyond the number of clusters.
    """
    from scipy.optimize import linear_sum_assignment

    count = len(scores.bias)
    if labels.shape != rows.shape[:1] or int(labels.max()) >= count:
        raise InputError(f"{count} clusters name classes 0 .. {count - 1} of one label for each of {len(rows)} rows")
    table = np.zeros((count, count))
    np.add.at(table, (labels.numpy(), scores.predict(rows).numpy()), 1.0)
    _, chosen = linear_sum_assignment(table, maximize=True)
    order = torch.from_numpy(chosen)
    return LinearScores(scores.weight[order], scores.bias[order])
