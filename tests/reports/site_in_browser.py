"""A site of `conebench publish` in headless Chromium: every page opens without a complaint on a phone and on a screen, every
link leads somewhere, the switches work, and hostile names stay text."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import browser
from support import skip, temporary_folder

reason = browser.missing()
if reason:
    skip(reason)

READY = "return document.documentElement.dataset.ready"
LINKS = "return [...document.querySelectorAll('a[href]')].map((one) => one.href)"
EVIL = "<img src=x onerror=alert(1)>"
SUITE = {"name": EVIL, "problems": [{"scene": "sliding-box"}, {"scene": "box-stack", "options": {"boxes": 2}}],
         "solvers": ["NSGS", "PGS-NCP"], "tolerances": [1e-4, 1e-6],
         "repeats": {"min": 1, "min_ms": 0, "max": 1}}


def conebench(*words):
    subprocess.run([sys.argv[1], *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_site(folder):
    """Two nights, answers that were sent in, and a store that is held out."""
    suite = folder / "suite.json"
    suite.write_text(json.dumps(SUITE))
    for store in ("monday", "tuesday"):
        conebench("run", suite, "--db", folder / f"{store}.sqlite")
    secret = {**SUITE, "name": "secret", "problems": [{"scene": "sliding-box", "options": {"friction": 0.3}}]}
    (folder / "secret.json").write_text(json.dumps(secret))
    conebench("run", folder / "secret.json", "--db", folder / "secret.sqlite")
    conebench("publish", folder / "monday.sqlite", "--out", folder / "first")
    archive = next((folder / "first").glob("results/*/answers/NSGS-1e-6.tar"))
    subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
    manifest = folder / "NSGS-1e-6" / "manifest.json"
    sent = json.loads(manifest.read_text())
    sent.update(solver=EVIL, by=EVIL, machine=EVIL, url="javascript:alert(1)")
    for answer in sent["answers"]:
        answer["seconds"] = 1e-9
    manifest.write_text(json.dumps(sent))
    conebench("judge", folder / "NSGS-1e-6", "--submission", "--suite", suite, "--db", folder / "sent.sqlite")
    site = folder / "site"
    conebench("publish", folder / "monday.sqlite", folder / "tuesday.sqlite", folder / "sent.sqlite", folder / "secret.sqlite",
              "--held-out", folder / "secret.sqlite", "--title", EVIL, "--out", site)
    return site


def check_quiet(window):
    complaints = [entry for entry in window.log() if entry["level"] in ("SEVERE", "WARNING")]
    assert not complaints, complaints
    assert window.run("return document.querySelectorAll('img[src=x]').length") == 0, "a name became markup"


def check_pages(window, site):
    """From the list over all links; every page at both widths."""
    waiting, seen = [site / "index.html"], set()
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        for width in (420, 1400):
            window.set_size(width, 900)
            window.open(page)
            window.wait(READY, 30)
            wide = window.run("return document.documentElement.scrollWidth")
            assert wide <= width, (page, width, wide)
            check_quiet(window)
        for link in window.run(LINKS):
            parts = urlsplit(link)
            assert parts.scheme == "file", (page, link)
            target = Path(unquote(parts.path))
            assert target.is_relative_to(site) and target.is_file(), (page, link)
            if parts.fragment and target == page:
                assert window.run("return document.getElementById(arguments[0]) !== null", parts.fragment), (page, link)
            if target.suffix == ".html":
                waiting.append(target)
    assert {page.relative_to(site) for page in seen} == {page.relative_to(site) for page in site.rglob("*.html")}
    assert len(seen) == 6, seen  # the list, four reports, a history


def text(window, selector):
    return window.run("return document.querySelector(arguments[0]).innerText", selector)


def check_list(window, site):
    window.set_size(1400, 900)
    window.open(site / "index.html")
    window.wait(READY, 30)
    assert "NSGS *" in text(window, "#results") and EVIL in text(window, "#results")
    assert "claimed by the submitter" in text(window, "#submitted") and "1.00 ns" in text(window, "#submitted")
    assert "1.00 ns" not in text(window, "#results") and "secret" not in text(window, "#results")
    assert "secret" in text(window, "#held-out") and "store.sqlite" not in text(window, "#held-out")
    window.run("document.querySelector('#results summary').click()")
    assert "store.sqlite" in text(window, "#results") and "NSGS-1e-6.tar" in text(window, "#results")

    window.run("document.getElementById('without-own').click()")
    shown = text(window, "main")
    assert "NSGS *" not in shown and "by Conebench's authors" not in shown and "PGS-NCP" in text(window, "#results")
    for selector, table in (("#results tbody a", "#ranking table"), ("#results h3 a", "#configurations table")):
        window.run("document.querySelector(arguments[0]).click()", selector)
        window.wait("return location.pathname.endsWith('index.html') && location.hash.includes('own') && "
                    "document.documentElement.dataset.ready", 30)
        assert window.run("return document.getElementById('without-own').checked"), selector
        assert "NSGS" not in text(window, table) and "PGS-NCP" in text(window, table), selector
        window.run("document.querySelector('.home').click()")
        window.wait("return document.querySelector('#results') !== null && document.documentElement.dataset.ready", 30)
        window.run("document.getElementById('without-own').checked || document.getElementById('without-own').click()")
    check_quiet(window)


def main():
    with temporary_folder() as name, browser.Browser() as window:
        site = make_site(Path(name))
        check_pages(window, site)
        check_list(window, site)


main()
