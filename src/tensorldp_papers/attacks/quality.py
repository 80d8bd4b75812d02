"""Quality of reconstructed images: RMSE, PSNR and SSIM."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tensorldp.errors import InputError

PSNR_CAP = 100.0  # dB; an exact copy would be infinite
SSIM_WINDOW = 7  # pixels of a side, scikit-image's own choice


def image_scores(found: Tensor, truth: Tensor) -> dict[str, float]:
    """Computes rmse, psnr (dB) and ssim, means over images in [0, 1], (batch, height, width) or (..., channels)."""
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    if min(found.shape[1:3]) < SSIM_WINDOW:
        raise InputError(
            f"images must have at least {SSIM_WINDOW} x {SSIM_WINDOW} pixels, got {tuple(found.shape[1:3])}"
        )
    a, b = truth.double().numpy(), found.double().numpy()
    axis = -1 if found.dim() == 4 else None
    with np.errstate(divide="ignore"):
        psnr = [min(PSNR_CAP, float(peak_signal_noise_ratio(t, f, data_range=1.0))) for t, f in zip(a, b, strict=True)]
    ssim = [
        float(structural_similarity(t, f, data_range=1.0, win_size=SSIM_WINDOW, channel_axis=axis))
        for t, f in zip(a, b, strict=True)
    ]
    rmse = np.sqrt(((a - b) ** 2).reshape(len(a), -1).mean(axis=1))
    return {"rmse": float(rmse.mean()), "psnr": float(np.mean(psnr)), "ssim": float(np.mean(ssim))}


def nearest(found: Tensor, candidates: Tensor) -> Tensor:
    """Returns for each reconstruction the index of the nearest candidate in l2, shape (batch,)."""
    return torch.cdist(found.flatten(1).double(), candidates.flatten(1).double()).argmin(dim=1)
