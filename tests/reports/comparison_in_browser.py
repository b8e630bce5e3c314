"""The page of a comparison in headless Chromium: it opens without errors, shows what changed, charts draw, themes work."""

import json
import subprocess
import sys
from pathlib import Path

import browser
from support import skip, temporary_folder

reason = browser.missing()
if reason:
    skip(reason)

TEXT = "return document.getElementById(arguments[0]).textContent"
ROWS = "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map((r) => [...r.cells].map((c) => c.textContent))"


def expect_quiet(window):
    complaints = [entry for entry in window.log() if entry["level"] in ("SEVERE", "WARNING")]
    assert not complaints, complaints


def check_changes(window, data):
    assert data["headline"] in window.run(TEXT, "headline")
    configurations = {row[1].removesuffix(" by Conebench's authors"): row for row in window.run(ROWS, "configurations")}
    assert len(configurations) == len(data["slices"][0]["configurations"]) == 8
    worse = [name for name, row in configurations.items() if row[0] == "worse"]
    assert sorted(worse) == sorted(s["configuration"] for s in data["slices"][0]["configurations"] if s["assessment"] == "worse")
    changed = window.run(ROWS, "changed")
    lost = [row for row in changed if row[0] == "lost"]
    assert lost and all("solved" in row[4] and "no progress in 100 iterations" in row[5] for row in lost), lost
    assert all("conebench solve" in row[6] for row in lost), lost
    lists = window.run(TEXT, "changed")
    assert "missing configuration" in lists and "missing problem" in lists, lists


def check_charts(window, data):
    solved = sum(sum(s["cells"][c] for c in ("same work", "other bits", "other work")) for s in data["slices"][0]["configurations"])
    if not window.run("return typeof Plotly !== 'undefined'"):
        assert "no charting library" in window.run(TEXT, "times")
        print("  this build has no charts; the tables are there")
        return
    window.run("conebench.drawWaiting()")
    marks = "return document.querySelectorAll('#%s .point').length"
    assert window.run(marks % "scatter") == solved
    ticks = window.run("return [...document.querySelectorAll('#scatter .xtick text, #scatter .ytick text')].map((t) => t.textContent)")
    assert len(ticks) > 4 and all(t.endswith("s") for t in ticks), ticks
    judged = [s for s in data["slices"][0]["configurations"] if s["times"] and s["times"]["cells"] > 0]
    assert window.run(marks % "ratios") == len(judged) > 0
    assert window.run("return document.querySelectorAll('#ratios .errorbar').length") == len(judged)
    assert window.run(marks % "by-family") == len(data["slices"][0]["families"]) > 0


def check_slices_and_themes(window, data):
    tolerances = [b.strip() for b in window.run(
        "return [...document.querySelectorAll('#controls button[aria-pressed]')].map((b) => b.textContent)")]
    assert tolerances[:3] == ["1e-4", "1e-6", "1e-8"], tolerances
    window.run("document.querySelectorAll('#controls button[aria-pressed]')[2].click()")
    assert str(data["slices"][2]["cells"]) in window.run(TEXT, "configurations")
    background = "return getComputedStyle(document.body).backgroundColor"
    before = window.run(background)
    window.run("document.querySelector('button.theme').click()")
    assert window.run(background) != before
    window.run("document.querySelector('button.theme').click()")
    assert window.run(background) == before


def main():
    with temporary_folder() as folder, browser.Browser() as window:
        subprocess.run([sys.argv[1], "compare", folder], check=True, stdout=subprocess.DEVNULL)
        data = json.loads((Path(folder) / "comparison.json").read_text(encoding="utf-8"))
        window.open(Path(folder) / "index.html")
        window.wait("return document.documentElement.dataset.ready", 30)
        for check in (check_changes, check_charts, check_slices_and_themes):
            check(window, data)
            expect_quiet(window)
        window.open(Path(folder) / "index.html", "#cell-1")
        window.wait("return document.documentElement.dataset.ready", 30)
        row = "document.getElementById('cell-1').getBoundingClientRect()"
        assert window.run(f"return {row}.top >= 0 && {row}.bottom <= innerHeight"), "the cell of the address is in sight"
        assert window.run("return document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


main()
