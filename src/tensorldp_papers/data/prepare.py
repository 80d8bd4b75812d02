"""Turns the files of a data set into two safetensors files, one for each split."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

from tensorldp.errors import InputError, check_whole
from tensorldp.files import write_arrays, write_json
from tensorldp_papers.data import catalogue
from tensorldp_papers.data.catalogue import Copies, Dataset
from tensorldp_papers.data.copies import count_copies
from tensorldp_papers.data.fetch import digest, read_record
from tensorldp_papers.data.split import Arrays, Options, Parsed, Parser
from tensorldp_papers.registries import PARSERS


def prepare(
    name: str,
    source_dir: Path | None,
    out_dir: Path,
    *,
    expect_full: bool = True,
    limit: int | None = None,
    endpoints: bool = True,
    seed: int = 0,
) -> Copies:
    """Writes train.safetensors and test.safetensors, each with `x`, `y` (int64) and metadata; counts copies of records.

    Images are uint8, (N, H, W) or (N, H, W, C); tables are float32, scaled with only the training split; text is
    int32, (N, tokens) token indices, with embedding.safetensors beside it where GloVe was supplied. Where it was not,
    train_public_words.safetensors and test_public_words.safetensors have indices made only from public texts.
    The metadata are dataset, kind, classes, low, high, source, deviation, split, and for text vocabulary, words and
    padding.
    The same files and arguments give the same bytes. copies.json has what is returned.

    Args:
        name: a data set of the catalogue.
        source_dir: the folder that `fetch` filled; None for an embedded data set.
        out_dir: folder to write, made if need be.
        expect_full: insist on the sizes of the release.
        limit: reviews of each split and class, only for text.
        endpoints: keep ports and protocol among the features, for `darknet`.
        seed: for the splits that the release does not fix.
    """
    dataset = catalogue.get(name)
    if limit is not None:
        check_whole("limit", limit, low=1)
        if dataset.kind != "text":
            raise InputError(f"limit is for reviews, {name} is {dataset.kind} data")
    if dataset.embedded:
        files, source, deviation = dict[str, Path](), "scikit-learn", ""
    elif source_dir is None:
        raise InputError(f"the data set {name} needs the folder of its files: download it first")
    else:
        files, source, deviation = _source(dataset, source_dir)
    parse: Parser = PARSERS.get(name)  # imports only its module: pandas, scipy and spaCy take seconds to load
    parsed = parse(files, Options(expect_full, limit, endpoints, check_whole("seed", seed)))
    if expect_full:
        sizes = len(parsed.train[0]), len(parsed.test[0])
        expected = tuple(min(size, 2 * limit) if limit else size for size in dataset.sizes)
        if sizes != expected:
            raise InputError(
                f"the files of {dataset.name} give {sizes[0]} training and {sizes[1]} test records, expected "
                f"{expected[0]} and {expected[1]}"
            )
    return write_splits(dataset, parsed, source, out_dir, deviation=deviation)


def write_splits(dataset: Dataset, parsed: Parsed, source: str, out_dir: Path, *, deviation: str = "") -> Copies:
    """Checks both splits against the entry of their data set, and writes them with its metadata and their copies."""
    for split, arrays in (("training", parsed.train), ("test", parsed.test)):
        _check_split(dataset, split, arrays)
    metadata = {
        "dataset": dataset.name,
        "kind": dataset.kind,
        "classes": str(dataset.classes),
        "low": str(dataset.low),
        "high": str(dataset.high),
        "source": source,
        **parsed.metadata,
        "deviation": "; ".join(filter(None, [dataset.deviation, deviation, parsed.metadata.get("deviation")])),
    }
    for split, (x, y) in (("train", parsed.train), ("test", parsed.test)):
        write_arrays(out_dir / f"{split}.safetensors", {"x": x, "y": y.astype(np.int64)}, {**metadata, "split": split})
    for stem, array in parsed.extra.items():
        write_arrays(out_dir / f"{stem}.safetensors", {"weight": array}, {"dataset": dataset.name, "source": source})
    for stem in {"embedding", "train_public_words", "test_public_words", "public_polarity"} - set(parsed.extra):
        (out_dir / f"{stem}.safetensors").unlink(missing_ok=True)
    copies = count_copies(parsed.train, parsed.test)
    write_json(out_dir / "copies.json", asdict(copies))
    return copies


def _source(dataset: Dataset, folder: Path) -> tuple[dict[str, Path], str, str]:
    """Returns the files of the source that was fetched into a folder, its label and its deviation."""
    if not folder.is_dir():
        raise InputError(f"the folder {folder} with the files of {dataset.name} does not exist: download them first")
    if (folder / "source.json").is_file():
        found = read_record(folder)
        if found.name != dataset.name:
            raise InputError(f"the folder {folder} holds the files of {found.name}, not of {dataset.name}")
        for file in found.files:
            if digest(folder / file.name).sha256 != file.sha256:
                raise InputError(f"the file {folder / file.name} has changed since it was fetched: download it again")
        return {file.name: folder / file.name for file in found.files}, found.source, found.deviation
    # a folder that was filled by hand
    for source in dataset.sources:
        if all((folder / file.name).is_file() for file in source.required):
            present = {file.name: folder / file.name for file in source.files if (folder / file.name).is_file()}
            return present, f"{source.label}, not verified", source.deviation
    wanted = " or ".join(", ".join(file.name for file in source.required) for source in dataset.sources)
    raise InputError(f"the folder {folder} lacks files of {dataset.name}, expected {wanted}")


def _check_split(dataset: Dataset, split: str, arrays: Arrays) -> None:
    x, y = arrays
    if len(x) == 0:
        raise InputError(f"the {split} split of {dataset.name} has no records")
    if x.dtype.kind not in "buif" or y.dtype.kind not in "buif" or y.shape != x.shape[:1]:
        raise InputError(
            f"the {split} split of {dataset.name} must be numbers, a record for each label, found records of the "
            f"shape {x.shape} of {x.dtype}, and labels of the shape {y.shape} of {y.dtype}"
        )
    if (y % 1 != 0).any():
        raise InputError(f"the {split} labels of {dataset.name} must be whole numbers, found {y[y % 1 != 0][0]}")
    if y.min() < 0 or y.max() >= dataset.classes:
        raise InputError(
            f"the {split} labels of {dataset.name} must lie in 0 .. {dataset.classes - 1}, found {y.min()} to {y.max()}"
        )
    # only Darknet drops constant columns
    if x.shape[1:] != dataset.shape and dataset.name != "darknet":
        raise InputError(
            f"the {split} records of {dataset.name} have the shape {x.shape[1:]}, expected {dataset.shape}"
        )
    if x.dtype.kind == "f" and not np.isfinite(x).all():
        raise InputError(f"the {split} records of {dataset.name} hold NaN or infinite values")
