"""screenshot.py PAGE.html OUT.png [SECTION] [dark]: a picture of a report, as in the README."""

import sys
import time
from pathlib import Path

import browser

reason = browser.missing()
if reason:
    sys.exit(reason)
page, out, *rest = sys.argv[1:]
with browser.Browser(1366, 1000) as window:
    window.open(Path(page).resolve())
    window.wait("return document.documentElement.dataset.ready", 30)
    if "dark" in rest:
        window.run("document.querySelector('button.theme').click()")
    for section in rest:
        if section != "dark":
            window.run("document.getElementById(arguments[0]).scrollIntoView()", section)
    time.sleep(0.5)  # until the charts have settled
    window.screenshot(out)
