import numpy as np
import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.public.words import fit_words, half_tasks, text_shares

TOPIC = torch.arange(200) % 2


@pytest.fixture
def texts() -> torch.Tensor:
    """Of two topics: words 1 to 20 or 11 to 30, padded to one length."""
    words = torch.randint(1, 21, (200, 30), generator=generator("texts")) + 10 * TOPIC[:, None]
    words[::3, 15:] = 0
    return words


def test_shares_count_texts_not_words_and_no_padding() -> None:
    assert text_shares(torch.tensor([[1, 1, 0], [1, 3, 3]])).tolist() == [0.0, 1.0, 0.0, 0.5]
    with pytest.raises(InputError, match="word indices"):
        text_shares(torch.rand(3, 4))


def test_coordinates_are_those_of_scikit_learns_pipeline(texts: torch.Tensor) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    space = fit_words(texts, 5, least=1)
    documents = [" ".join(f"w{k:02d}" for k in text if k) for text in texts.tolist()]
    other = TfidfVectorizer(sublinear_tf=True, smooth_idf=False).fit_transform(documents).toarray()
    assert np.allclose(space.weighted(texts).toarray(), other)
    _, values, vectors = np.linalg.svd(other)
    assert np.allclose(np.abs(space(texts).numpy()), np.abs(other @ vectors[:5].T), atol=1e-5)
    assert values[4] > values[5] + 1e-6


def test_a_text_is_represented_by_itself_and_words_not_kept_count_for_nothing(texts: torch.Tensor) -> None:
    space = fit_words(texts, 4, least=20)
    assert torch.allclose(space(texts)[:3], torch.cat([space(text[None]) for text in texts[:3]]), atol=1e-6)
    assert torch.equal(space(torch.where(texts == 0, 10_000, texts)), space(texts))
    assert torch.equal(space(torch.zeros(1, 30, dtype=torch.long)), torch.zeros(1, 4))


def test_words_of_too_few_texts_are_not_kept(texts: torch.Tensor) -> None:
    texts[:4, 0] = 77
    assert fit_words(texts, 4, least=5).columns[77] == -1
    assert fit_words(texts, 4, least=4).columns[77] >= 0
    with pytest.raises(InputError, match="0 words occur in at least 201 of 200 public texts"):
        fit_words(texts, least=201)


def test_tasks_are_balanced_and_half_of_a_text_tells_about_the_other(texts: torch.Tensor) -> None:
    rows, labels = half_tasks(texts, fit_words(texts, 6, least=1), 2)
    assert rows.shape == (200, 6)
    assert labels.sum(dim=0).tolist() == [100, 100]
    agreement = float((labels[:, 1] == TOPIC).double().mean())
    assert max(agreement, 1 - agreement) > 0.95  # the second direction is the topic
