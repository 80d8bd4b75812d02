from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from tiny import load

from tensorldp.errors import InputError
from tensorldp_papers.data.prepare import prepare
from tensorldp_papers.data.split import Options
from tensorldp_papers.data.tabular import ctg_table, parse_adult, parse_credit, parse_ctg


def adult_files(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.parametrize("compressed", [False, True])
def test_adult(tmp_path: Path, compressed: bool) -> None:
    tiny.write_adult(tmp_path, compressed)
    parsed = parse_adult(adult_files(tmp_path), Options())
    (train, y_train), (test, y_test) = parsed.train, parsed.test
    # 6 continuous columns, then 2 + 2 + 1 + 1 + 2 + 2 + 2 + 2 categories
    assert train.shape == (2, 20)
    assert train[:, 0].tolist() == pytest.approx([30 / 80, 50 / 80])
    assert test[0, 0] == pytest.approx(80 / 80)
    assert train[:, 3].tolist() == [0, 0]
    assert [row.tolist() for row in (train[0, 6:8], train[1, 6:8], test[0, 6:8])] == [[1, 0], [0, 0], [0, 1]]
    assert (y_train.tolist(), y_test.tolist()) == ([0, 1], [1])


def test_adult_mistakes(tmp_path: Path) -> None:
    tiny.write_adult(tmp_path)
    data = tmp_path / "adult.data"
    text = data.read_text()
    for old, new, message in (
        ("Private", "Pirate", "'workclass' of .* holds 'Pirate'"),
        ("<=50K", "50", "<=50K or >50K"),
        ("30,", "thirty,", "'age' of .* must hold only numbers"),
    ):
        data.write_text(text.replace(old, new))
        with pytest.raises(InputError, match=message):
            parse_adult(adult_files(tmp_path), Options())
    (tmp_path / "adult.names").write_text("nothing")
    with pytest.raises(InputError, match="describes no columns"):
        parse_adult(adult_files(tmp_path), Options())


def test_credit_is_standardised_with_training_statistics(tmp_path: Path) -> None:
    tiny.write_credit(tmp_path / "creditcard.csv")
    prepare("credit", tmp_path, tmp_path / "out", expect_full=False)
    train, test = (load(tmp_path / "out" / f"{split}.safetensors") for split in ("train", "test"))
    assert (train.x.shape, test.x.shape, train.x.dtype) == ((140, 28), (60, 28), np.float32)
    assert (train.y.sum(), test.y.sum()) == (7, 3)
    np.testing.assert_allclose(train.x.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(train.x.std(axis=0), 1, rtol=1e-5)
    assert abs(test.x.mean(axis=0)).max() > 1e-3
    assert (train.metadata["low"], train.metadata["high"]) == ("-inf", "inf")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("V7", "W7", "lacks the column 'V7'"),
        (",0\n", ",2\n", "must hold only 0 and 1"),
        ("Time,V1", "Time;V1", "lacks the column 'V1'|not the expected CSV"),
    ],
)
def test_credit_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "creditcard.csv"
    tiny.write_credit(path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        parse_credit({"creditcard.csv": path}, Options())


def test_empty_csv(tmp_path: Path) -> None:
    (tmp_path / "creditcard.csv").write_text("")
    with pytest.raises(InputError, match=r"creditcard\.csv is not the expected CSV table"):
        parse_credit({"creditcard.csv": tmp_path / "creditcard.csv"}, Options())


def ctg_rows(count: int = 60) -> list[list[Any]]:
    numbers = ["", *(float(k) for k in range(1, 22)), ""]
    names = ["b", *(f"c{k}" for k in range(1, 22)), "NSP"]
    body = [[0.0, *(float(row * k) for k in range(1, 21)), 5.0, float(row % 3 + 1)] for row in range(count)]
    return [numbers, names, *body, [""] * 23, [564.0] * 22 + [""]]


def test_ctg_columns_fill_their_training_range() -> None:
    parsed = ctg_table(ctg_rows(), Path("CTG.xls"), 0)
    (train, y_train), (test, y_test) = parsed.train, parsed.test
    assert (train.shape, test.shape, train.dtype) == ((48, 21), (12, 21), np.float32)
    assert train[:, :20].min(axis=0).tolist() == [-1.0] * 20
    assert train[:, :20].max(axis=0).tolist() == [1.0] * 20
    assert not train[:, 20].any()
    assert abs(test).max() <= 1
    assert np.bincount(y_train).tolist() == [16, 16, 16]
    assert np.bincount(y_test).tolist() == [4, 4, 4]


def test_ctg_mistakes(tmp_path: Path) -> None:
    rows = ctg_rows()
    with pytest.raises(InputError, match="must have the column NSP"):
        ctg_table([rows[0], rows[0], *rows[2:]], Path("CTG.xls"), 0)
    with pytest.raises(InputError, match="must number the columns 1 to 21"):
        ctg_table([rows[1], *rows[1:]], Path("CTG.xls"), 0)
    rows[5][3] = "much"
    with pytest.raises(InputError, match="must hold numbers"):
        ctg_table(rows, Path("CTG.xls"), 0)
    (tmp_path / "CTG.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 broken")
    with pytest.raises(InputError, match=r"CTG\.xls is not the expected Excel 97 workbook"):
        parse_ctg({"CTG.xls": tmp_path / "CTG.xls"}, Options())
