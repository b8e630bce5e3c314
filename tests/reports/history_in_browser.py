"""The history page in headless Chromium: it opens without errors, draws every configuration, marks the change, and its
controls work."""

import subprocess
import sys
from pathlib import Path

import browser
from support import page_data, skip, temporary_folder

reason = browser.missing()
if reason:
    skip(reason)

READY = "return document.documentElement.dataset.ready"
CURVES = "return document.querySelectorAll('#history-chart path.js-line').length"
# Triangles are the largest marks.
MARKS = "return document.getElementById('history-chart').data.filter((one) => one.marker.size > 10)[0].x.length"


def press(window, text):
    window.run("[...document.querySelectorAll('button')].find((b) => b.textContent === arguments[0]).click()", text)


def check_chart(window, suite):
    draw = "conebench.drawWaiting()"
    window.run(draw)
    assert window.run(CURVES) == 12, "12 configurations"
    marks = sum(1 for change in suite["time_changes"] if change["slice"] == 0)
    assert window.run(MARKS) == marks >= 1
    press(window, "Solved")
    window.run(draw)
    assert window.run(MARKS) == 0, "marks of times beside shares"
    press(window, "Time, raw")
    press(window, "By night")
    press(window, "1e-5")
    window.run(draw)
    assert window.run(MARKS) == sum(1 for change in suite["time_changes"] if change["slice"] == 1)


def main():
    with temporary_folder() as folder, browser.Browser(1366, 1000) as window:
        subprocess.run([sys.argv[1], folder, "30", "40", "12", "2"], check=True)
        page = Path(folder) / "history"
        suite = page_data(page)["suites"][0]
        window.open(page / "index.html")
        window.wait(READY, 30)
        text = window.run("return document.body.innerText")
        assert "S2" in text and "slower" in text and "c0000019" in text and "c0000020" in text, text
        assert window.run("return document.querySelectorAll('#configurations tbody tr').length") == 12
        assert window.run("return document.querySelectorAll('#nights tbody tr').length") == 30
        if window.run("return typeof Plotly !== 'undefined'"):
            check_chart(window, suite)
        press(window, "1e-5")
        family = "document.querySelector('select[aria-label=Family]')"
        window.run(f"{family}.value = 'Rover'; {family}.dispatchEvent(new Event('change'))")
        assert "10 of 10" in window.run("return document.getElementById('configurations').innerText")
        window.run("document.querySelector('#configurations tbody tr').click()")
        complaints = [entry for entry in window.log() if entry["level"] in ("SEVERE", "WARNING")]
        assert not complaints, complaints
        assert window.run("return document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


main()
