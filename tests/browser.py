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
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)
OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
OPENED = "for (const e of document.querySelectorAll('details')) e.open = true;"
DECODED = """return (async () => {
    while (document.querySelector("[data-packed]")) await new Promise(done => setTimeout(done, 20));
    await Promise.all([...document.images].filter(image => image.loading === "eager").map(image => image.decode()));
})()"""


class Browser:
    """An open Chromium without a network; `probe` has functions for `ask`."""

    def __init__(self, driver: Any) -> None:
        self.driver, self.run, self.probe = driver, driver.execute_script, ""
        self.tell("Network.enable")

    def tell(self, command: str, **options: Any) -> Any:
        """Send a command of the DevTools."""
        return self.driver.execute_cdp_cmd(command, options)

    def open(self, page: Path, width: int = 1280, *, scripts: bool = True, **asked: str) -> None:
        """Show a file in a window of this width to a reader who asks for something, as in color_scheme="dark".

        What was logged before is forgotten.
        """
        features = [{"name": f"prefers-{name.replace('_', '-')}", "value": value} for name, value in asked.items()]
        self.tell("Emulation.setEmulatedMedia", features=features)
        self.tell("Emulation.setScriptExecutionDisabled", value=not scripts)
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
        self.tell("Emulation.setDeviceMetricsOverride", **size)
        self.tell("Network.emulateNetworkConditions", **OFFLINE)
        self.messages()
        self.requests()
        self.go(page.as_uri())
        self.tell("Network.emulateNetworkConditions", **OFFLINE)  # Chromium 150 believes a new page to be online

    def go(self, address: str) -> None:
        """Show an address; done once its page is read whole, which the driver alone does not wait for after a #part."""
        self.driver.get(address)
        page = json.dumps(address.split("#")[0])
        self.wait(f"document.readyState === 'complete' && location.href.split('#')[0] === {page}")

    def wait(self, condition: str) -> None:
        """Wait until a condition of JavaScript is true, at most half a minute."""
        from selenium.webdriver.support.wait import WebDriverWait

        WebDriverWait(self.driver, 30, poll_frequency=0.02).until(lambda _: self.ask(condition), condition)

    def ask(self, expression: str, *arguments: Any) -> Any:
        """The value of an expression of JavaScript."""
        return self.run(f"{self.probe}\nreturn {expression}", *arguments)

    def find(self, selector: str) -> Any:
        """The first element of this selector."""
        return self.driver.find_element("css selector", selector)

    def point(self, selector: str) -> Any:
        """Move the pointer to that element."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).move_to_element(found := self.find(selector)).perform()
        return found

    def messages(self) -> list[str]:
        """What the console said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last call, without those inside the page."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [address for address in asked if not address.startswith("data:")]

    def problems(self) -> Any:
        """What the accessibility check finds."""
        return self.run(f"{ACCESSIBILITY}\nreturn problems();")


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
