"""CIC-Darknet2020 as TLDP prepares it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorldp.errors import InputError
from tensorldp_papers.data.split import Arrays, Options, Parsed, parser
from tensorldp_papers.data.tabular import numbers, read_csv, standardise

CLASSES = ("Non-Tor", "NonVPN", "Tor", "VPN")
RAW_SHAPE = (141530, 85)
CLEAN_ROWS = 141481
SEGMENTS = 200

_TEXT = ("Flow ID", "Src IP", "Dst IP", "Timestamp", "Label", "Label.1")
_ENDPOINTS = ("Src Port", "Dst Port", "Protocol")


@parser("darknet")
def parse_darknet(files: Mapping[str, Path], options: Options) -> Parsed:
    """Darknet.CSV: x (N, at most 79) standardised, y one of `CLASSES`.

    The second label, the application, is dropped with the other text columns, because it would give the class away.
    Rows with NaN or infinite values are dropped, duplicates are kept. Columns that are constant in training are
    dropped.

    Args:
        files: Darknet.CSV by name.
        options: `expect_full` insists on the row and column counts of the release that the paper used; `endpoints`
            keeps the ports and the protocol among the features; `seed` is of the shuffle in the split.

    Raises:
        InputError: if the file is another release, lacks a column, or holds an unknown label.
    """
    path = files["Darknet.CSV"]
    table = read_csv(path, low_memory=False)
    if options.expect_full and table.shape != RAW_SHAPE:
        raise InputError(
            f"the file {path} has {table.shape[0]} rows and {table.shape[1]} columns, expected are "
            f"{RAW_SHAPE[0]} and {RAW_SHAPE[1]}: it must be the release of CIC-Darknet2020 with that size"
        )
    for name in (*_TEXT, *_ENDPOINTS):
        if name not in table.columns:
            raise InputError(f"the file {path} lacks the column {name!r}")
    label = table["Label"].astype("string").str.strip()
    if strange := sorted(set(label.dropna()) - set(CLASSES)):
        raise InputError(f"the file {path} has the label {strange[0]!r}, allowed are {', '.join(CLASSES)}")
    x = numbers(table.drop(columns=[*_TEXT, *(() if options.endpoints else _ENDPOINTS)]), path)
    y = label.map({name: index for index, name in enumerate(CLASSES)}).fillna(-1).to_numpy(np.int64)
    clean = np.isfinite(x).all(axis=1) & (y >= 0)
    if options.expect_full and clean.sum() != CLEAN_ROWS:
        raise InputError(
            f"the file {path} has {clean.sum()} rows without NaN and infinite values, expected are {CLEAN_ROWS}"
        )
    (train, y_train), (test, y_test) = interspersed(x[clean], y[clean], options.seed)
    if not len(train) or not len(test):
        raise InputError(f"the file {path} has {clean.sum()} usable rows, too few for two splits")
    varying = train.min(axis=0) < train.max(axis=0)
    train, test = standardise(train[:, varying], test[:, varying])
    return Parsed((train, y_train), (test, y_test), {"features": str(train.shape[1])})


def interspersed(x: NDArray[Any], y: NDArray[Any], seed: int) -> tuple[Arrays, Arrays]:
    """The paper's split, as far as it is described: training and test records with their classes.

    Tor, in order, is cut into 200 segments that alternate with 200 segments of the shuffled rest; the first 80 %
    (rounded down) are for training, the others for testing.
    """
    tor = y == CLASSES.index("Tor")
    rest = np.random.default_rng(seed).permutation(np.flatnonzero(~tor))
    segments = zip(np.array_split(np.flatnonzero(tor), SEGMENTS), np.array_split(rest, SEGMENTS), strict=True)
    order = np.concatenate([part for pair in segments for part in pair])
    cut = len(order) * 8 // 10
    return (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])
