"""Records per second of LATENT's owners: encode and randomise, beside plain NumPy and the paper's times.

    python benchmarks/latent.py
    python benchmarks/latent.py --records 2000 --repeats 7

Everything runs on one core. Each repeat runs every row once, so that a busy machine slows all rows alike; the table
gives the best repeat, which a busy machine disturbs least, and CPU seconds, not those of the wall.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tensorldp.mechanisms import Box
from tensorldp.mechanisms.bits import encode_bits
from tensorldp.mechanisms.latent import Latent
from tensorldp.randomness import generator
from tensorldp_papers.papers.latent.bit_strings import standardise_records
from tensorldp_papers.papers.latent.networks import conv_module, feature_count, printed

SHAPES = {"mnist": (28, 28), "cifar10": (32, 32, 3)}
PAPER_SECONDS = {"mnist": 0.1655, "cifar10": 0.0374}  # LATENT 4.2, per record


@dataclass
class Row:
    """One line: something that releases `records` records."""

    dataset: str
    name: str
    records: int
    run: Callable[[], object]
    seconds: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Records per CPU second, best repeat."""
        return self.records / min(self.seconds)

    @property
    def over_paper(self) -> float:
        """Times the paper's rate."""
        return self.rate * PAPER_SECONDS[self.dataset]


def numpy_release(
    x: npt.NDArray[np.float32], whole: int, fraction: int, flip: float, rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Eq. 5 and 6 as one would write them: a byte for a bit, a uniform number for a coin."""
    places = np.arange(whole - 1, -fraction - 1, -1)
    largest = 2.0**whole - 2.0**-fraction
    magnitude = np.minimum(np.abs(x), largest)[..., None]
    bits = np.floor(magnitude * 2.0 ** -places.astype(np.float32)) % 2
    string = np.concatenate(((x < 0)[..., None], bits), axis=-1).astype(np.uint8).reshape(len(x), -1)
    return string ^ (rng.random(string.shape) < flip)


def rows_of(dataset: str, reading: str, records: int) -> list[Row]:
    """The rows of one kind of image, on random features and images."""
    shape, paper = SHAPES[dataset], printed(SHAPES[dataset])
    n, m = paper.whole, paper.fraction
    size = feature_count(shape)
    mechanism = Latent(
        epsilon=0.5, domain=Box(-(2.0**n), 2.0**n, (size,)), whole=n, fraction=m, reading="A" if reading == "A" else "B"
    )
    stream, rng = generator("benchmark latent"), np.random.default_rng(1)
    x = standardise_records(torch.randn(records, size, generator=stream).relu_())
    channels = 3 if len(shape) == 3 else 1
    images = torch.rand(records, channels, *shape[:2], generator=stream)
    module = conv_module(shape, stream)

    def release(features: Tensor) -> Tensor:
        return mechanism.privatize_bits(encode_bits(features, whole_bits=n, fraction_bits=m), stream)

    @torch.no_grad()
    def everything() -> list[Tensor]:
        return [release(standardise_records(module(part))) for part in images.split(250)]

    few = max(10, records // 20)
    return [
        Row(dataset, f"encode + randomise, packed, {reading}", records, lambda: release(x)),
        Row(dataset, f"convolve + encode + randomise, {reading}", records, everything),
        Row(dataset, f"plain NumPy, {reading}", few, lambda: numpy_release(x[:few].numpy(), n, m, mechanism.flip, rng)),
    ]


def main() -> None:
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("--records", type=int, default=1000)
    arg.add_argument("--repeats", type=int, default=5)
    args = arg.parse_args()
    torch.set_num_threads(1)
    rows = [row for dataset in SHAPES for reading in "AB" for row in rows_of(dataset, reading, args.records)]
    for repeat in range(args.repeats + 1):
        for row in rows:
            start = time.process_time()
            row.run()
            if repeat:  # the first warms up
                row.seconds.append(time.process_time() - start)
    print(f"{'data':<9}{'what':<38}{'records/s':>11}{'ms/record':>11}{'x paper':>9}")
    for row in rows:
        print(f"{row.dataset:<9}{row.name:<38}{row.rate:>11,.0f}{1000 / row.rate:>11.3f}{row.over_paper:>9,.0f}")
    for dataset, seconds in PAPER_SECONDS.items():
        print(f"{dataset:<9}{'the paper, 4.2':<38}{1 / seconds:>11.1f}{1000 * seconds:>11.1f}{1:>9}")


if __name__ == "__main__":
    main()
