import numpy as np
import pytest
import torch

from tensorldp.errors import InputError
from tensorldp.randomness import generator
from tensorldp_papers.public.words import fit_words, half_tasks, text_shares


def texts(count: int = 200, length: int = 30) -> torch.Tensor:
    """Of two topics: words 1 to 20 or 11 to 30, padded to one length."""
    source = generator("texts")
    topic = torch.arange(count) % 2
    words = torch.randint(1, 21, (count, length), generator=source) + 10 * topic[:, None]
    words[::3, length // 2 :] = 0
    return words


def test_shares_count_texts_not_words_and_no_padding() -> None:
    shares = text_shares(torch.tensor([[1, 1, 0], [1, 3, 3]]))
    assert shares.tolist() == [0.0, 1.0, 0.0, 0.5]


def test_coordinates_are_those_of_scikit_learns_pipeline() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    public = texts()
    space = fit_words(public, 5, least=1)
    documents = [" ".join(f"w{k:02d}" for k in text if k) for text in public.tolist()]
    other = TfidfVectorizer(sublinear_tf=True, smooth_idf=False).fit_transform(documents)
    assert np.allclose(space.weighted(public).toarray(), other.toarray())
    _, values, vectors = np.linalg.svd(other.toarray())
    assert np.allclose(np.abs(space(public).numpy()), np.abs(other.toarray() @ vectors[:5].T), atol=1e-5)
    assert values[4] > values[5] + 1e-6


def test_a_text_is_represented_by_itself_and_words_not_kept_count_for_nothing() -> None:
    public = texts()
    space = fit_words(public, 4, least=20)
    assert torch.allclose(space(public)[:3], torch.cat([space(text[None]) for text in public[:3]]), atol=1e-6)
    unknown = torch.where(public == 0, 10_000, public)
    assert torch.equal(space(unknown), space(public))
    assert torch.equal(space(torch.zeros(1, 30, dtype=torch.long)), torch.zeros(1, 4))


def test_words_of_too_few_texts_are_not_kept() -> None:
    public = texts()
    public[:4, 0] = 77
    assert fit_words(public, 4, least=5).columns[77] == -1
    assert fit_words(public, 4, least=4).columns[77] >= 0
    with pytest.raises(InputError, match="0 words occur in at least 201 of 200 public texts"):
        fit_words(public, least=201)


def test_tasks_are_balanced_and_half_of_a_text_tells_about_the_other() -> None:
    public = texts()
    rows, labels = half_tasks(public, fit_words(public, 6, least=1), 2)
    assert rows.shape == (200, 6)
    assert labels.sum(dim=0).tolist() == [100, 100]
    topic = torch.arange(200) % 2
    agreement = (labels[:, 1] == topic).double().mean()
    assert max(agreement, 1 - agreement) > 0.95  # the second direction is the topic


def test_what_are_no_texts_is_refused() -> None:
    with pytest.raises(InputError, match="word indices"):
        text_shares(torch.rand(3, 4))
