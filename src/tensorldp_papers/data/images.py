"""Parsers of the image data sets, of those that ship with scikit-learn, and LATENT's augmentation (4.1.3)."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp_papers.data.archives import decompressed, tar_members
from tensorldp_papers.data.split import Arrays, Options, Parsed, parser, stratified
from tensorldp_papers.data.tabular import standardise

Files = Mapping[str, Path]
"""The files of one source, by name."""

_CIFAR_RECORD = 1 + 3 * 32 * 32
_CIFAR_TRAIN = tuple(f"cifar-10-batches-bin/data_batch_{k}.bin" for k in range(1, 6))
_CIFAR_TEST = ("cifar-10-batches-bin/test_batch.bin",)


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Reads the array in an IDX file of unsigned bytes, gzipped or not."""
    data = decompressed(path)
    if len(data) < 4 or data[:3] != b"\0\0\x08":
        raise InputError(f"the file {path} is not an IDX file of unsigned bytes: its header is {data[:4]!r}")
    start = 4 + 4 * data[3]
    if len(data) < start:
        raise InputError(f"the file {path} is truncated in its header")
    shape = struct.unpack(f">{data[3]}I", data[4:start])
    # Python's integers cannot overflow, so a forged header cannot pass
    if len(data) - start != (size := math.prod(shape)):
        raise InputError(f"the file {path} holds {len(data) - start} values, its header says {size}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


@parser("mnist")
@parser("fashion_mnist")
def parse_mnist(files: Files, options: Options) -> Parsed:
    """Reads MNIST or Fashion-MNIST: x (N, 28, 28)."""

    def split(prefix: str) -> Arrays:
        names = f"{prefix}-images-idx3-ubyte.gz", f"{prefix}-labels-idx1-ubyte.gz"
        x, y = (read_idx(files[name]) for name in names)
        if x.ndim != 3 or y.ndim != 1 or len(x) != len(y):
            raise InputError(f"the files {names[0]} and {names[1]} do not belong together: shapes {x.shape}, {y.shape}")
        return x, y

    return Parsed(split("train"), split("t10k"))


@parser("cifar10")
def parse_cifar10(files: Files, options: Options) -> Parsed:
    """Reads CIFAR-10 from the binary archive or the re-encoded raw pixels: x (N, 32, 32, 3), in the release's order."""
    if "cifar-10-binary.tar.gz" in files:
        return _cifar_archive(files["cifar-10-binary.tar.gz"])
    return Parsed(_raw_pixels(files, "data_batch_", "train_labels"), _raw_pixels(files, "test_batch_", "test_labels"))


@parser("svhn")
def parse_svhn(files: Files, options: Options) -> Parsed:
    """Reads SVHN's cropped digits: x (N, 32, 32, 3), label 10 becomes class 0."""
    return Parsed(_svhn_file(files["train_32x32.mat"]), _svhn_file(files["test_32x32.mat"]))


@parser("svhn_10k")
def parse_svhn_10k(files: Files, options: Options) -> Parsed:
    """Reads the first 10,000 test images of SVHN, of which the first 8,000 train: neighbours are crops of one photo."""
    x, y = _raw_pixels(files, "test_first10000_images", "test_first10000_labels")
    cut = len(y) * 4 // 5
    return Parsed((x[:cut], y[:cut]), (x[cut:], y[cut:]))


def _cifar_archive(path: Path) -> Parsed:
    content = dict(tar_members(path, {*_CIFAR_TRAIN, *_CIFAR_TEST}.__contains__))

    def split(names: tuple[str, ...]) -> Arrays:
        for name in names:
            if name not in content:
                raise InputError(f"the archive {path} has no member {name}: it must be the binary version")
            if len(content[name]) % _CIFAR_RECORD:
                raise InputError(
                    f"the member {name} of {path} has {len(content[name])} bytes, which is not a multiple "
                    f"of {_CIFAR_RECORD}"
                )
        rows = np.frombuffer(b"".join(content[name] for name in names), np.uint8).reshape(-1, _CIFAR_RECORD)
        return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]

    return Parsed(split(_CIFAR_TRAIN), split(_CIFAR_TEST))


def _raw_pixels(files: Files, images: str, labels: str) -> Arrays:
    parts = sorted(name for name in files if name.startswith(images))
    y = np.frombuffer(b"".join(decompressed(files[name]) for name in files if name.startswith(labels)), np.uint8)
    pixels = b"".join(decompressed(files[name]) for name in parts)
    if len(pixels) != len(y) * (_CIFAR_RECORD - 1):
        raise InputError(
            f"the files {', '.join(parts)} hold {len(pixels)} bytes for {len(y)} labels, expected "
            f"{_CIFAR_RECORD - 1} per label"
        )
    return np.frombuffer(pixels, np.uint8).reshape(-1, 32, 32, 3), y


def _svhn_file(path: Path) -> Arrays:
    from scipy.io import loadmat

    try:
        content: dict[str, Any] = loadmat(path, variable_names=["X", "y"])
    except FileNotFoundError:
        raise InputError(f"the file {path} is missing") from None
    except Exception as error:  # scipy raises many kinds on damaged input
        raise InputError(f"the file {path} is truncated or not a MATLAB 5 file ({error})") from None
    x, y = content.get("X"), content.get("y")
    if x is None or y is None or x.dtype != np.uint8 or x.ndim != 4 or x.shape[:3] != (32, 32, 3):
        raise InputError(f"the file {path} must hold X, 32 x 32 x 3 x N unsigned bytes, and y")
    if y.dtype.kind not in "iuf" or y.size != x.shape[3]:
        raise InputError(f"the file {path} must hold one number in y for each of the {x.shape[3]} images")
    if not np.isin(y, np.arange(1, 11)).all():
        raise InputError(f"the labels in {path} must lie in 1 .. 10")
    return x.transpose(3, 0, 1, 2), y.reshape(-1) % 10


def augment(
    images: Tensor, generator: torch.Generator, *, shift: float = 0.1, degrees: float = 10.0, flip: float = 0.5
) -> Tensor:
    """Draws one altered copy of every image: shifted by up to `shift` of a side, turned by up to `degrees`, mirrored.

    All three are drawn anew for each image by a CPU generator; pixels from beyond the border repeat it, as Keras does
    by default. Images are float (batch, channels, height, width); `shift` is a share of each side, `flip` the
    probability of a horizontal mirror image.
    """
    turn = math.radians(degrees)
    count, _, height, width = images.shape
    draws = torch.rand(4, count, generator=generator)
    angle, mirror = (2.0 * draws[0] - 1.0) * turn, torch.where(draws[1] < flip, -1.0, 1.0)
    across, down = (2.0 * (2.0 * draw - 1.0) * shift for draw in draws[2:])  # sides have length 2 in a sampling grid
    cos, sin, aspect = angle.cos(), angle.sin(), height / width
    theta = torch.stack(
        (torch.stack((mirror * cos, -sin * aspect, across), 1), torch.stack((mirror * sin / aspect, cos, down), 1)), 1
    )
    grid = nn.functional.affine_grid(theta, list(images.shape), align_corners=False).to(images)
    return nn.functional.grid_sample(images, grid, padding_mode="border", align_corners=False)


@parser("digits")
def parse_digits(files: Files, options: Options) -> Parsed:
    """Reads handwritten digits: x (N, 8, 8) uint8 in 0 .. 16; stratified 80/20 split."""
    from sklearn.datasets import load_digits

    data = load_digits()
    return Parsed(*stratified(data.images.astype(np.uint8), data.target, 0.2, options.seed))


@parser("breast_cancer")
def parse_breast_cancer(files: Files, options: Options) -> Parsed:
    """Reads breast cancer: x (N, 30) standardised, y 0 malignant and 1 benign; stratified 80/20 split."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    (train, y_train), (test, y_test) = stratified(data.data, data.target, 0.2, options.seed)
    train, test = standardise(train, test)
    return Parsed((train, y_train), (test, y_test))
