"""The named public representations of records, and the public records that fit them and choose their dimension.

`strokes`: aligned by moments, then oriented gradients; fitted on deformed letters of Matplotlib's fonts, its dimension
chosen on other such letters. `gradients`: oriented gradients of the image as it is, its dimension chosen on
scikit-learn's digits. `imagenet_160`: the square roots of the last features of MobileNetV2 and EfficientNet-Lite2
(ImageNet weights) of the image at 160 x 160 pixels, each network's over their deviation on public images; its dimension
is chosen on public images that ImageNet's classes label, where the data set's are among them. `words`: latent
directions of weighted words, fitted on public texts without labels; its dimension is chosen on tasks made of the same
texts. `columns`: a table's row, each column from -1 to 1 over its public range; there is nothing to choose. All are
functions of a single record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tensorldp.errors import InputError, check_whole, unknown
from tensorldp.randomness import generator
from tensorldp_papers.data.sentiment import public_labels as labels_by_words
from tensorldp_papers.data.text import PUBLIC_TEXTS
from tensorldp_papers.nets.efficientnet import EfficientNetLite2, load_lite2
from tensorldp_papers.nets.mobilenet import MOBILENET_FEATURES, MobileNet, imagenet_normalise, load_imagenet
from tensorldp_papers.nets.registry import seed_model
from tensorldp_papers.progress import track
from tensorldp_papers.public.imagenet_classes import IMAGENET_CLASSES, PUBLIC_IMAGES, mapped_labels
from tensorldp_papers.public.letters import LETTER_SIDE, fitting_and_tasks, public_digits
from tensorldp_papers.public.oriented_gradients import align, oriented_energies
from tensorldp_papers.public.projection import discriminant
from tensorldp_papers.public.words import WordSpace, fit_words, half_tasks
from tensorldp_papers.run.records import Records, model_inputs

BACKBONES = ("strokes", "gradients", "imagenet_160", "words", "columns")
NETWORKS = ("mobilenet_v2", "efficientnet_lite2")  # of imagenet_160
SCALED_BY = 500  # of them, for the deviation of each network's features
TASK_TEXTS = 1000  # of the public texts, for the tasks that choose the dimension
NETWORK_SIDE = 160  # of the networks' input
BLOCK, BLOCK_OF_NETWORKS = 100, 10  # images at a time: their activations fit a cache


def _grey(images: Tensor) -> Tensor:
    """Turns (images, 1 or 3, height, width) into grey images (images, height, width) of at least 28 pixels a side."""
    grey = images.mean(dim=1)
    if min(grey.shape[1:]) >= LETTER_SIDE:
        return grey
    larger = nn.functional.interpolate(
        grey.unsqueeze(1), (LETTER_SIDE, LETTER_SIDE), mode="bilinear", align_corners=False
    )
    return larger.squeeze(1)


def enlarged(images: Tensor) -> Tensor:
    """Enlarges images to `NETWORK_SIDE` pixels and three channels, as the networks take them."""
    large = nn.functional.interpolate(images, (NETWORK_SIDE, NETWORK_SIDE), mode="bicubic", align_corners=False).clamp(
        0.0, 1.0
    )
    return large.expand(-1, 3, -1, -1).contiguous(memory_format=torch.channels_last)


class Networks:
    """Images in [0, 1] to the square roots of both networks' features, each network's over their public deviation."""

    def __init__(self, weights: Mapping[str, Path], public: Tensor | None = None) -> None:
        self.mobile, self.lite = MobileNet(2), EfficientNetLite2()
        for name, net in zip(NETWORKS, (self.mobile, self.lite), strict=True):
            seed_model(net, generator("features", name))
        if weights:
            load_imagenet(self.mobile, weights[NETWORKS[0]])
            load_lite2(self.lite, weights[NETWORKS[1]])
        for net in (self.mobile, self.lite):
            fuse_batch_norms(net.eval()).to(memory_format=torch.channels_last)
        self.scales = (1.0, 1.0)
        if public is not None:
            halves = _in_blocks(self, public[-SCALED_BY:], block=BLOCK_OF_NETWORKS).split(MOBILENET_FEATURES, dim=1)
            first, second = (float(half.double().var(dim=0).mean().sqrt()) for half in halves)
            self.scales = (first, second)

    def __call__(self, images: Tensor) -> Tensor:
        """Maps (images, 1 or 3, height, width) to (images, 2560)."""
        large = enlarged(images)
        halves = self.mobile.embed(imagenet_normalise(large)), self.lite.embed(large)
        return torch.cat([x.clamp_min(0.0).sqrt() / s for x, s in zip(halves, self.scales, strict=True)], dim=1)


def fuse_batch_norms(net: nn.Module) -> nn.Module:
    """Folds each batch norm that follows a convolution into it, in place: the same function in evaluation mode."""
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
    """Returns the training texts that `words` takes as public, without their labels."""
    if records.kind != "text":
        raise InputError(f"the representation words takes texts, but {records.name} holds {records.kind}")
    if len(records.x) <= PUBLIC_TEXTS:
        raise InputError(
            f"{records.name} has {len(records.x)} training texts, but words needs {PUBLIC_TEXTS} of them as public"
        )
    return records.x[-PUBLIC_TEXTS:]


def _scaled(records: Records, x: Tensor) -> Tensor:
    """Returns stored records in [0, 1]: images as (images, channels, height, width), rows as (rows, columns)."""
    return (model_inputs(x, records.kind) - records.low) / (records.high - records.low)


def public_records(backbone: str, records: Records) -> Tensor | None:
    """Returns the last training records, texts or images in [0, 1], without labels: public. None for `strokes`."""
    if backbone == "words":
        return public_texts(records)
    if backbone in ("strokes", "columns") or records.kind != "image":
        return None
    return _scaled(records, records.x[-PUBLIC_IMAGES:])


def public_labels(
    dataset: str, public: Tensor, weights: Mapping[str, Path], signs: NDArray[np.int8] | None = None, workers: int = 1
) -> Tensor | None:
    """Labels public records without any private one: by ImageNet's classes, or by words of praise and blame.

    None where a data set's classes are not among those of `imagenet_classes` and it has no such words.

    Args:
        dataset: the name of the data set.
        public: what `public_records` gives.
        weights: the files of ImageNet weights by network.
        signs: 1 or -1 for each word index, of texts.
        workers: threads.
    """
    if signs is not None:
        return torch.from_numpy(labels_by_words(public.numpy(), signs))
    if dataset not in IMAGENET_CLASSES or NETWORKS[1] not in weights:
        return None
    net = EfficientNetLite2()
    load_lite2(net, weights[NETWORKS[1]])
    fuse_batch_norms(net.eval()).to(memory_format=torch.channels_last)
    scores = _in_blocks(lambda images: net(enlarged(images)), public, workers, block=BLOCK_OF_NETWORKS)
    return mapped_labels(scores, dataset)


def extractor(
    backbone: str, weights: Mapping[str, Path] | None = None, public: Tensor | None = None
) -> Callable[[Tensor], Tensor]:
    """Builds a map from records to float32 features (records, columns).

    It takes float images in [0, 1], (images, 1 or 3, height, width), or for `words` indices of words (texts, length).

    Args:
        backbone: one of BACKBONES.
        weights: the files of ImageNet weights by network, for `imagenet_160`; seeded weights without.
        public: what `public_records` gives, for `imagenet_160` and `words`.

    Raises:
        InputError: if there is no such representation, the weights cannot be read or `words` has no public texts.
    """
    if backbone == "strokes":
        return lambda images: oriented_energies(align(_grey(images)).clamp(0.0, 1.0))
    if backbone == "gradients":
        return lambda images: oriented_energies(_grey(images).clamp(0.0, 1.0))
    if backbone == "imagenet_160":
        return Networks(weights or {}, public)
    if backbone == "columns":
        return lambda rows: 2.0 * rows - 1.0
    if backbone == "words":
        if public is None:
            raise InputError("the representation words needs public texts to be fitted on")
        return fit_words(public)
    raise unknown("representation", backbone, BACKBONES)


def represent(
    backbone: str, records: Records, embed: Callable[[Tensor], Tensor] | None = None, workers: int = 1
) -> Tensor:
    """Computes float32 features (records, columns) of images, or of texts for `words`.

    `embed` is what `extractor` made, where that took weights or public texts; `workers` are threads that share the
    records, each on blocks of its own: the features do not depend on it.
    """
    embed, workers = embed or extractor(backbone), check_whole("workers", workers, low=1)
    kind, name = {"words": ("text", "texts"), "columns": ("tabular", "tables")}.get(backbone, ("image", "images"))
    if records.kind != kind:
        raise InputError(f"the representation {backbone} takes {name}, but {records.name} holds {records.kind}")
    x = records.x if kind == "text" else _scaled(records, records.x)
    return _in_blocks(embed, x, workers, f"{backbone} of {records.name}", block=_block(embed))


def _block(embed: Callable[[Tensor], Tensor]) -> int:
    return BLOCK_OF_NETWORKS if isinstance(embed, Networks) else BLOCK


def _in_blocks(
    embed: Callable[[Tensor], Tensor], x: Tensor, workers: int = 1, task: str = "", *, block: int = BLOCK
) -> Tensor:
    parts = x.split(block)

    def features(part: Tensor) -> Tensor:
        with torch.inference_mode():
            return embed(part)

    with ThreadPoolExecutor(workers) as pool:
        found = pool.map(features, parts)
        return torch.cat(list(track(found, task, total=len(parts)) if task else found))


def public_arrays(
    backbone: str,
    embed: Callable[[Tensor], Tensor] | None = None,
    public: Tensor | None = None,
    *,
    private: str = "",
    labels: Tensor | None = None,
    features_of_public: Tensor | None = None,
    columns: int = 0,
) -> dict[str, NDArray[Any]]:
    """Computes the public records that go with a representation, as its features.

    `task_x` and `task_y` choose the dimension: class k % 10 of task k // 10. For `strokes`, `centre`,
    `directions` and `scales` are the projection fitted on other letters, and `named_x`, `named_y` and `named_source`
    labelled digits, which neither that fit nor the rule reads: they serve a control. Beside the private data set
    `digits` they come only from fonts, as scikit-learn's digits are then not public. `labels` of the public
    records are kept as they are. For `imagenet_160`, they and `features_of_public` are the task. `embed` is as
    `represent` takes it, `public` what `public_records` gives. `columns` is how many a table has, whose projection is
    the identity.
    """
    if backbone == "columns":
        whole = np.eye(columns, dtype=np.float32)
        return {"centre": whole[0] * 0, "directions": whole, "scales": whole.sum(axis=0)}
    embed = embed or extractor(backbone, public=public)

    def features(images: Tensor) -> NDArray[Any]:
        found: NDArray[Any] = _in_blocks(embed, images.unsqueeze(1), block=_block(embed)).numpy()
        return found

    given = {} if labels is None else {"labels": labels.numpy()}
    if backbone == "imagenet_160" and labels is not None and features_of_public is not None:
        return {"task_x": features_of_public.numpy(), "task_y": labels.numpy(), **given}
    if backbone == "words":
        assert public is not None
        assert isinstance(embed, WordSpace)
        rows, halves = half_tasks(public[:TASK_TEXTS], embed)
        offset = 10 * torch.arange(halves.shape[1])
        task_y = (halves + offset).T.flatten().numpy()
        return {"task_x": rows.repeat(halves.shape[1], 1).numpy(), "task_y": task_y, **given}
    if backbone != "strokes":
        from sklearn.datasets import load_digits

        digits = load_digits()
        images = torch.from_numpy(digits.images).float() / 16.0
        return {"task_x": features(images), "task_y": digits.target.astype("int64"), **given}
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
