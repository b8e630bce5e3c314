"""The page in headless Chromium: it opens without errors, charts draw, filters, sorting and details work."""

import os
import time
from pathlib import Path

import browser
from support import page_data, skip, temporary_folder, write_report

reason = browser.missing()
if reason:
    skip(reason)

READY = "return document.documentElement.dataset.ready"
CELL_ROWS = "return document.querySelectorAll('#cell-table tbody tr').length"
COUNT = "return document.getElementById('cell-count').textContent"


def open_page(window, folder, fragment=""):
    """Opens the page; returns the milliseconds until it was drawn."""
    window.open(folder / "index.html", fragment)
    return float(window.wait(READY, 30))


def expect_quiet(window):
    complaints = [entry for entry in window.log() if entry["level"] in ("SEVERE", "WARNING")]
    assert not complaints, complaints
    assert "[object " not in window.run("return document.body.innerText"), "an object is shown as text"


def click(window, selector):
    window.run("document.querySelector(arguments[0]).click()", selector)


def choose(window, selector, value):
    window.run("const e = document.querySelector(arguments[0]); e.value = arguments[1];"
               "e.dispatchEvent(new Event('change'));", selector, value)


def column(window, name):
    """Texts of a column of the table of cells."""
    return window.run("""
        const heads = [...document.querySelectorAll('#cell-table thead th button')];
        const at = heads.findIndex((b) => b.dataset.sort === arguments[0]);
        return [...document.querySelectorAll('#cell-table tbody tr')].map((r) => r.cells[at].textContent);""", name)


def test_opens_fast_and_small(window, large):
    assert (large / "index.html").stat().st_size < 10e6
    busy = os.getloadavg()[0] > os.cpu_count()
    window.count_cpu_time()
    milliseconds = open_page(window, large)
    work = window.cpu_time()
    print(f"  drawn after {milliseconds:.0f} ms with {1e3 * work:.0f} ms of work{' (busy machine)' if busy else ''}, "
          f"{(large / 'index.html').stat().st_size / 1e6:.2f} MB")
    assert work < 3, work
    assert busy or milliseconds < 3000, milliseconds
    expect_quiet(window)
    assert window.run("return document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


def test_charts_draw(window, large):
    open_page(window, large)
    if not window.run("return typeof Plotly !== 'undefined'"):
        assert "no charting library" in window.run("return document.getElementById('profiles').textContent")
        assert window.run("return document.querySelectorAll('#profile-values tbody tr').length") == 12
        print("  this build has no charts; their tables are there")
        return
    for chart in ("performance-chart", "data-chart"):
        lines = f"return document.querySelectorAll('#{chart} .scatterlayer .trace').length"
        assert window.wait(f"{lines} === 12 && {lines[7:]}") == 12
        length = window.run(f"return Math.min(...[...document.querySelectorAll('#{chart} path.js-line')]"
                            ".map((path) => path.getTotalLength()))")
        assert length > 100, length
    window.run("document.querySelector('.chip[data-solver=\"3\"]').click()")
    window.wait("return document.querySelectorAll('#performance-chart .scatterlayer .trace').length === 11")
    assert "among the 11 solvers" in window.run("return document.getElementById('profiles').textContent")
    for cost in window.run("return conebench.data.costs.map((c) => c.id)"):
        window.run("conebench.update({cost: arguments[0]})", cost)
    expect_quiet(window)


def test_recomputed_profiles_equal_the_stored_ones(window, large):
    open_page(window, large)
    worst = window.run("""
        const { data, computeProfile } = conebench;
        const at = (curve, place) => {
          let value = 0;
          for (let i = 0; i < curve.x.length && curve.x[i] <= place; ++i) value = curve.y[i];
          return value;
        };
        let worst = 0;
        for (const stored of data.profiles) {
          const mine = computeProfile(stored.slice, stored.family, stored.cost, data.solvers.map((_, s) => s));
          for (const kind of ["performance", "data"]) stored[kind].forEach((curve, s) => {
            for (const x of [...curve.x, ...mine[kind][s].x]) {
              const place = x * (1 + 2e-5);
              worst = Math.max(worst, Math.abs(at(curve, place) - at(mine[kind][s], place)));
            }
          });
        }
        return worst;""")
    assert worst < 1e-5, worst


def test_filters_and_sorting(window, large):
    open_page(window, large)
    data = page_data(large)
    names = data["cells"]["names"]
    cells = [dict(zip(names, row)) for row in data["cells"]["rows"]]
    middle = [c for c in cells if c["slice"] == 1]
    assert window.run(CELL_ROWS) == 50
    assert window.run(COUNT) == f"{len(middle)} of {len(cells):,} cells"
    choose(window, "#cells select[aria-label='Outcome']", "false_claim")
    expected = [c for c in middle if c["outcome"] == "false_claim"]
    assert window.run(COUNT).startswith(f"{len(expected)} of"), window.run(COUNT)
    assert set(column(window, "outcome")) == {"false claim"}
    choose(window, "#cells select[aria-label='Solver']", "0")
    expected = [c for c in expected if c["solver"] == 0]
    assert window.run(COUNT).startswith(f"{len(expected)} of")
    window.run("conebench.update({outcome: '', solver: ''})")
    window.run("const e = document.getElementById('search'); e.value = 'rover pgs';"
               "e.dispatchEvent(new Event('input'));")
    found = column(window, "problem"), column(window, "solver")
    assert found[0] and all("Rover" in p for p in found[0]) and all("PGS" in s for s in found[1])
    window.run("conebench.update({search: ''})")
    # Where a name is cut, its end is there to see.
    hidden = window.run("""
        return [...document.querySelectorAll('#cell-table .link.narrow')].filter((one) =>
            one.lastChild.getBoundingClientRect().right > one.closest('td').getBoundingClientRect().right).length;""")
    assert hidden == 0 and window.run("return document.querySelectorAll('#cell-table .link.narrow').length") == 50
    click(window, "#cell-table button[data-sort='iterations']")
    ascending = [int(t.replace(",", "")) for t in column(window, "iterations")]
    assert ascending == sorted(c["iterations"] for c in middle)[:50]
    click(window, "#cell-table button[data-sort='iterations']")
    descending = [int(t.replace(",", "")) for t in column(window, "iterations")]
    assert descending == sorted((c["iterations"] for c in middle), reverse=True)[:50]
    direction = window.run("return document.querySelector('#cell-table th[aria-sort]').getAttribute('aria-sort')")
    assert direction == "descending"
    click(window, ".pager button[aria-label='Last page']")
    assert window.run(CELL_ROWS) == (len(middle) % 50 or 50)
    window.run("conebench.update({family: 'Chain'})")
    assert set(column(window, "family")) == {"Chain"}
    window.run("document.querySelector('#ranking-table button[data-sort=limit]').click()")
    order = window.run("return [...document.querySelectorAll('#ranking-table tbody tr')]"
                       ".map((r) => r.cells[1].textContent)")
    ranking = next(r for r in data["rankings"] if r["slice"] == 1 and r["family"] == "Chain")
    best = min(ranking["rows"], key=lambda row: row["time_at_limit_s"])
    assert order[0].startswith(data["solvers"][best["solver"]]["label"]), order
    expect_quiet(window)
    # A problem that is called as its family has one, too.
    window.run("conebench.data.problems.forEach((p) => { if (p.family === 'Chain') p.name = 'Chain'; });"
               "conebench.update({search: 'chain'})")
    assert set(column(window, "problem")) == set(column(window, "family")) == {"Chain"}


def test_heat_map_and_details(window, large):
    open_page(window, large)
    data = page_data(large)
    assert window.run("return document.querySelectorAll('#heat-table tbody tr').length") == len(data["problems"])
    click(window, "#heat-table td.heat.solved")
    window.wait("return document.getElementById('details').open")
    text = window.run("return document.querySelector('#details .command code').textContent")
    number = int(window.run("return conebench.state.open").split(".")[1])
    cell = dict(zip(data["cells"]["names"], data["cells"]["rows"][number]))
    words = [data["problems"][cell["problem"]]["words"], data["solvers"][cell["solver"]]["words"],
             data["commands"][cell["command"]]]
    assert text == " ".join(words), text
    assert f"open=cell.{number}" in window.run("return location.hash")
    click(window, "#details-title .solver .link")
    assert window.run("return document.getElementById('details-title').textContent").strip() \
        == data["solvers"][cell["solver"]]["label"]
    window.run("history.back()")
    window.wait(f"return conebench.state.open === 'cell.{number}'")
    click(window, "#details .close")
    window.wait("return !document.getElementById('details').open")
    # The keyboard alone: from the first cell of the map to the one below, then into it.
    window.run("document.querySelector('#heat-table td.heat').focus()")
    for key in ("ArrowDown", "Enter"):
        window.run("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', "
                   "{ key: arguments[0], bubbles: true, cancelable: true }))", key)
    window.wait("return document.getElementById('details').open")
    expect_quiet(window)


def test_state_is_in_the_address(window, large):
    open_page(window, large, "#slice=2&family=Rover&cost=iterations&hidden=1.2&open=problem.3")
    assert window.run("return document.getElementById('details').open")
    assert window.run("return document.querySelector('.controls button[aria-pressed=true]').textContent") == "1e-8"
    assert window.run("return document.querySelectorAll('.chip[aria-pressed=false]').length") == 2
    open_page(window, large, "#slice=99&family=nowhere&cost=<b>&open=cell.1e9&page=-1")
    assert window.run("return document.querySelectorAll('#ranking-table tbody tr').length") == 12
    expect_quiet(window)


def test_themes(window, large):
    open_page(window, large)
    background = "return getComputedStyle(document.body).backgroundColor"
    before = window.run(background)
    click(window, "button.theme")
    assert window.run(background) != before
    click(window, "button.theme")
    assert window.run(background) == before
    expect_quiet(window)


def test_without_charts(window, plain):
    open_page(window, plain)
    assert window.run("return document.querySelectorAll('.chart').length") == 0
    assert "fetch_plotly.sh" in window.run("return document.getElementById('profiles').textContent")
    assert window.run("return document.getElementById('profile-values').open")
    expect_quiet(window)


def test_hostile_names_are_text(window, small):
    open_page(window, small)
    for view in ("cell.20", "problem.5", "solver.1", "solver.2"):
        window.run("conebench.update({open: arguments[0]})", view)
        assert window.run("return document.getElementById('details').open"), view
    window.run("conebench.update({open: ''})")
    window.run("conebench.update({every: '1', family: conebench.data.families[2]})")
    assert window.run("return document.querySelectorAll('img, #cells b b, #ranking b b').length") == 0
    assert "</script><img src=x onerror=alert(1)>" in column(window, "problem")
    if window.run("return typeof Plotly !== 'undefined'"):
        window.wait("return document.querySelectorAll('#performance-chart .scatterlayer .trace').length === 4")
    expect_quiet(window)


def test_empty_store(window, empty):
    open_page(window, empty)
    assert "Nothing was measured" in window.run("return document.body.textContent")
    expect_quiet(window)


def without_charts(folder, out):
    """The page of a build that lacks the charting library."""
    page = (folder / "index.html").read_text(encoding="utf-8")
    begin = page.index("</script>", page.index('id="pictures"')) + len("</script>")
    out.mkdir()
    (out / "index.html").write_text(page[:begin] + page[page.index('<script>\n"use strict";'):], encoding="utf-8")
    return out


def main():
    with temporary_folder() as name, browser.Browser() as window:
        folders = {what: write_report(where, f"{name}/{what}")
                   for what, where in (("large", 56), ("small", "small"), ("empty", 0))}
        folders["plain"] = without_charts(folders["small"], Path(name) / "plain")
        for test in [value for key, value in globals().items() if key.startswith("test_")]:
            started = time.monotonic()
            wanted = test.__code__.co_varnames[1]
            test(window, folders[wanted])
            print(f"{test.__name__[5:].replace('_', ' ')}: {time.monotonic() - started:.1f} s")


main()
