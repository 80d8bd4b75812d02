"""The named public representations of records, and the public records that fit them and choose their dimension.

`strokes`: aligned by moments, then oriented gradients; fitted on deformed letters of Matplotlib's fonts, its dimension
chosen on other such letters. `gradients`: oriented gradients of the image as it is. `mobilenet_v2_96`: the square root
of MobileNetV2's last features (ImageNet weights) of the image at 96 x 96 pixels. The dimension of the last two is
chosen on scikit-learn's digits. `words`: latent directions of weighted words, fitted on public texts without labels;
its dimension is chosen on tasks made of the same texts. All are functions of a single record.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tensorldp.errors import InputError, check_whole, unknown
from tensorldp.randomness import generator
from tensorldp_papers.data.text import PUBLIC_TEXTS
from tensorldp_papers.nets.mobilenet import MobileNet, imagenet_normalise, load_imagenet
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.public.letters import SIZE, fitting_and_tasks, public_digits
from tensorldp_papers.public.oriented_gradients import align, oriented_energies
from tensorldp_papers.public.projection import discriminant
from tensorldp_papers.public.words import WordSpace, fit_words, half_tasks
from tensorldp_papers.run.progress import track
from tensorldp_papers.run.records import Records, model_inputs

BACKBONES = ("strokes", "gradients", "mobilenet_v2_96", "words")
TASK_TEXTS = 1000  # of them, for the tasks that choose the dimension
SIDE = 96  # of MobileNetV2's input
BLOCK = 100  # images at a time: their activations fit a cache


def _grey(images: Tensor) -> Tensor:
    """(images, 1 or 3, height, width) as grey images (images, height, width) of at least 28 pixels a side."""
    grey = images.mean(dim=1)
    if min(grey.shape[1:]) >= SIZE:
        return grey
    larger = nn.functional.interpolate(grey.unsqueeze(1), (SIZE, SIZE), mode="bilinear", align_corners=False)
    return larger.squeeze(1)


def _mobilenet(weights: Path | None) -> Callable[[Tensor], Tensor]:
    mobile = MobileNet(2)
    seed_model(mobile, generator("features", "mobilenet_v2_96"))
    if weights is not None:
        load_imagenet(mobile, weights)
    fused = fuse_batch_norms(mobile.eval().features).to(memory_format=torch.channels_last)

    def embed(images: Tensor) -> Tensor:
        large = nn.functional.interpolate(images, (SIDE, SIDE), mode="bilinear", align_corners=False)
        x = imagenet_normalise(large).contiguous(memory_format=torch.channels_last)
        pooled: Tensor = fused(x).mean(dim=(2, 3))
        return pooled.clamp_min(0.0).sqrt()

    return embed


def fuse_batch_norms(net: nn.Module) -> nn.Module:
    """Each batch norm that follows a convolution folded into it, in place: the same function in evaluation mode."""
    for module in net.modules():
        if not isinstance(module, nn.Sequential):
            continue
        for first, second in zip(list(module), list(module)[1:], strict=False):
            if isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d):
                fused = nn.utils.fusion.fuse_conv_bn_eval(first, second)
                first.weight, first.bias = fused.weight, fused.bias
                for name, child in list(module.named_children()):
                    if child is second:
                        module._modules[name] = nn.Identity()
    return net


def public_texts(records: Records) -> Tensor:
    """The training texts that `words` takes as public, without their labels."""
    if records.kind != "text":
        raise InputError(f"the representation words takes texts, but {records.name} holds {records.kind}")
    if len(records.x) <= PUBLIC_TEXTS:
        raise InputError(
            f"{records.name} has {len(records.x)} training texts, but words needs {PUBLIC_TEXTS} of them as public"
        )
    return records.x[-PUBLIC_TEXTS:]


def extractor(backbone: str, weights: Path | None = None, public: Tensor | None = None) -> Callable[[Tensor], Tensor]:
    """A map from records to float32 features (records, columns).

    It takes float images in [0, 1], (images, 1 or 3, height, width), or for `words` indices of words (texts, length).

    Args:
        backbone: one of BACKBONES.
        weights: the file of ImageNet weights, for `mobilenet_v2_96`; seeded weights without.
        public: public texts as indices of words, for `words`.

    Raises:
        InputError: if there is no such representation, the weights cannot be read or `words` has no public texts.
    """
    if backbone == "strokes":
        return lambda images: oriented_energies(align(_grey(images)).clamp(0.0, 1.0))
    if backbone == "gradients":
        return lambda images: oriented_energies(_grey(images).clamp(0.0, 1.0))
    if backbone == "mobilenet_v2_96":
        return _mobilenet(weights)
    if backbone == "words":
        if public is None:
            raise InputError("the representation words needs public texts to be fitted on")
        return fit_words(public)
    raise unknown("representation", backbone, BACKBONES)


def represent(
    backbone: str, records: Records, embed: Callable[[Tensor], Tensor] | None = None, workers: int = 1
) -> Tensor:
    """float32 features (records, columns) of images, or of texts for `words`.

    `embed` is what `extractor` made, where that took weights or public texts; `workers` are threads that share the
    records, each on blocks of its own: the features do not depend on it.
    """
    embed, workers = embed or extractor(backbone), check_whole("workers", workers, low=1)
    kind, name = ("text", "texts") if backbone == "words" else ("image", "images")
    if records.kind != kind:
        raise InputError(f"the representation {backbone} takes {name}, but {records.name} holds {records.kind}")

    def features(part: Tensor) -> Tensor:
        if kind == "text":
            return embed(part)
        with torch.inference_mode():
            return embed((model_inputs(part, "image") - records.low) / (records.high - records.low))

    parts = records.x.split(BLOCK)
    with ThreadPoolExecutor(workers) as pool:
        return torch.cat(list(track(pool.map(features, parts), f"{backbone} of {records.name}", total=len(parts))))


def public_arrays(
    backbone: str,
    embed: Callable[[Tensor], Tensor] | None = None,
    public: Tensor | None = None,
    *,
    private: str = "",
) -> dict[str, NDArray[Any]]:
    """The public records that go with a representation, as its features.

    `task_x` and `task_y` choose the dimension: class k % 10 of task k // 10. For `strokes`, `centre`,
    `directions` and `scales` are the projection fitted on other letters, and `named_x`, `named_y` and `named_source`
    labelled digits, which neither that fit nor the rule reads: they serve a control. Beside the private data set
        `digits`
    they come only from fonts, as scikit-learn's digits are then not public. `embed` is as `represent` takes it,
    `public` the public texts for `words`.
    """
    embed = embed or extractor(backbone, public=public)

    def features(images: Tensor) -> NDArray[Any]:
        with torch.inference_mode():
            found: NDArray[Any] = torch.cat([embed(part.unsqueeze(1)) for part in images.split(BLOCK)]).numpy()
        return found

    if backbone == "words":
        assert public is not None
        assert isinstance(embed, WordSpace)
        rows, labels = half_tasks(public[:TASK_TEXTS], embed)
        offset = 10 * torch.arange(labels.shape[1])
        return {"task_x": rows.repeat(labels.shape[1], 1).numpy(), "task_y": (labels + offset).T.flatten().numpy()}
    if backbone != "strokes":
        from sklearn.datasets import load_digits

        digits = load_digits()
        images = torch.from_numpy(digits.images).float() / 16.0
        return {"task_x": features(images), "task_y": digits.target.astype("int64")}
    fit, tasks = fitting_and_tasks()
    # only fonts, and fewer, with scikit-learn's digits
    named = public_digits(handwriting=False, font_copies=40) if private == "digits" else public_digits(handwriting=True)
    projection = discriminant(torch.from_numpy(features(fit.x)), fit.y)
    return {
        "centre": projection.centre.numpy(),
        "directions": projection.directions.contiguous().numpy(),
        "scales": projection.scales.numpy(),
        "task_x": features(tasks.x),
        "task_y": tasks.y.numpy(),
        "named_x": features(named.x).astype(np.float16),
        "named_y": named.y.numpy(),
        "named_source": named.source.numpy(),
    }
