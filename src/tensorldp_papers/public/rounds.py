"""A linear model from clients that upload one direction a round: federated averaging [mcmahan2017] of few weights.

Each client trains a softmax regression on its own records from the weights that the server has sent, and releases the
direction of their change, a unit vector. One round from zero is one summary of a client: which way its classes lie.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp.mechanisms.base import Mechanism
from tensorldp_papers.public.means import LinearScores
from tensorldp_papers.public.projection import to_sphere

EPOCHS = 10  # of a client, each one step on all its records
LEARNING_RATE = 1.0  # of a client's steps on the mean gradient of its records


def upload_size(dimension: int, classes: int) -> int:
    """Returns the number of weights of a softmax regression, which is what a client uploads."""
    return (dimension + 1) * classes


def average_directions(
    rows: Tensor,
    labels: Tensor,
    classes: int,
    clients: int,
    mechanism: Mechanism,
    source: torch.Generator,
    *,
    rounds: int = 1,
) -> LinearScores:
    """Trains the model on all clients' uploads of every round, each released by the mechanism.

    A round adds the mean release to the weights. Assumes that releases are unbiased and records of about unit length.
    Record i belongs to client i mod `clients`; the mechanism is on the unit ball of `upload_size` numbers.
    """
    if clients > len(rows):
        raise InputError(f"{clients} clients cannot share {len(rows)} records: allowed are as many at most")
    most = -(-len(rows) // clients)
    owned = torch.arange(most) * clients + torch.arange(clients)[:, None]  # (clients, most) record indices
    there = (owned < len(rows)).float().unsqueeze(2)
    owned = owned.clamp_max(len(rows) - 1)
    x = nn.functional.pad(rows[owned], (0, 1), value=1.0) * there  # with a column for the bias
    wanted = nn.functional.one_hot(labels[owned], classes) * there
    weights = torch.zeros(rows.shape[1] + 1, classes)
    for _ in range(rounds):
        own = weights.expand(clients, -1, -1)
        for _ in range(EPOCHS):
            excess = torch.softmax(x @ own, dim=2) * there - wanted
            own = own - LEARNING_RATE * (x.transpose(1, 2) @ excess) / there.sum(dim=1, keepdim=True)
        directions = to_sphere((own - weights).flatten(1))  # of length 1 even where nothing changed
        weights = weights + mechanism.privatize(directions, source).mean(dim=0).reshape(weights.shape)
    return LinearScores(weights[:-1].T.contiguous(), weights[-1])
