import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from tensorldp_papers.public.means import LinearScores
from tensorldp_papers.public.unlabelled import linear_discriminant, self_train


def mixture(seed: int, count: int = 3000) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    centres = torch.randn(5, 20, generator=torch.Generator().manual_seed(11)) * 0.9
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(count) % 5
    return centres[y] + torch.randn(count, 20, generator=g), y, centres


def test_the_discriminant_is_scikit_learns_up_to_the_ridge() -> None:
    x, y, _ = mixture(1)
    ours = linear_discriminant(x, y, 5, ridge=1e-9).predict(x)
    theirs = torch.from_numpy(LinearDiscriminantAnalysis(solver="lsqr").fit(x.numpy(), y.numpy()).predict(x.numpy()))
    assert float((ours == theirs).float().mean()) > 0.999


def test_public_records_without_labels_improve_a_noisy_classifier() -> None:
    x, _, centres = mixture(2)
    test, y, _ = mixture(3)
    noise = torch.randn(5, 20, generator=torch.Generator().manual_seed(4)) * 0.9
    noisy = LinearScores(centres + noise, -(centres + noise).square().sum(1) / 2)
    trained = self_train(noisy, x, x)
    assert trained.accuracy(test, test, y) > noisy.accuracy(test, y) + 0.05


def test_a_class_that_no_public_record_gets_is_not_predicted_by_the_discriminant() -> None:
    x, y, _ = mixture(5)
    scores = linear_discriminant(x[y < 4], y[y < 4], 5)
    assert int(scores.predict(x).max()) == 3
