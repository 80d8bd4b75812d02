"""What LATENT's data owners release: packed bit strings of untrained features, or a short projection of them."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from tensorldp.errors import InputError
from tensorldp.mechanisms import Ball, Box, Mechanism
from tensorldp.mechanisms.bits import encode_bits
from tensorldp.mechanisms.latent import Latent
from tensorldp.randomness import generator
from tensorldp_papers.data.images import augment
from tensorldp_papers.nets.computing import channels_last, lay_out
from tensorldp_papers.papers.latent.networks import conv_module, feature_count, printed
from tensorldp_papers.papers.latent.settings import LatentFactors
from tensorldp_papers.progress import track
from tensorldp_papers.run.cell import Cell
from tensorldp_papers.run.method_plan import Training
from tensorldp_papers.run.records import Records, model_inputs
from tensorldp_papers.run.streams import common_stream, mechanism_on, noise_stream

ReleasedBits = Cell[Training, LatentFactors]  # releases depend on no setting of the training
BLOCK = 250  # records whose features are held at once


def unit_images(records: Records, x: Tensor) -> Tensor:
    """Returns stored images as floats in [0, 1] by their public range, (records, channels, height, width)."""
    return (model_inputs(x, records.kind) - records.low) / (records.high - records.low)


def module_of(cell: ReleasedBits, shape: tuple[int, ...], seed: int) -> nn.Sequential:
    """Builds the convolutional module of a data set and seed: public, and the same for every mechanism and epsilon."""
    return conv_module(shape, generator("latent convolutional module", cell.dataset, seed))


def standardise_records(features: Tensor) -> Tensor:
    """Scales each row to mean 0 and deviation 1 by itself (z-score, 3.1.1); a constant row becomes 0.

    Statistics of the whole data set would make one record's release depend on the others.
    """
    centred = features - features.mean(dim=1, keepdim=True)
    deviation = centred.square().mean(dim=1, keepdim=True).sqrt()
    return torch.where(deviation > 0, centred / deviation.clamp_min(torch.finfo(features.dtype).tiny), 0.0)


@torch.no_grad()
def feature_blocks(
    cell: ReleasedBits, records: Records, seed: int, device: torch.device, *, copies: int = 0
) -> Iterator[Tensor]:
    """Yields blocks (up to 250, r) of z-scored features, of all records and then of `copies` altered ones of each."""
    module = lay_out(module_of(cell, records.shape, seed).to(device))
    altered = common_stream(cell, seed, "augmentation")
    for turn in range(1 + copies):
        blocks = records.x.split(BLOCK)
        for part in track(blocks, f"features of {records.name}", total=len(blocks)):
            images = unit_images(records, part)
            images = augment(images, altered) if turn else images
            yield standardise_records(module(channels_last(images.to(device))))


def code_of(cell: ReleasedBits, shape: tuple[int, ...]) -> tuple[int, int]:
    """Returns n and m, bits of the whole part and the fraction: the cell's options, or as printed for such images."""
    paper = printed(shape)
    return cell.options.get("whole", paper.whole), cell.options.get("fraction", paper.fraction)


def bit_mechanism(cell: ReleasedBits, shape: tuple[int, ...]) -> Latent | None:
    """Makes LATENT on the features of images of `shape`; None for the mechanism `none`."""
    if not cell.private:
        return None
    n, m = code_of(cell, shape)
    found = (
        mechanism_on(cell, Box(-(2.0**n), 2.0**n, (feature_count(shape),)), whole=n, fraction=m)
        if cell.mechanism == "latent"
        else None
    )
    if not isinstance(found, Latent):
        raise InputError(
            f"bit strings of {cell.study} are released by latent or none, got {cell.mechanism!r}; "
            "other mechanisms take model: centroid"
        )
    return found


def release_bits(
    cell: ReleasedBits, records: Records, seed: int, device: torch.device, *, split: str, private: bool = True
) -> Tensor:
    """Releases the owners' strings, packed: uint8 (releases, ceil(r l / 8)) on the CPU.

    Args:
        cell: the cell that is computed.
        records: the images of one split.
        seed: for the features and the coins.
        device: where features are computed.
        split: `train` or `test`; each has a random stream of its own, and altered copies are for training only.
        private: False gives the strings before randomisation.
    """
    n, m = code_of(cell, records.shape)
    mechanism = bit_mechanism(cell, records.shape) if private else None
    copies = cell.factors.augment if split == "train" else 0
    stream = noise_stream(cell, seed, f"{split} noise", device)
    size = feature_count(records.shape) * (1 + n + m)
    out = torch.empty((len(records.x) * (1 + copies), -(-size // 8)), dtype=torch.uint8)
    start = 0
    for block in feature_blocks(cell, records, seed, device, copies=copies):
        packed = encode_bits(block, whole_bits=n, fraction_bits=m)
        out[start : start + len(packed)] = packed if mechanism is None else mechanism.privatize_bits(packed, stream)
        start += len(packed)
    return out


def projection_mechanism(cell: ReleasedBits) -> Mechanism:
    """Makes the cell's mechanism on k projections, the factor `features`, which have norm 1."""
    return mechanism_on(cell, Ball(1.0, (cell.factors.features,)))


def release_projection(
    cell: ReleasedBits, records: Records, seed: int, device: torch.device, *, split: str, private: bool = True
) -> Tensor:
    """Releases k public random projections of each record's features, at norm 1: float32 (records, k)."""
    size = cell.factors.features
    source = generator("latent projection", cell.dataset, seed)
    matrix = torch.randn(feature_count(records.shape), size, generator=source).to(device)
    mechanism = projection_mechanism(cell)
    stream = noise_stream(cell, seed, f"{split} noise", device)
    out = []
    for block in feature_blocks(cell, records, seed, device):
        unit = nn.functional.normalize(block @ matrix)
        out.append((mechanism.privatize(unit, stream) if private else unit).cpu())
    return torch.cat(out)
