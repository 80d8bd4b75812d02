"""Which device a run uses."""

from __future__ import annotations

import torch

from tensorldp.errors import InputError


def resolve_device(wish: str) -> torch.device:
    """Resolves a requested device: `auto` is the GPU if there is one, `cpu` and `cuda` are themselves."""
    if wish not in ("auto", "cpu", "cuda"):
        raise InputError(f"device must be auto, cpu or cuda, got {wish!r}")
    present = torch.cuda.is_available()
    if wish == "cuda" and not present:
        raise InputError("device is 'cuda' but no CUDA GPU is available here: set device to auto or cpu")
    return torch.device("cuda" if present and wish != "cpu" else "cpu")


def describe(device: torch.device) -> str:
    """Returns a short name for provenance: cpu, or the GPU's."""
    return "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)
