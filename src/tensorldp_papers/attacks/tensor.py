"""Tensor decomposition attack on two-layer networks [wang2023].

By Stein's lemma E[g He_k(w)] = h_k sum_i r_i x_i^{(x) k}, so the second and third moments of the gradient of the output
weights hold the records. Residuals r_i have both signs, so the third moment cannot be whitened by the second; the
decomposition below does without.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.errors import InputError, check_whole
from tensorldp.randomness import numpy_generator
from tensorldp_papers.attacks.inversion import unit
from tensorldp_papers.attacks.two_layer import tensor_coefficients


def match(found: Tensor, truth: Tensor) -> Tensor:
    """Returns `found` in the order that minimises the summed squared distance to `truth`; both (batch, ...)."""
    from scipy.optimize import linear_sum_assignment

    cost = torch.cdist(truth.reshape(len(truth), -1).double(), found.reshape(len(found), -1).double()) ** 2
    _, columns = linear_sum_assignment(cost.numpy())
    return found[torch.from_numpy(columns)]


def vector_error(found: Tensor, truth: Tensor) -> float:
    """Computes sqrt(mean_i ||x_hat_i - x_i||^2) after matching (dp-lecture, Eq. 5.2)."""
    gap = (match(found, truth) - truth).reshape(len(truth), -1).double()
    return float(gap.pow(2).sum(dim=1).mean().sqrt())


BLOCK = 1 << 14  # neurons at once


def _blocks(g: Tensor, w: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    for start in range(0, len(w), BLOCK):
        yield g[start : start + BLOCK], w[start : start + BLOCK].double()


def regression_residual(g: Tensor, w: Tensor) -> Tensor:
    """Computes g less its least-squares fit on [1, w], which removes Hermite orders 0 and 1; shape (m,) float64."""
    d = w.shape[1]
    gram, right = torch.zeros(d + 1, d + 1, dtype=torch.float64), torch.zeros(d + 1, dtype=torch.float64)
    for part, rows in _blocks(g, w):
        design = torch.cat([torch.ones(len(rows), 1, dtype=torch.float64), rows], dim=1)
        gram += design.T @ design
        right += design.T @ part
    fit = torch.linalg.lstsq(gram, right.unsqueeze(1)).solution.squeeze(1)
    return torch.cat([part - fit[0] - rows @ fit[1:] for part, rows in _blocks(g, w)])


def second_moment(g: Tensor, w: Tensor) -> Tensor:
    """Computes (1/m) sum_j g_j (w_j w_j^T - I), shape (d, d) float64."""
    total = torch.zeros(w.shape[1], w.shape[1], dtype=torch.float64)
    for part, rows in _blocks(g, w):
        total += (rows * part.unsqueeze(1)).T @ rows
    return (total - g.sum() * torch.eye(w.shape[1], dtype=torch.float64)) / len(g)


def third_moment(g: Tensor, u: Tensor) -> Tensor:
    """Computes (1/m) sum_j g_j He_3(u_j), shape (B, B, B) float64, for projected weights u of shape (m, B).

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


Array = npt.NDArray[np.float64]
# random directions to diagonalise along, random starts for each record, and the iterations of each start
DRAWS, STARTS, ITERATIONS = 200, 8, 60
SAME_COSINE = 0.99  # of two vectors that count as one


def tensor_attack(g: Tensor, w: Tensor, batch: int, activation: str, generator: torch.Generator) -> Tensor:
    """Finds the records in a gradient of the output weights, up to their order: (batch, d) float64 of norm one.

    Args:
        g: (m,) gradient of the output weights, summed over the batch; its scale changes nothing, bit for bit.
        w: (m, d) hidden weights, rows N(0, I_d).
        batch: B, how many records, at most d.
        activation: its name; h_2 and h_3 must not be zero.
        generator: for random starts.
    """
    h2, h3 = tensor_coefficients(activation)
    batch = check_whole("batch", batch, low=1, high=w.shape[1])
    if not bool(torch.isfinite(g).all()):
        raise InputError("the gradient has elements that are not finite")
    rest = regression_residual(unit(g.double()) * len(g) ** 0.5, w)
    values, vectors = torch.linalg.eigh(second_moment(rest, w))
    top = values.abs().argsort(descending=True)[:batch]
    basis = vectors[:, top]
    u = torch.cat([part.double() @ basis for part in w.split(1 << 14)])
    s = torch.diag(values[top])
    rest = rest - ((u @ s * u).sum(dim=1) - s.trace()) / 2
    t = third_moment(rest, u).numpy()
    z, r = decompose(s.numpy() / h2, t / h3, numpy_generator(generator))
    z = polish(s.numpy() / h2, t / h3, z, r)
    found: Tensor = torch.from_numpy(z) @ basis.T
    return found


def decompose(s: Array, t: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Finds unit z (B, B), one vector a row, and r (B,) with s = sum r z z^T, t = sum r z (x) z (x) z, approximately.

    Simultaneous diagonalisation gives first guesses; the iteration y <- s^-1 t(y, y, .), which maps the dual
    coordinates alpha_i to alpha_i^2 whatever the signs of r, refines them and finds others from random starts.
    """
    size = len(s)
    inverse = np.asarray(np.linalg.pinv(s), dtype=np.float64)
    guess = _diagonalise(inverse, t, rng)
    duals = np.linalg.pinv(guess).T
    y = np.concatenate([duals, rng.standard_normal((STARTS * size, size))])
    for _ in range(ITERATIONS):
        y = np.einsum("abc,na,nb->nc", t, y, y, optimize=True) @ inverse
        y /= np.linalg.norm(y, axis=1, keepdims=True) + 1e-300
    quadratic = np.einsum("na,ab,nb->n", y, s, y)
    with np.errstate(all="ignore"):
        c = np.einsum("abc,na,nb,nc->n", t, y, y, y, optimize=True) / quadratic
        r = quadratic / c**2
        z = (y / c[:, None]) @ s / r[:, None]
    usable = np.isfinite(z).all(axis=1) & np.isfinite(r)
    chosen = _distinct(z[usable], r[usable], size)
    z, r = z[usable][chosen], r[usable][chosen]
    if len(z) < size:  # what the iteration did not find, as diagonalised
        spare = [v for v in guess.T if not len(z) or np.abs(_cosines(z, v)).max() < SAME_COSINE]
        extra = np.array(spare[: size - len(z)]).reshape(-1, size)
        extra = np.concatenate([extra, np.eye(size)[: size - len(z) - len(extra)]])
        z, r = np.concatenate([z, extra]), np.concatenate([r, np.ones(len(extra))])
    norms = np.linalg.norm(z, axis=1, keepdims=True)
    return z / norms, r * norms[:, 0] ** 2


def _cosines(z: Array, v: Array) -> Array:
    return np.asarray(z @ v / (np.linalg.norm(z, axis=1) * np.linalg.norm(v) + 1e-300))


def _distinct(z: Array, r: Array, size: int) -> list[int]:
    """Returns up to `size` rows with norms nearest to one, no two alike."""
    kept: list[int] = []
    for place in np.argsort(np.abs(np.linalg.norm(z, axis=1) - 1.0)):
        if len(kept) < size and (not kept or _cosines(z[kept], z[place]).max() < SAME_COSINE):
            kept.append(int(place))
    return kept


def _diagonalise(inverse: Array, t: Array, rng: np.random.Generator) -> Array:
    """Returns eigenvectors of t(., ., theta) s^-1 as columns: of the random theta with most distinct eigenvalues."""
    thetas = rng.standard_normal((DRAWS, len(t)))
    slices = np.einsum("abc,nc->nab", t, thetas) @ inverse
    values = np.linalg.eigvals(slices)
    if len(t) == 1:
        return np.ones((1, 1))
    apart = np.abs(values[:, :, None] - values[:, None, :]) + np.where(np.eye(len(t)) > 0, np.inf, 0.0)
    gap = apart.min(axis=(1, 2)) / np.abs(values).max(axis=1)
    return np.linalg.eig(slices[int(gap.argmax())])[1].real


def polish(s: Array, t: Array, z: Array, r: Array) -> Array:
    """Fits unit z (B, B) best to s = sum r z z^T and t = sum r z (x) z (x) z, by least squares from a first guess."""
    from scipy.optimize import least_squares

    size = len(s)
    scale = float(np.abs(s).max()) or 1.0
    s, t, r = s / scale, t / scale, r / scale

    def unpack(p: Array) -> tuple[Array, Array]:
        z = p[: size * size].reshape(size, size)
        return z / np.linalg.norm(z, axis=1, keepdims=True), p[size * size :]

    def residual(p: Array) -> Array:
        z, r = unpack(p)
        weighted = z * r[:, None]
        second = weighted.T @ z
        third = weighted.T @ (z[:, :, None] * z[:, None, :]).reshape(size, -1)
        return np.concatenate([(second - s).ravel(), (third - t.reshape(size, -1)).ravel()])

    fit = least_squares(residual, np.concatenate([z.ravel(), r]), method="trf", max_nfev=30, ftol=1e-6, xtol=1e-6)
    return unpack(fit.x)[0]
