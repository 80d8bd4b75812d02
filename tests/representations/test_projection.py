import inspect
from typing import Any

import pytest
import torch
from typed import exact_error

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Mechanism, make
from tensorldp.randomness import generator
from tensorldp_papers.public.dimension import Plan, PublicTask, choose_dimension, mean_error
from tensorldp_papers.public.projection import discriminant, principal

Records = tuple[torch.Tensor, torch.Tensor]


@pytest.fixture(scope="module")
def blobs() -> Records:
    """Three classes apart along coordinate 0, with a spread within of 5 along coordinate 1 and of 1 elsewhere."""
    y = torch.arange(6000) % 3
    x = torch.randn(6000, 6, generator=generator("blobs")) * torch.tensor([1.0, 5.0, 1.0, 1.0, 1.0, 1.0])
    x[:, 0] += 3.0 * y
    return x, y


def test_principal_directions_are_those_of_the_covariance(blobs: Records) -> None:
    projection = principal(blobs[0], 4)
    assert projection.dimension == 4
    assert projection.ball == Ball(1.0, (4,))
    assert abs(float(projection.directions[1, 0])) == pytest.approx(1.0, abs=0.01)
    assert abs(float(projection.directions[0, 1])) == pytest.approx(1.0, abs=0.01)
    assert float(projection.scales[0]) == pytest.approx(5.0, rel=0.05)


def test_the_exponent_one_whitens(blobs: Records) -> None:
    x, _ = blobs
    rows = principal(x, 5).weighted(1.0).coordinates(x)
    assert torch.allclose(rows.T @ rows / len(rows), torch.eye(5), atol=1e-3)
    assert torch.equal(principal(x, 5).weighted(0.0).coordinates(x), principal(x, 5).coordinates(x))


def test_the_first_discriminant_is_fishers(blobs: Records) -> None:
    x, y = blobs
    found = discriminant(x, y, 3, ridge=1e-6)
    means = torch.stack([x[y == k].mean(0) for k in range(3)])
    rest = x - means[y]
    fisher = torch.linalg.solve(rest.T @ rest, means[2] - means[0])
    assert abs(float(torch.nn.functional.cosine_similarity(found.directions[:, 0], fisher, dim=0))) > 0.999
    within = found.coordinates(rest + x.mean(0))
    assert torch.allclose(within.T @ within / len(x), torch.eye(3), atol=1e-2)


def test_records_go_to_the_unit_sphere_each_alone(blobs: Records) -> None:
    x, y = blobs
    projection = discriminant(x, y, 6).first(2)
    rows = projection(x)
    assert torch.allclose(rows.norm(dim=1), torch.ones(len(x)), atol=1e-5)
    assert torch.allclose(rows[:2], projection(x[:2]), atol=1e-6)
    assert projection(projection.centre[None]).tolist() == [[1.0, 0.0]]


def test_what_does_not_fit_is_refused(blobs: Records) -> None:
    x, y = blobs
    with pytest.raises(InputError, match="one class index each"):
        discriminant(x, y[:5])
    with pytest.raises(InputError, match="must be finite"):
        principal(x * torch.nan)
    with pytest.raises(InputError, match="takes 6 columns, got 5"):
        principal(x)(x[:, :5])
    with pytest.raises(InputError, match="dimension"):
        principal(x, 4).first(5)
    with pytest.raises(InputError, match="exponent"):
        principal(x, 4).weighted(2.0)


def privunit(epsilon: float, size: int) -> Mechanism:
    return make("privunit", epsilon=epsilon, domain=Ball(1.0, (size,)), lift=False)


@pytest.fixture(scope="module")
def task() -> PublicTask:
    g = torch.Generator().manual_seed(3)
    centres = torch.randn(10, 64, generator=g) * torch.linspace(0.6, 0.15, 64)
    y = torch.arange(4000) % 10
    x = centres[y] + torch.randn(4000, 64, generator=g) * torch.linspace(1.0, 0.8, 64)
    return PublicTask(x[:2000], y[:2000], x[2000:], y[2000:], principal(x, 64))


def plan(task: PublicTask, epsilon: float, records: int, **options: Any) -> Plan:
    return choose_dimension([task], lambda size: exact_error(privunit(epsilon, size)), records, **options)


@pytest.mark.parametrize("private", [False, True])
def test_the_error_of_a_class_mean_is_that_of_privunit(private: bool) -> None:
    d, classes, records = 8, 4, 20_000
    mechanism = privunit(1.0, d * classes if private else d)
    x = torch.eye(mechanism.size, dtype=torch.float64)[:1].repeat(records, 1)
    spread = float((mechanism.privatize(x, generator("error")) - x).var(dim=0).mean())
    # of 160,000 numbers and more: the deviation is below 1 %
    expected = spread * (classes**2 / records if private else classes / records)
    error = mean_error(lambda size: exact_error(privunit(1.0, size)), d, records, classes, labels_private=private)
    assert error == pytest.approx(expected, rel=0.05)


def test_more_records_or_a_larger_epsilon_promise_more(task: PublicTask) -> None:
    def promised(epsilon: float, records: int, **options: Any) -> float:
        return plan(task, epsilon, records, dimensions=(64,), **options).accuracy

    assert promised(1.0, 2_000) < promised(1.0, 100_000)
    assert promised(0.2, 20_000) < promised(4.0, 20_000)
    assert promised(1.0, 20_000, labels_private=True) < promised(1.0, 20_000)


def test_the_dimension_grows_with_epsilon_and_the_plan_is_the_best(task: PublicTask) -> None:
    low, again = (plan(task, 0.3, 5_000, exponents=(0.0, 0.5)) for _ in range(2))
    high = plan(task, 20.0, 60_000, exponents=(0.0, 0.5))
    assert low == again
    assert low.dimension < high.dimension
    for d in (8, 32):
        assert plan(task, 20.0, 60_000, exponents=(0.5,), dimensions=(d,)).accuracy <= high.accuracy
    with pytest.raises(InputError, match="no dimension among"):
        plan(task, 1.0, 100, dimensions=(500,))


def test_the_rule_has_no_way_to_see_a_private_record() -> None:
    parameters = inspect.signature(choose_dimension).parameters
    assert list(parameters) == ["tasks", "error", "records", "dimensions", "exponents", "ridges", "labels_private"]
    assert parameters["records"].annotation == "int"
