from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiny
from tiny import load

from tensorldp.errors import InputError
from tensorldp_papers.data.prepare import prepare
from tensorldp_papers.data.tabular import CLASSES, interspersed


def test_cleaning_and_standardising(tmp_path: Path) -> None:
    tiny.write_darknet(tmp_path / "Darknet.CSV")
    prepare("darknet", tmp_path, tmp_path / "out", expect_full=False)
    train, test = (load(tmp_path / "out" / f"{split}.safetensors") for split in ("train", "test"))
    # 700 rows less one NaN and one infinity; of 6 numeric columns two are constant
    assert (len(train.x), len(test.x)) == (558, 140)
    assert train.x.shape[1] == 4
    np.testing.assert_allclose(train.x.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(train.x.std(axis=0), 1, rtol=1e-5)
    counts = np.bincount(train.y) + np.bincount(test.y)
    assert counts.tolist() == [298, 100, 220, 80]
    prepare("darknet", tmp_path, tmp_path / "out", expect_full=False, endpoints=False)
    assert load(tmp_path / "out" / "train.safetensors").x.shape[1] == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Label": "Onion"}, "has the label 'Onion', allowed are Non-Tor, NonVPN, Tor, VPN"),
        ({"Flow Duration": "long"}, "column 'Flow Duration' of .* must hold only numbers"),
    ],
)
def test_mistakes(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    tiny.write_darknet(tmp_path / "Darknet.CSV", **changes)
    with pytest.raises(InputError, match=message):
        prepare("darknet", tmp_path, tmp_path / "out", expect_full=False)


def test_another_release_is_refused(tmp_path: Path) -> None:
    tiny.write_darknet(tmp_path / "Darknet.CSV")
    with pytest.raises(InputError, match="has 700 rows and 12 columns, expected 141530 and 85"):
        prepare("darknet", tmp_path, tmp_path / "out")
    (tmp_path / "Darknet.CSV").write_text("Flow ID,Src IP\n1,2\n")
    with pytest.raises(InputError, match="lacks the column 'Dst IP'"):
        prepare("darknet", tmp_path, tmp_path / "out", expect_full=False)


def test_the_papers_split_sizes() -> None:
    # the release's counts less 47 rows with NaN and 2 infinite ones
    y = np.repeat(np.arange(4), [93356 - 49, 23863, 1392, 22919])
    (train, y_train), (test, y_test) = interspersed(np.arange(len(y)), y, 0)
    assert (len(train), len(test)) == (113184, 28297)
    assert len(np.union1d(train, test)) == len(y)
    tor = CLASSES.index("Tor")
    # Tor is spread evenly and keeps its order
    assert (y_train == tor).sum() == pytest.approx(0.8 * 1392, abs=8)
    assert (np.diff(np.concatenate([train[y_train == tor], test[y_test == tor]])) > 0).all()
