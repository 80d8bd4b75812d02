"""A headless Chromium that opens files, with what a reader without a network would see of them.

Needs `chromium` and `chromedriver` (Debian: chromium, chromium-driver).
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ACCESSIBILITY = Path(__file__).with_name("accessibility.js").read_text()
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
)


class Browser:
    """An open Chromium without a network."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        driver.execute_cdp_cmd("Network.enable", {})
        self._cut_off()

    def _cut_off(self) -> None:
        self.driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
        )

    def open(self, page: Path, width: int = 1280, *, scripts: bool = True) -> None:
        """Show a file in a window of this width; what was logged before is forgotten."""
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        self.messages()
        self.requests()
        self.driver.get(page.as_uri())
        self._cut_off()  # a page that Chromium 150 opened believes to be online

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that a script returns."""
        return self.driver.execute_script(script, *arguments)

    def messages(self) -> list[str]:
        """What the console said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last call, without those inside the page."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [address for address in asked if not address.startswith("data:")]

    def problems(self) -> list[str]:
        """What the accessibility check finds."""
        problems: list[str] = self.run(ACCESSIBILITY + "\nreturn problems();")
        return problems


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser, or a skipped test that says what is missing."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not program or not driver:
        pytest.skip("no chromium and chromedriver on this machine (Debian: apt-get install chromium chromium-driver)")
    from selenium import webdriver

    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for option in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        running = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        try:
            yield Browser(running)
        finally:
            running.quit()
