"""Chromium, for tests that look at pages in a real browser."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_LIMIT_SECONDS = 60
PHONE = 390

# The protocol takes descriptor 3 for what is asked, and 4 for answers; either may be taken by the other before.
_STARTER = """
import fcntl, os, sys
asked, answers = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3])
os.dup2(asked, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """Chromium without a window, controlled by the DevTools protocol over a pipe; ``events`` are what it reported."""

    def __init__(self, program: str, folder: Path) -> None:
        # Of a short name, since Chromium makes a socket in it; it leaves folders there.
        self._temporary = TemporaryDirectory(prefix="c-", ignore_cleanup_errors=True)
        theirs, ours = os.pipe()
        self._answers, answering = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        options += [
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            "--remote-debugging-pipe",
            f"--user-data-dir={folder}",
        ]
        starter = [sys.executable, "-c", _STARTER, str(theirs), str(answering)]
        self._process = subprocess.Popen(
            [*starter, program, *options],
            pass_fds=(theirs, answering),
            env={**os.environ, "TMPDIR": self._temporary.name},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(answering)
        self._asking = ours
        self._buffer = b""
        self._count = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []

    def attach(self) -> None:
        """Open a tab, and hear all that happens in it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        """Send a command and return the reply."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._asking, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._count:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def show(self, page: Path | str, *, width: int = 1000, colours: str = "light") -> None:
        """Load a page, at a width and in light or dark; ``events`` are those since then."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width == PHONE
        )
        self.events.clear()
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        self._wait_for_page()

    def press(self, key: str) -> None:
        """Press a key, and wait for the page that it leads to."""
        self.events.clear()
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key)
        self._wait_for_page()

    def click(self, kind: str, text: str) -> None:
        """Click the element of a kind with a text, and wait for the page that it leads to."""
        self.events.clear()
        wanted = f"find(each => each.textContent === {json.dumps(text)})"
        self.value(f"[...document.querySelectorAll({json.dumps(kind)})].{wanted}.click()")
        self._wait_for_page()

    def _wait_for_page(self) -> None:
        while not self.reported("Page.loadEventFired"):
            self.events.append(self._next())

    def reported(self, *methods: str) -> list[dict[str, Any]]:
        """Return the parameters of the events of these methods."""
        return [event["params"] for event in self.events if event["method"] in methods]

    @property
    def requests(self) -> list[str]:
        """The resources that were loaded, or should have been."""
        return [each["request"]["url"] for each in self.reported("Network.requestWillBeSent")]

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """The messages on the console, by the page or about it."""
        return self.reported("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")

    def value(self, expression: str) -> Any:
        """Evaluate an expression in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(_LIMIT_SECONDS)
        os.close(self._asking)
        os.close(self._answers)
        self._temporary.cleanup()

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._answers], [], [], _LIMIT_SECONDS)[0], "the browser does not answer"
            block = os.read(self._answers, 1 << 16)
            assert block, "the browser has ended"
            self._buffer += block
        message, _, self._buffer = self._buffer.partition(b"\0")
        received: dict[str, Any] = json.loads(message)
        return received


def started(folder: Path) -> Iterator[Browser]:
    """Yield a browser with an open tab, for a fixture to yield; without Chromium the test is skipped with a message."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip(
            "NOT TESTED: there is no Chromium to look at pages with; install it, as by apt-get install chromium"
        )
    browser = Browser(program, folder)
    try:
        browser.attach()
        yield browser
    finally:
        browser.close()
