"""The page of a paper and a figure of it in headless Chromium: claims with their verdicts, tables, charts, and the SVG."""

import shutil
import subprocess
import sys
from pathlib import Path

import browser
from support import skip, temporary_folder

reason = browser.missing()
if reason:
    skip(reason)

ROWS = "return [...document.querySelectorAll('#claims tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"


def check_page(window):
    claims = {row[0]: row for row in window.run(ROWS)}
    assert claims["LeLidec24-fig-13 a"][2] == "holds", claims
    assert claims["LeLidec24-fig-13 d"][2] == "fails" and "heavy body on top" in claims["LeLidec24-fig-13 d"][4], claims
    assert window.run("return document.querySelectorAll('#entries table').length") == 3
    if window.run("return typeof Plotly !== 'undefined'"):
        window.run("conebench.drawWaiting()")
        curves = "document.querySelectorAll('#' + CSS.escape('LeLidec24-fig-13-right') + ' path.js-line').length"
        assert window.run(f"return {curves}") == 8
        # By name, as in other reports.
        colour = "document.getElementById('LeLidec24-fig-13-right').data.find((one) => one.name === 'NSGS').line.color"
        assert window.run(f"return {colour} === getComputedStyle(document.documentElement).getPropertyValue('--series-1').trim()")
    complaints = [entry for entry in window.log() if entry["level"] in ("SEVERE", "WARNING")]
    assert not complaints, complaints


def check_figure(window, file):
    window.open(file)
    texts = window.run("return [...document.querySelectorAll('text')].map((t) => t.textContent.trim())")
    for word in ("ADMM-NCP-SA", "NEWTON-CCP", "mass of the upper cube over the lower"):
        assert word in texts, texts
    inside = """const box = document.documentElement.getBoundingClientRect();
        return [...document.querySelectorAll('text')].every((t) => { const b = t.getBoundingClientRect();
          return b.left >= box.left && b.right <= box.right && b.top >= box.top && b.bottom <= box.bottom; })"""
    assert window.run(inside), "a text is cut off"


def main():
    with temporary_folder() as folder, browser.Browser() as window:
        subprocess.run([sys.argv[1], "paper", "LeLidec24-fig-13", "--out", folder], check=True, stdout=subprocess.DEVNULL)
        window.open(Path(folder) / "paper-LeLidec24.html")
        window.wait("return document.documentElement.dataset.ready", 30)
        check_page(window)
        if shutil.which("gnuplot"):
            check_figure(window, Path(folder) / "LeLidec24-fig-13-right.svg")


main()
