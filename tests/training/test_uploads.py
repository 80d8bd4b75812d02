"""How a client's model leaves it."""

import math

import pytest
import torch
from scipy.stats import norm

from tensorldp.errors import InputError
from tensorldp_papers.papers.pldp_fl.clients import Preference, make_upload


def gen(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


CLIENT = Preference(0, 1.0, -0.5, 0.5)


@pytest.mark.parametrize("mechanism", ["pdpm", "plu-fedoa", "duchi", "piecewise"])
def test_a_weight_is_released_unbiased_and_clipped_to_the_safe_range(mechanism: str) -> None:
    size = 200_000
    upload = make_upload(mechanism, CLIENT, size=size)
    for weight, inside in ((0.2, 0.2), (3.0, 0.5), (math.nan, 0.0), (-math.inf, -0.5)):
        own = torch.full((size,), weight)
        released = upload.release(torch.zeros(size), own, gen())
        error = float(released.double().mean()) - inside
        limit = norm.isf(5e-7) * float(released.double().std()) / math.sqrt(size)
        assert abs(error) < limit
    assert upload.per_weight == 1.0


@pytest.mark.parametrize("mechanism", ["pdpm", "plu-fedoa", "duchi", "piecewise"])
def test_about_the_weights_sent_the_change_is_clipped_and_released_unbiased(mechanism: str) -> None:
    size, start = 200_000, 7.0
    upload = make_upload(mechanism, CLIENT, size=size, centre="global")
    for weight, inside in ((7.2, 7.2), (3.0, 6.5), (math.nan, 7.0), (math.inf, 7.5)):
        released = upload.release(torch.full((size,), start), torch.full((size,), weight), gen()).double()
        limit = norm.isf(5e-7) * float(released.std()) / math.sqrt(size)
        assert abs(float(released.mean()) - inside) < limit


@pytest.mark.parametrize("mechanism", ["pdpm", "plu-fedoa", "duchi", "piecewise"])
def test_the_guarantee_does_not_depend_on_the_centre(mechanism: str) -> None:
    zero, about = (make_upload(mechanism, CLIENT, size=50, centre=centre) for centre in ("zero", "global"))
    assert zero.per_weight == about.per_weight
    for delta in (0.0, 1e-5):
        assert zero.curve().epsilon(delta) == about.curve().epsilon(delta)


def test_a_centre_is_of_safe_ranges() -> None:
    with pytest.raises(InputError, match="centre is 'global', but a budget of a model has no safe ranges"):
        make_upload("privunit", CLIENT, size=4, budget="model", centre="global")


def test_a_whole_model_is_clipped_in_l2_and_released_unbiased() -> None:
    size, draws = 20, 2_000
    start = torch.linspace(-1, 1, size)
    change = torch.linspace(0, 3, size)
    upload = make_upload("privunit", CLIENT, size=size, budget="model", clip=2.0)
    noise = gen()
    released = torch.stack([upload.release(start, start + change, noise) for _ in range(draws)]).double()
    expected = start + change * (2.0 / float(change.norm()))
    error = (released.mean(0) - expected).abs() / (released.std(0) / math.sqrt(draws))
    assert float(error.max()) < norm.isf(5e-7 / size)
    assert upload.per_weight is None


def test_a_model_of_many_weights_is_clipped_to_the_ball_and_not_refused() -> None:
    size = 100_000
    upload = make_upload("gaussian-analytic", CLIENT, size=size, budget="model", clip=0.1 * math.sqrt(size))
    change = torch.full((size,), 3.0)
    domain = upload.mechanism.given_domain
    assert domain.excess(domain.project(change.unsqueeze(0))) <= 0.0
    released = upload.release(torch.zeros(size), change, gen()).double()
    sigma = float(released.std())
    assert abs(float(released.mean()) - 0.1) < 5.0 * sigma / math.sqrt(size)


def test_a_diverged_client_says_nothing_but_noise() -> None:
    upload = make_upload("privunit", CLIENT, size=8, budget="model")
    released = upload.release(torch.zeros(8), torch.full((8,), math.nan), gen())
    assert bool(torch.isfinite(released).all())


def test_none_uploads_the_model_itself() -> None:
    upload = make_upload("none", Preference(0, math.inf, -1, 1), size=4)
    own = torch.tensor([5.0, -5.0, 0.1, 0.0])
    assert torch.equal(upload.release(torch.zeros(4), own, gen()), own)
    assert upload.curve().atom == 1.0
    with pytest.raises(InputError, match="client 0 has a finite epsilon but the mechanism none"):
        make_upload("none", CLIENT, size=4)


def test_pdpm_on_a_whole_model_splits_epsilon_over_its_weights() -> None:
    upload = make_upload("pdpm", CLIENT, size=50, budget="model", clip=2.0)
    assert upload.mechanism.epsilon == pytest.approx(1.0 / 50)
    assert upload.per_weight == pytest.approx(1.0 / 50)
    assert upload.curve().pure_epsilon == pytest.approx(1.0)
    run = make_upload("pdpm", CLIENT, size=50, budget="run", rounds=10, clip=2.0)
    assert run.curve().compose(10).pure_epsilon == pytest.approx(1.0)
