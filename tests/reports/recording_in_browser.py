"""The page of a recording in headless Chromium: verdicts, the table of answers, charts, worst steps and a step's panel;
with a step without answer, residuals that are not known, a contact without names; of one step and of none."""

import json
import math
import subprocess
import sys
from pathlib import Path

import browser
from support import skip, temporary_folder, without_library

TOLERANCE = 1e-6
ENGINE = "MuJoCo 4.0.1 Newton"
LAWS = ("own", "compliant", "rigid")
READY = "return document.documentElement.dataset.ready"
TEXT = "return document.getElementById(arguments[0]).textContent"
ROWS = """return [...document.querySelectorAll(`${arguments[0]} tbody tr`)]
    .map((row) => [...row.cells].map((cell) => cell.textContent))"""


def residual(scaled, unit, worst):
    return {"scaled": scaled, "absolute_m_s": None if scaled is None else scaled * unit, "worst": worst}


def answer_of(kind, k, unit, contacts):
    """An answer in step k: (name, engine or solver, law, residual on its own law, iterations, seconds)."""
    name, of, law, own, iterations, seconds = kind
    error = "r has 17 rows, the step has 20" if of == "engine" and k == 4 else None
    value = None if error else own * (1 + 0.9 * math.sin(0.3 * k))
    if of == "engine" and k in (7, 8):
        value = 3e-4 * k
    worst = {"block": f"contact {k % contacts}", "name": "left foot" if k % 2 else None,
             "bodies": ["floor", "left foot"] if k % 2 else None} if contacts and value is not None else None
    rigid = None if value is None or k == 2 else 2e-2 * (1 + 0.5 * math.sin(0.05 * k)) if of == "engine" else value
    compliant = value if law == "ncp" or value is None else 1e-3 * (2 + math.cos(0.1 * k))
    slip = 1 if contacts else 0
    modes = {"open": slip * (k % 2), "stick": contacts - slip * (k % 2 + 1), "slip": slip}
    return {"name": name, "of": of, "law": law, "status": "max_iterations" if name == "PGS" else "converged",
            "iterations": None if error else iterations + k % 3,
            "seconds": None if error else seconds * (1 + 0.2 * (k % 5)),
            "tolerance": None if name == "PGS" else 1e-8, "error": error, "own": residual(value, unit, worst),
            "compliant": residual(compliant, unit, worst),
            "rigid": None if rigid is None else residual(rigid, unit, worst),
            "modes": None if error else modes}


def summary_of(kind, steps):
    answers = [(s["number"], a) for s in steps for a in s["answers"] if a["name"] == kind[0] and not a["error"]]

    def known(name, unit):
        return [(a[name][unit], number) for number, a in answers if a[name] and a[name][unit] is not None]

    def law(name):
        found = sorted(known(name, "scaled"))
        if not found:
            return None
        return {"median": found[len(found) // 2][0], "max": found[-1][0], "max_step": found[-1][1],
                "within": sum(value <= TOLERANCE for value, _ in found)}

    def most(name):
        return max((value for value, _ in known(name, "absolute_m_s")), default=None)

    def cost(name):
        found = sorted(a[name] for _, a in answers)
        return {"median": found[len(found) // 2], "max": found[-1]} if found else None

    claimed = [a for _, a in answers if a["status"] == "converged"]
    return {"name": kind[0], "of": kind[1], "law": kind[2], "answers": len(answers),
            **{name: law(name) for name in LAWS}, "absolute_max_m_s": {name: most(name) for name in LAWS}, "iterations": cost("iterations"),
            "seconds": cost("seconds"), "claimed": len(claimed),
            "claimed_wrong": sum(a["own"]["scaled"] > TOLERANCE for a in claimed)}


def judged(count, description="A robot falls <b>onto</b> the floor </script>."):
    """The object of `judge --answers --json` with `count` steps."""
    kinds = [("CASCADE", "solver", "ncp", 1e-12, 4, 2e-4), (ENGINE, "engine", "ccp", 1e-9, 3, 1e-4),
             ("NSGS", "solver", "ncp", 5e-7, 120, 3e-4), ("PGS", "solver", "ncp", 1e-3, 1000, 2e-3),
             ("PINOCCHIO-ADMM", "solver", "ncp", 1e-8, 40, 5e-4)]
    steps = []
    for k in range(1, count + 1):
        contacts = 0 if k == 3 else 4 + k // 20 % 3
        unit = 0.0196 if k > 30 else 0.5
        at = {"name": "left foot", "bodies": ["floor", "left foot"]} if k % 3 else {"name": None, "bodies": None}
        answers = [answer_of(kind, k, unit, contacts) for kind in kinds if k != 5 or kind[1] != "engine"]
        steps.append({"step": f"robot.hdf5/{k:06}", "number": k, "time": 0.002 * k if k != 6 else None,
                      "contacts": contacts, "rows": 3 * contacts, "unit_m_s": unit, "time_step": 0.002,
                      "gap_min_m": -1e-6 * k if contacts else None, "gap_min_at": at if contacts else None, "answers": answers})
    return {"recording": "robot.hdf5", "description": description, "tolerance": TOLERANCE, "steps": steps,
            "summary": [summary_of(kind, steps) for kind in kinds] if count else []}


def expect_quiet(window):
    complaints = [entry for entry in window.log() if entry["level"] in ("SEVERE", "WARNING")]
    assert not complaints, complaints
    assert window.run("return document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


def show(window, folder, data, fragment=""):
    source, page = Path(folder) / "judged.json", Path(folder) / "page.html"
    source.write_text(json.dumps(data), encoding="utf-8")
    subprocess.run([sys.argv[1], source, page], check=True)
    window.open(page, fragment)
    window.wait(READY, 30)
    return page


def check_tables(window, data):
    text = window.run(TEXT, "headline")
    for words in ("2 steps off", "as rigid contact: median 2", f"{ENGINE}: on its own law (CCP) 996 of 998 steps within 1e-6",
                  "2 steps without an answer", "wrongly on 2", "worst at step 8: 2.4e-3, contact 0", "at rest V is only g·Δt",
                  data["description"]):
        assert words in text, (words, text)
    heads = window.run("return [...document.querySelectorAll('#summary thead th')].map((c) => c.textContent)")
    assert heads[1:] == [ENGINE + "engine, CCP", *(name + "solver, NCP" for name in ("CASCADE", "NSGS", "PGS", "PINOCCHIO-ADMM"))]
    engine, pgs = ([row[column - 5] for row in window.run(ROWS, "#summary")] for column in (0, 3))
    assert engine[:5] == ["998", "996", "1.0e-9", "2.4e-3", "1.2e-3"] and engine[13:15] == ["998", "2"], engine
    assert pgs[13:] == ["0", "0", "1,001 / 1,002", "2.80 ms / 3.60 ms"], pgs
    steps = window.run(ROWS, "#steps")
    assert len(steps) == 30 and steps[0][0] == "4" and "17 rows" in steps[0][9] and steps[0][8] == "no answer", steps[0]
    assert steps[1][0] == "8" and steps[1][8] == "false claim" and steps[1][6:8] == ["contact 0", "–"], steps[1]
    assert steps[2][6:8] == ["left foot", "floor – left foot"], steps[2]


def check_charts(window):
    if not window.run("return typeof Plotly !== 'undefined'"):
        assert "no charting library" in window.run(TEXT, "charts")
        print("  this build has no charts; the tables are there")
        return
    window.run("conebench.drawWaiting()")
    curves = """return document.getElementById(arguments[0]).data.filter((one) => one.name && one.mode === 'lines')
        .map((one) => one.name).reverse()"""
    counts = {name: window.run(curves, f"chart-{name}") for name in ("laws", "answers", "modes", "iterations", "times")}
    assert counts["laws"] == ["own law", "NCP with R", "rigid NCP", "tolerance"], counts
    assert len(counts["answers"]) == 6 and len(counts["iterations"]) == len(counts["times"]) == 5, counts
    assert counts["modes"] == ["stick", "slip", "open"], counts
    assert window.run("return document.querySelectorAll('#chart-gap path.js-line').length") == 2, "no gap where nothing touches"
    window.run("""const box = document.getElementById('chart-laws');
        const curveNumber = box.data.findIndex((one) => one.name === 'own law');
        box.emit('plotly_click', {points: [{curveNumber, pointNumber: 8}]})""")
    assert window.run(TEXT, "details-title") == "Step 9"
    window.run("document.querySelector('#details .close').click()")
    assert window.run("return document.querySelectorAll('#chart-laws .point').length") == 1, "a circle for the step without answer"


def check_choices(window):
    choose = "const s = document.querySelector('select[aria-label=Answer]'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))"
    press = "[...document.querySelectorAll('#charts button, #steps button')].find((b) => b.textContent === arguments[0]).click()"
    window.run(choose, "3")
    window.run(press, "m/s")
    steps = window.run(ROWS, "#steps")
    assert all(row[8] == "failed" and row[9] == "max iterations" for row in steps), steps[0]
    assert [float(row[5]) for row in steps] == sorted((float(row[5]) for row in steps), reverse=True)
    window.run(press, "All 1,000 steps")
    assert len(window.run(ROWS, "#steps")) == 1000
    window.run(choose, "0")
    window.run(press, "rigid NCP")
    window.run(press, "scaled")
    assert [row[4] for row in window.run(ROWS, "#steps")][:3] == ["–", "–", "3.0e-2"], "not known is worst"


def check_step(window):
    window.run("[...document.querySelectorAll('#steps .link')].find((b) => b.textContent === '8').click()")
    assert window.run("return location.hash") == "#step-8"
    text = window.run(TEXT, "details")
    for words in ("Step 8", "false claim", "1 slip", "floor – left foot", "conebench judge robot.hdf5/000008 --answers"):
        assert words in text, (words, text)
    assert window.run("return document.querySelectorAll('#details table').length") == 5
    window.run("document.querySelector('#details button[aria-label=\"Step before\"]').click()")
    assert window.run(TEXT, "details-title") == "Step 7"
    window.run("document.querySelector('#details .close').click()")
    assert window.wait("return location.hash === ''")


def check_small(window, folder):
    data = judged(1)
    data["steps"][0].update({"time": None, "time_step": None, "gap_min_m": None, "gap_min_at": None})
    for answer in data["steps"][0]["answers"]:
        answer.update({"rigid": None, "iterations": None, "seconds": None})
    for row in data["summary"]:
        row.update({"rigid": None, "iterations": None, "seconds": None})
    show(window, folder, data, "#step-1")
    assert window.run(TEXT, "details-title") == "Step 1"
    assert "its law holds" in window.run(TEXT, "headline") and "as rigid contact: not known" in window.run(TEXT, "headline")
    if window.run("return typeof Plotly !== 'undefined'"):
        window.run("conebench.drawWaiting()")
        assert window.run("return document.querySelectorAll('#chart-answers .point').length") == 5
        assert window.run(TEXT, "charts").count("Not known.") == 3
    expect_quiet(window)
    show(window, folder, judged(0, ""))
    assert "No step holds an answer" in window.run(TEXT, "headline")
    expect_quiet(window)


def check_without_charts(window, page):
    text = page.read_text(encoding="utf-8")
    page.write_text(without_library(text), encoding="utf-8")
    window.open(page)
    window.wait(READY, 30)
    assert "no charting library" in window.run(TEXT, "charts")
    assert len(window.run(ROWS, "#steps")) == 30 and window.run("return document.querySelectorAll('#steps select').length") == 1
    expect_quiet(window)


def main():
    reason = browser.missing()
    if reason:
        skip(reason)
    with temporary_folder() as folder, browser.Browser() as window:
        data = judged(1000)
        page = show(window, folder, data)
        check_tables(window, data)
        for check in (check_charts, check_choices, check_step):
            check(window)
            expect_quiet(window)
        background = "return getComputedStyle(document.body).backgroundColor"
        before = window.run(background)
        window.run("document.querySelector('button.theme').click()")
        assert window.run(background) != before
        window.run("document.querySelector('button.theme').click()")
        check_without_charts(window, page)
        for width in (1366, 900, 390):
            window.set_size(width, 800)
            show(window, folder, judged(12))
            expect_quiet(window)
        window.set_size(1366, 768)
        check_small(window, folder)


if __name__ == "__main__":
    main()
