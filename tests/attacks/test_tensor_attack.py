"""The tensor attack: exact tensors, moments in blocks, accuracy and its growth."""

import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tensorldp.errors import InputError
from tensorldp_papers.attacks import tensor as moments
from tensorldp_papers.attacks.tensor import tensor_attack, vector_error
from tensorldp_papers.attacks.two_layer import TwoLayer, unit_records

BENCHMARK = str(Path(__file__).parents[2] / "benchmarks" / "attacks.py")


def attack_error(m: int, d: int, batch: int, seed: int, scale: float = 1.0) -> float:
    stream = torch.Generator().manual_seed(seed)
    network = TwoLayer.draw(m, d, "relu-shifted", stream)
    x, y = unit_records(batch, d, stream)
    sent = scale * network.output_gradient(x, y)
    return vector_error(tensor_attack(sent, network.weights, batch, "relu-shifted", stream), x)


def test_exact_moments_are_decomposed_exactly_whatever_the_signs() -> None:
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((4, 4))
    truth /= np.linalg.norm(truth, axis=1, keepdims=True)
    r = np.array([1.0, -0.8, 1.2, -1.1])
    s = np.einsum("i,ia,ib->ab", r, truth, truth)
    t = np.einsum("i,ia,ib,ic->abc", r, truth, truth, truth)
    z, found_r = moments.decompose(s, t, rng)
    order = np.abs(z @ truth.T).argmax(axis=0)
    np.testing.assert_allclose(z[order], truth, atol=1e-7)
    np.testing.assert_allclose(found_r[order], r, atol=1e-6)
    np.testing.assert_allclose(moments.polish(s, t, z, found_r)[order], truth, atol=1e-7)


def test_moments_are_the_plain_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "BLOCK", 7)  # several blocks, the last one not full
    stream = torch.Generator().manual_seed(0)
    g, w = torch.randn(40, generator=stream, dtype=torch.float64), torch.randn(40, 3, generator=stream)
    v, eye = w.double(), torch.eye(3, dtype=torch.float64)
    torch.testing.assert_close(
        moments.second_moment(g, w), torch.einsum("j,jab->ab", g, torch.einsum("ja,jb->jab", v, v) - eye) / 40
    )
    he3 = torch.einsum("ja,jb,jc->jabc", v, v, v)
    he3 = he3 - sum(
        torch.einsum(f"j{one},{rest}->jabc", v, eye) for one, rest in (("a", "bc"), ("b", "ac"), ("c", "ab"))
    )
    torch.testing.assert_close(moments.third_moment(g, w), torch.einsum("j,jabc->abc", g, he3) / 40)
    design = torch.cat([torch.ones(40, 1, dtype=torch.float64), v], dim=1)
    torch.testing.assert_close(design.T @ moments.regression_residual(g, w), torch.zeros(4, dtype=torch.float64))


def test_the_error_is_at_most_a_tenth_and_falls_with_the_root_of_m() -> None:
    errors = {m: statistics.median(attack_error(m, 30, 4, seed) for seed in range(7)) for m in (5000, 20000, 80000)}
    assert errors[20000] <= 0.10
    slope = np.polyfit(np.log(list(errors)), np.log(list(errors.values())), 1)[0]
    assert -0.6 < slope < -0.4


def test_scaling_the_gradient_changes_nothing_and_one_record_is_found() -> None:
    assert attack_error(5000, 10, 3, 1, scale=1e-3) == pytest.approx(attack_error(5000, 10, 3, 1), rel=1e-4)
    assert attack_error(20000, 5, 1, 0) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("m", "d", "seconds", "most"),
    [(40_000, 40, 10, 1000), pytest.param(200_000, 200, 60, 2000, marks=pytest.mark.weekly)],
)
def test_a_large_network_fits_time_and_memory(m: int, d: int, seconds: float, most: float) -> None:
    """On two cores, in a process of its own.

    Processor time stands for the wall clock of a machine without other work; the attack's is at least as long as that.
    """
    done = subprocess.run([sys.executable, BENCHMARK, str(m), str(d), "4"], capture_output=True, text=True, check=True)
    neurons, columns, _, processor, _, megabytes, error = map(float, done.stdout.splitlines()[-1].split())
    assert (neurons, columns) == (m, d)
    assert error < 0.1
    assert processor < seconds
    assert megabytes < most


def test_matching_undoes_an_order() -> None:
    x = 10 * torch.eye(3, dtype=torch.float64)
    torch.testing.assert_close(moments.match(x.flip(0), x), x)
    assert vector_error(x.flip(0), x) == 0.0
    assert vector_error(x + torch.tensor([0.3, 0.0, 0.4], dtype=torch.float64), x) == pytest.approx(0.5)


def test_what_cannot_be_attacked_is_said_in_one_sentence() -> None:
    g, w, stream = torch.ones(10), torch.ones(10, 2), torch.Generator()
    with pytest.raises(InputError, match=r"'relu'.*order 3"):
        tensor_attack(g, w, 1, "relu", stream)
    with pytest.raises(InputError, match="batch must be a whole number of at least 1 and at most 2"):
        tensor_attack(g, w, 3, "elu", stream)
    with pytest.raises(InputError, match="not finite"):
        tensor_attack(g * torch.nan, w, 1, "elu", stream)
