"""Headless Chromium by chromedriver's HTTP interface, with the standard library alone."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


def missing():
    """Why there is no browser to test with, or None."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return f"{program} is not installed"
    return None


class Browser:
    """One window. Use as a context manager."""

    def __init__(self, width=1366, height=768):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.profile = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}"]
        options = {"args": arguments, "binary": shutil.which("chromium")}
        capabilities = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        begin = {"capabilities": capabilities}
        self.session = self._until_ready(lambda: self._call("POST", "/session", begin))["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self._call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=10)
            self.profile.cleanup()

    def _until_ready(self, attempt, seconds=30):
        deadline = time.monotonic() + seconds
        while True:
            try:
                return attempt()
            except (ConnectionError, urllib.error.URLError) as error:
                if isinstance(error, urllib.error.HTTPError) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _call(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:600]) from None

    def _in_session(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def open(self, path, fragment=""):
        self._in_session("POST", "/url", {"url": "about:blank"})
        self._in_session("POST", "/url", {"url": f"file://{path}{fragment}"})

    def run(self, script, *arguments):
        """Value of a JavaScript function body."""
        return self._in_session("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, seconds=10):
        """Waits until the script's value is true; returns it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"never became true: {script}")

    def log(self):
        """Console messages since the last call."""
        return self._in_session("POST", "/se/log", {"type": "browser"})

    def _devtools(self, command, **parameters):
        return self._in_session("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def count_layouts(self):
        self._in_session("POST", "/url", {"url": "about:blank"})
        self._devtools("Performance.enable")

    def layouts(self):
        """How often the page was laid out since count_layouts(), as a whole or in part."""
        metrics = self._devtools("Performance.getMetrics")["metrics"]
        return next(entry["value"] for entry in metrics if entry["name"] == "LayoutCount")

    def resize(self, width, height):
        self._in_session("POST", "/window/rect", {"width": width, "height": height})

    def set_size(self, width, height):
        """Of the page itself, also below the least width of a window."""
        self._devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                       mobile=False)

    def screenshot(self, file):
        with open(file, "wb") as out:
            out.write(base64.b64decode(self._in_session("GET", "/screenshot")))
