"""Pictures of the report and of notebooks as a reader sees them: python tests/screenshots.py RESULTS FOLDER

RESULTS is the folder of a finished run. Needs what browser.py needs; PNG files of few colours, so that they stay small.
"""

from __future__ import annotations

import base64
import io
import sys
from pathlib import Path

from browser import DECODED, Browser, open_browser
from PIL import Image

DESKTOP, PHONE, COLOURS = 1280, 390, 200
NOTEBOOKS = ("tldp_type1", "tvg_testing")
SHOTS = (  # file, element that it begins at, width and height, colours
    *(("first-screen", "body", DESKTOP, 800, "light"), ("first-screen-dark", "body", DESKTOP, 800, "dark")),
    *(("explorer", "#explore", DESKTOP, 900, "light"), ("explorer-dark", "#explore", DESKTOP, 900, "dark")),
    *(("first-screen-phone", "body", PHONE, 844, "light"), ("explorer-phone", "#explore", PHONE, 1400, "light")),
)


def shot(browser: Browser, path: Path, begin: str, width: int, height: int) -> None:
    """Save what a window of this size shows of the open page, from an element on."""
    top = browser.ask("document.querySelector(arguments[0]).getBoundingClientRect().top + scrollY", begin)
    area = {"x": 0, "y": max(int(top) - 12, 0), "width": width, "height": height, "scale": 1}
    taken = browser.tell("Page.captureScreenshot", format="png", clip=area, captureBeyondViewport=True)
    picture = Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size // 1024} KB")


def main(results: Path, folder: Path) -> None:
    """All pictures of a run's report, and of its notebooks' pages where there are any."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = [("report", *rest) for rest in SHOTS]
    pages += [(f"notebooks/{name}", f"notebook-{name}", "body", DESKTOP, 1400, "light") for name in NOTEBOOKS]
    with open_browser() as browser:
        for page, name, begin, width, height, colours in pages:
            if (path := results / f"{page}.html").exists():
                browser.open(path, width, color_scheme=colours)
                browser.run(DECODED)
                shot(browser, folder / f"{name}.png", begin, width, height)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
