import torch

from tensorldp.randomness import generator
from tensorldp_papers.public.unlabelled import accuracy, best_across_sources


def rings(count: int, *key: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Two classes that no straight line divides: points near the origin, and far from it."""
    source, y = generator(*key), torch.arange(count) % 2
    angle = 6.283 * torch.rand(count, generator=source)
    radius = 1.0 + 2.0 * y + 0.2 * torch.randn(count, generator=source)
    return torch.stack((radius * angle.cos(), radius * angle.sin()), dim=1), y


def identity(x: torch.Tensor) -> torch.Tensor:
    return x


def test_the_learner_that_carries_over_to_other_sources_is_chosen() -> None:
    x, y = rings(600, "public")
    sources = torch.arange(600) // 200
    best, means = best_across_sources(x, y, sources, 2, identity, generator("networks"))
    assert means["nearest"] < 0.7
    assert means["network"] > 0.95
    x_test, y_test = rings(500, "test")
    assert accuracy(best, x_test, y_test) > 0.95


def test_a_choice_repeats_with_its_stream() -> None:
    x, y = rings(400, "public")
    sources = torch.arange(400) // 200
    a, b = (best_across_sources(x, y, sources, 2, identity, generator("networks")) for _ in range(2))
    assert a[1] == b[1]
    assert torch.equal(a[0](x), b[0](x))
