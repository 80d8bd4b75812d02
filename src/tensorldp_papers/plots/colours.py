"""Colours of lines that stay readable on a background."""

from __future__ import annotations

import colorsys

CONTRAST = 3.0  # what WCAG 2.2 asks of graphics, 1.4.11


def _channels(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def luminance(colour: str) -> float:
    """The relative luminance of a colour "#rrggbb", from 0 to 1 (WCAG 2.2)."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in _channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours, from 1 to 21."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def readable(colour: str, background: str) -> str:
    """The colour, made darker or lighter in steps of 2 % until it has a contrast of 3 with the background."""
    hue, light, saturation = colorsys.rgb_to_hls(*_channels(colour))
    step = -0.02 if luminance(background) > 0.5 else 0.02
    found = colour
    while contrast(found, background) < CONTRAST and 0.0 <= light <= 1.0:
        light += step
        red, green, blue = colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), saturation)
        found = f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
    return found
