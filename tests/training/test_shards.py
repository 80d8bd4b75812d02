"""How records are dealt to clients."""

import pytest
import torch

from tensorldp.errors import InputError
from tensorldp_papers.nets.simulation import deal


def gen(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("split", ["iid", "dirichlet"])
def test_every_record_goes_to_one_client(split: str) -> None:
    y = torch.arange(1000) % 10
    shards = deal(y, 20, gen(), split=split, alpha=1.0)
    assert sorted(torch.cat(shards).tolist()) == list(range(1000))
    assert min(len(s) for s in shards) > 0


def test_iid_clients_are_equal_in_size() -> None:
    assert [len(s) for s in deal(torch.zeros(103).long(), 10, gen())] == [11] * 3 + [10] * 7


def test_dirichlet_shares_have_the_variance_of_their_law() -> None:
    """A share of Dir(alpha) among n is Beta(alpha, (n-1) alpha): variance (1/n)(1 - 1/n) / (n alpha + 1)."""
    n, alpha, classes = 10, 0.5, 400
    y = torch.arange(classes * 1000) % classes
    shards = deal(y, n, gen(), split="dirichlet", alpha=alpha)
    shares = torch.stack([y[s].bincount(minlength=classes) for s in shards]).double() / 1000
    expected = (1 / n) * (1 - 1 / n) / (n * alpha + 1)
    # 4000 shares of kurtosis below 12: the estimate's relative deviation is below 6 %
    assert float(shares.var()) == pytest.approx(expected, rel=0.3)
    assert torch.allclose(shares.sum(0), torch.ones(classes, dtype=torch.float64))


@pytest.mark.parametrize("alpha", [1e-6, 1e-4, 0.001])
def test_a_small_alpha_gives_each_class_to_one_client(alpha: float) -> None:
    """Two clients share a class with a probability of about 2 alpha ln(100), below 0.01 for one class."""
    y = torch.arange(2000) % 20
    shards = deal(y, 2, gen(), split="dirichlet", alpha=alpha)
    held = torch.stack([y[s].bincount(minlength=20) for s in shards])
    assert sorted(torch.cat(shards).tolist()) == list(range(2000))
    assert int(((held > 0).sum(dim=0) > 1).sum()) <= 1


def test_a_client_without_data_is_named() -> None:
    with pytest.raises(InputError, match="client 3 of 5 has no data"):
        deal(torch.zeros(3).long(), 5, gen())
    with pytest.raises(InputError, match=r"client \d+ of 50 has no data"):
        deal(torch.arange(60) % 2, 50, gen(), split="dirichlet", alpha=0.01)
