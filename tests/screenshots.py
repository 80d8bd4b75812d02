"""Pictures of the report and of notebooks as a reader sees them: python tests/screenshots.py RESULTS FOLDER

RESULTS is the folder of a finished run. Needs what browser.py needs; PNG files of few colours, so that they stay small.
"""

from __future__ import annotations

import argparse
import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from browser import Browser, open_browser
from PIL import Image

DESKTOP, PHONE, COLOURS = 1280, 390, 200
NOTEBOOKS = ("tldp_type1", "tvg_testing")


def shot(browser: Browser, path: Path, width: int, height: int, top: int = 0, *, dark: bool = False) -> None:
    """Save what a window of this size shows of the open page from `top` on."""
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    area = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
    taken: dict[str, Any] = browser.driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"format": "png", "clip": area, "captureBeyondViewport": True}
    )
    picture = Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB")
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def drawn(browser: Browser) -> None:
    """Wait until the figures at the top are unpacked and drawn."""
    browser.run("""return (async () => {
      while (document.querySelector("[data-packed]")) await new Promise(done => setTimeout(done, 20));
      await Promise.all([...document.images].filter(image => image.loading === "eager").map(image => image.decode()));
    })()""")


def top_of(browser: Browser, name: str) -> int:
    """Pixels of the page above an element."""
    above: float = browser.run(f"return document.getElementById('{name}').getBoundingClientRect().top + scrollY")
    return int(above) - 12


def take(results: Path, folder: Path) -> list[Path]:
    """All pictures of a run's report, and of its notebooks' pages where there are any."""
    report, made = results / "report.html", []
    with open_browser() as browser:
        browser.open(report, DESKTOP)
        drawn(browser)
        for name, dark in (("first-screen", False), ("first-screen-dark", True)):
            shot(browser, folder / f"{name}.png", DESKTOP, 800, dark=dark)
            made.append(folder / f"{name}.png")
        shot(browser, folder / "explorer.png", DESKTOP, 900, top_of(browser, "explore"))
        shot(browser, folder / "explorer-dark.png", DESKTOP, 900, top_of(browser, "explore"), dark=True)
        browser.open(report, PHONE)
        drawn(browser)
        shot(browser, folder / "first-screen-phone.png", PHONE, 844)
        shot(browser, folder / "explorer-phone.png", PHONE, 1400, top_of(browser, "explore"))
        made += [
            folder / f"{name}.png" for name in ("explorer", "explorer-dark", "first-screen-phone", "explorer-phone")
        ]
        for name in NOTEBOOKS:
            page = results / "notebooks" / f"{name}.html"
            if page.exists():
                browser.open(page, DESKTOP)
                shot(browser, folder / f"notebook-{name}.png", DESKTOP, 1400)
                made.append(folder / f"notebook-{name}.png")
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("results", type=Path)
    arg.add_argument("folder", type=Path)
    args = arg.parse_args(arguments)
    for path in take(args.results.resolve(), args.folder):
        print(f"{path}: {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
