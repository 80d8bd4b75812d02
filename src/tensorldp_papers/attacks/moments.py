"""Hermite moments of a gradient over the neurons, in blocks: memory is O(d^2 + B^3) beyond the weights."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

BLOCK = 1 << 14  # neurons at once


def _blocks(g: Tensor, w: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    for start in range(0, len(w), BLOCK):
        yield g[start : start + BLOCK], w[start : start + BLOCK].double()


def regression_residual(g: Tensor, w: Tensor) -> Tensor:
    """g minus its least-squares fit on [1, w], which removes the Hermite orders 0 and 1; shape (m,) float64."""
    d = w.shape[1]
    gram, right = torch.zeros(d + 1, d + 1, dtype=torch.float64), torch.zeros(d + 1, dtype=torch.float64)
    for part, rows in _blocks(g, w):
        design = torch.cat([torch.ones(len(rows), 1, dtype=torch.float64), rows], dim=1)
        gram += design.T @ design
        right += design.T @ part
    fit = torch.linalg.lstsq(gram, right.unsqueeze(1)).solution.squeeze(1)
    return torch.cat([part - fit[0] - rows @ fit[1:] for part, rows in _blocks(g, w)])


def second_moment(g: Tensor, w: Tensor) -> Tensor:
    """(1/m) sum_j g_j (w_j w_j^T - I), shape (d, d) float64."""
    total = torch.zeros(w.shape[1], w.shape[1], dtype=torch.float64)
    for part, rows in _blocks(g, w):
        total += (rows * part.unsqueeze(1)).T @ rows
    return (total - g.sum() * torch.eye(w.shape[1], dtype=torch.float64)) / len(g)


def third_moment(g: Tensor, u: Tensor) -> Tensor:
    """(1/m) sum_j g_j He_3(u_j), shape (B, B, B) float64, for projected weights u of shape (m, B).

    He_3(u)_abc = u_a u_b u_c - u_a d_bc - u_b d_ac - u_c d_ab.
    """
    size = u.shape[1]
    total = torch.zeros(size * size, size, dtype=torch.float64)
    for part, rows in _blocks(g, u):
        pairs = (rows.unsqueeze(2) * rows.unsqueeze(1)).reshape(len(rows), -1)
        total += (pairs * part.unsqueeze(1)).T @ rows
    trace = torch.einsum("a,bc->abc", u.double().T @ g, torch.eye(size, dtype=torch.float64))
    cube = total.reshape(size, size, size)
    return (cube - trace - trace.permute(1, 0, 2) - trace.permute(1, 2, 0)) / len(g)
