"""Small files in the formats of the real data sets, and a mirror made of them."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tensorldp.files import read_arrays, sha256
from tensorldp_papers.data.catalogue import Dataset, File, Source


@dataclass(frozen=True)
class Split:
    """A split as `prepare` wrote it: records, class indices and metadata."""

    x: NDArray[Any]
    y: NDArray[Any]
    metadata: dict[str, str]


def load(path: Path) -> Split:
    """Read a split without turning it into a study's records."""
    arrays, metadata = read_arrays(path)
    return Split(arrays["x"], arrays["y"], metadata)


ADULT_NAMES = """| remarks: with a colon.
>50K, <=50K.

age: continuous.
workclass: Private, State-gov.
fnlwgt: continuous.
education: Bachelors, 11th.
education-num: continuous.
marital-status: Divorced.
occupation: Sales.
relationship: Wife, Husband.
race: White, Black.
sex: Female, Male.
capital-gain: continuous.
capital-loss: continuous.
hours-per-week: continuous.
native-country: United-States, Outlying-US(Guam-USVI-etc).
"""


def write_idx(path: Path, array: NDArray[np.uint8]) -> None:
    header = b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(gzip.compress(header + array.tobytes(), mtime=0))


def write_mnist(folder: Path, train: int = 12, test: int = 5) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for prefix, count in (("train", train), ("t10k", test)):
        write_idx(folder / f"{prefix}-images-idx3-ubyte.gz", rng.integers(0, 256, (count, 28, 28), np.uint8))
        write_idx(folder / f"{prefix}-labels-idx1-ubyte.gz", (np.arange(count) % 10).astype(np.uint8))


def tar(members: dict[str, bytes], mode: str = "w:gz", link: str | None = None) -> bytes:
    """An archive of these members, and of a symbolic link where one is named."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        if link is not None:
            info = tarfile.TarInfo(link)
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(info)
    return buffer.getvalue()


def write_tar(path: Path, members: dict[str, bytes], mode: str = "w:gz", link: str | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tar(members, mode, link))


def write_imdb(path: Path, reviews: int = 3) -> None:
    members = {"aclImdb/train/urls_neg.txt": b"http://example.org"}
    for split in ("train", "test"):
        for label, word in (("neg", "awful"), ("pos", "great")):
            # written backwards, so that the order must come from the numbers
            for number in reversed(range(reviews)):
                text = f"It isn't {word}!<br /><br />A  film no. {number}" + (" padding" * 600 if number == 1 else "")
                members[f"aclImdb/{split}/{label}/{number}_{number + 1}.txt"] = text.encode()
    write_tar(path, members, "w:xz")


def write_reviews(path: Path, texts: list[str]) -> None:
    """The same reviews in both splits, negative and positive in turns, as `prepare` puts them."""
    members = {
        f"aclImdb/{split}/{('neg', 'pos')[k % 2]}/{k}_1.txt": text.encode()
        for split in ("train", "test")
        for k, text in enumerate(texts)
    }
    write_tar(path, members, "w:xz")


def write_adult(folder: Path, compressed: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    row = "{}, {}, 100, Bachelors, 13, Divorced, Sales, Wife, White, Male, 0, 0, 40, United-States, {}\n"
    train = row.format(30, "Private", "<=50K") + row.format(50, "?", ">50K") + "\n"
    test = "|1x3 Cross validator\n" + row.format(80, "State-gov", ">50K.") + "\n"
    for name, text in (("adult.data", train), ("adult.test", test)):
        if compressed:
            (folder / f"{name}.xz").write_bytes(lzma.compress(text.encode()))
        else:
            (folder / name).write_text(text)
    (folder / "adult.names").write_text(ADULT_NAMES)


def write_darknet(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    label = np.array(["Non-Tor"] * 300 + ["NonVPN"] * 100 + ["VPN"] * 80 + ["Tor"] * 220)
    count = len(label)
    columns: dict[str, Any] = {
        "Flow ID": "1-2",
        "Src IP": "10.0.0.1",
        "Src Port": rng.integers(0, 9, count),
        "Dst IP": "10.0.0.2",
        "Dst Port": rng.integers(0, 9, count),
        "Protocol": 6,
        "Timestamp": "24/07/2015 04:09:48 PM",
        "Flow Duration": np.arange(count),
        "Bytes/s": rng.normal(5, 2, count).astype(str),
        "Constant": 1,
        "Label": label,
        "Label.1": "Chat",
    }
    table = pd.DataFrame(columns, index=range(count))
    table.loc[3, "Bytes/s"] = ""
    table.loc[7, "Bytes/s"] = "Infinity"
    # the release names both label columns alike
    table.rename(columns={"Label.1": "Label"}).to_csv(path, index=False)


def write_credit(path: Path, count: int = 200) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2)
    columns = {"Time": np.arange(count)} | {f"V{k}": rng.normal(3, 2, count) for k in range(1, 29)}
    pd.DataFrame(columns | {"Amount": 1.0, "Class": (np.arange(count) % 20 == 0).astype(int)}).to_csv(path, index=False)


def write_cifar(path: Path, per_batch: int = 4) -> NDArray[np.uint8]:
    rows = np.random.default_rng(3).integers(0, 256, (6, per_batch, 3073), np.uint8)
    rows[:, :, 0] %= 10
    names = [*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"]
    write_tar(path, {f"cifar-10-batches-bin/{name}": part.tobytes() for name, part in zip(names, rows, strict=True)})
    return rows


def pinned(name: str, folder: Path, files: list[str], *more: File, address: str = "") -> Dataset:
    """A catalogue entry for small files, pinned to what they are now."""
    found = [
        File(f"{folder.name}/{file}", f"sha256:{sha256(folder / file)}", (f"{address}/{file}",) if address else ())
        for file in files
    ]
    source = Source("publisher", (*found, *more))
    return Dataset(name, "image", 10, (28, 28), 0, 255, (12, 5), "https://example.org/set", "", sources=(source,))
