"""A headless Chromium for tests, spoken to over a pipe: no driver, no package, no port.

Chrome's DevTools protocol, https://chromedevtools.github.io/devtools-protocol/: messages are JSON
ended by a zero byte, commands on the browser's descriptor 3, answers and events on 4.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from select import select
from types import TracebackType
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")
PATIENCE = 600.0  # seconds for an answer: only a browser that hangs takes so long
PAGE_LEFT = ("context was destroyed", "Cannot find context", "Cannot find default execution",
             "navigated or closed", "Promise was collected")  # fmt: skip
KEYS = {"Enter": 13, " ": 32, "Home": 36, "End": 35, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}  # fmt: skip


class Browser:
    """One page of a headless Chromium, of a width and height in CSS pixels."""

    def __init__(self, width: int = 1200, height: int = 900) -> None:
        self._folder = tempfile.mkdtemp(prefix="milsim-browser-")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--lang=en",
            "--disable-background-networking", "--disable-dev-shm-usage",
            f"--user-data-dir={self._folder}", "--remote-debugging-pipe", "about:blank",
        ]  # fmt: skip
        # A shell puts the pipes where Chromium wants them.
        line = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", line, CHROMIUM, *options],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._left = b""
        self._number = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.faults: list[str] = []
        attached = self.send("Target.attachToTarget", targetId=self._page(), flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._session = None
        try:
            self.send("Browser.close")
            self._process.wait(PATIENCE)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _page(self) -> str:
        """The page, which the browser opens when it already answers."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            for each in self.send("Target.getTargets")["targetInfos"]:
                if each["type"] == "page":
                    return str(each["targetId"])
            time.sleep(0.02)
        raise RuntimeError("the browser opens no page")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command, and its result; raises RuntimeError for what the browser refuses."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        # Writing all of it may block no longer than the browser reads.
        content = json.dumps(message).encode() + b"\0"
        while content:
            content = content[os.write(self._out, content) :]
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            if not select([self._in], [], [], PATIENCE)[0]:
                raise RuntimeError("the browser does not answer")
            more = os.read(self._in, 1 << 20)
            if not more:
                raise RuntimeError("the browser has gone")
            self._left += more
        line, _, self._left = self._left.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if message.get("method") == "Runtime.exceptionThrown":
            self.faults.append(message["params"]["exceptionDetails"]["text"])
        if message.get("method") == "Log.entryAdded":
            self.faults.append(message["params"]["entry"]["text"])
        return message

    def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """The size of the window; as a phone, with its larger pixels."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone,
        )  # fmt: skip

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file anew and wait until it says it is ready."""
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=path.resolve().as_uri() + fragment)
        self.wait_for("document.documentElement?.dataset.ready === 'yes'")

    def value(self, expression: str) -> Any:
        """What a JavaScript expression gives, as JSON values; raises RuntimeError if it throws."""
        result = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:80]}: {result['result'].get('description')}")
        return result["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true, also of the page that comes after this one."""
        ends = time.monotonic() + PATIENCE
        while not self._is_true(expression):
            if time.monotonic() > ends:
                raise RuntimeError(f"never true: {expression}")
            time.sleep(0.02)

    def _is_true(self, expression: str) -> bool:
        try:
            return self.value(expression) is True
        except RuntimeError as error:
            # The page that was asked has just made way for the next.
            if not any(words in str(error) for words in PAGE_LEFT):
                raise
            return False

    def text(self, selector: str) -> str:
        """What an element shows, spaces made plain."""
        shown = self.value(f"document.querySelector({json.dumps(selector)}).innerText")
        return " ".join(str(shown).split())

    def click(self, selector: str) -> None:
        """Press and release the mouse in the middle of an element that can be seen."""
        x, y = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """A key, by its name in the DOM."""
        code = {" ": "Space"}.get(key, key)
        number = KEYS[key]
        text = {"Enter": "\r", " ": " "}.get(key, "")
        down = {"text": text} if text else {}
        self.send(
            "Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, code=code,
            windowsVirtualKeyCode=number, **down,
        )  # fmt: skip
        self.send(
            "Input.dispatchKeyEvent", type="keyUp", key=key, code=code,
            windowsVirtualKeyCode=number,
        )  # fmt: skip

    def type(self, text: str) -> None:
        """Text into what has the focus."""
        self.send("Input.insertText", text=text)

    def picture(self, path: Path) -> Path:
        """The whole page as PNG."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))
        return path


__all__ = ["CHROMIUM", "Browser", "needs_browser"]
