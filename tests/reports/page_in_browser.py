"""The page in headless Chromium: it opens without errors, charts draw, filters, sorting and details work."""

import json
import math
import re
import statistics
import time
import xml.etree.ElementTree
from pathlib import Path

import browser
from support import packed, page_data, skip, temporary_folder, without_library, write_report

reason = browser.missing()
if reason:
    skip(reason)

READY = "return document.documentElement.dataset.ready"
CELL_ROWS = "return document.querySelectorAll('#cell-table tbody tr').length"
COUNT = "return document.getElementById('cell-count').textContent"


def open_page(window, folder, fragment=""):
    """Opens the page, until it is drawn."""
    window.open(folder / "index.html", fragment)
    window.wait(READY, 30)


def expect_little_work(window, layouts):
    """By counts that are alike on every machine: 10,000 cells are neither all in the page nor laid out one by one."""
    elements = window.run("return document.getElementsByTagName('*').length")
    assert layouts <= 500 and elements <= 12000, (layouts, elements)


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


def test_opens_small(window, large):
    assert (large / "index.html").stat().st_size < 1.5e6
    window.count_layouts()
    open_page(window, large)
    expect_little_work(window, window.layouts())
    expect_quiet(window)
    assert window.run("return document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


CURVES = "return document.querySelectorAll('#{0} .scatterlayer path.js-line').length"
# Thick ones: the others are grey and thin.
FRONT = "return document.getElementById('{0}').data.filter((one) => one.line.width > 1).map((one) => one.name).reverse()"
LABELS = "return [...document.querySelectorAll('#{0} .annotation-text')].map((text) => text.textContent)"
TICKS = ("return [...document.querySelectorAll('#{0} .{1}tick text')].filter((text) => text.checkVisibility()).map((text) => "
         "[text.textContent, text.getBoundingClientRect().left, text.getBoundingClientRect().right])")


def of_charts(test):
    """Not for a build without the charting library."""
    test.of_charts = True
    return test


def draw_all(window):
    """Also the charts that are out of sight."""
    window.run("conebench.drawWaiting()")


def in_colour(window):
    draw_all(window)
    return window.run(FRONT.format("performance-chart"))


@of_charts
def test_profiles_show_the_best_few_and_the_chosen_in_colour(window, large):
    open_page(window, large)
    data = page_data(large)
    label = [solver["label"] for solver in data["solvers"]]
    ranking = next(r for r in data["rankings"] if r["slice"] == 1 and r["family"] == "")
    best = [label[row["solver"]] for row in ranking["rows"][:5]]
    draw_all(window)
    for chart in ("performance-chart", "data-chart"):
        assert window.run(CURVES.format(chart)) == 12
        assert window.run(FRONT.format(chart)) == best
        labels = [text.split("…") for text in window.run(LABELS.format(chart))]  # long ones lack their middle
        shortened = [[name for name in best if name.startswith(parts[0]) and name.endswith(parts[-1])] for parts in labels]
        assert sorted(min(names, key=len) for names in shortened) == sorted(best), labels
    window.run("document.querySelector('.chip[data-solver=\"%d\"]').click()" % label.index(best[0]))
    assert in_colour(window) == best[1:]
    sixth = label[ranking["rows"][5]["solver"]]
    window.run("document.querySelector('.chip[data-solver=\"%d\"]').click()" % label.index(sixth))
    assert in_colour(window) == best[1:] + [sixth]
    assert window.run(CURVES.format("performance-chart")) == 12
    click(window, "#alone")
    draw_all(window)
    assert window.run(CURVES.format("performance-chart")) == 5
    assert "among the 5 in colour alone" in window.run("return document.getElementById('profiles').textContent")
    address = window.run("return location.hash")
    open_page(window, large, address)
    assert in_colour(window) == best[1:] + [sixth]
    click(window, "#best-few")
    assert in_colour(window) == best
    click(window, "#pairs td.lean button")
    assert in_colour(window) == best[:2] and window.run(CURVES.format("performance-chart")) == 2
    expect_quiet(window)


@of_charts
def test_every_axis_has_ticks_that_do_not_touch(window, large):
    for width in (1400, 420):
        window.set_size(width, 900)
        open_page(window, large)
        for cost in window.run("return conebench.data.costs.map((c) => c.id)"):
            window.run("conebench.update({cost: arguments[0], panels: 'family'})", cost)
            draw_all(window)
            for chart in window.run("return [...document.querySelectorAll('#profiles .chart')].map((one) => one.id)"):
                across = window.run(TICKS.format(chart, "x"))
                assert len(across) >= 2, (width, cost, chart, across)
                assert all(a[2] < b[1] for a, b in zip(across, across[1:])), (width, cost, chart, across)
                assert len(window.run(TICKS.format(chart, "y"))) >= 2
        window.run("conebench.update({panels: ''})")
    window.set_size(1366, 768)
    # Of any range: from a part of a decade to many.
    window.run("conebench.update({cost: 'time'})")
    for begin, end in ((1, 1.01), (1, 2), (3e-6, 4e-6), (1e-9, 1e9), (0.9, 1e30), (999, 1001), (7, 13)):
        window.run("conebench.drawChart(document.getElementById('performance-chart'), { x: { log: true, range: [...arguments], "
                   "tickformat: '.4~s' }, y: { log: true, range: [...arguments], tickformat: '.4~s' }, series: [], aria: '' })",
                   begin, end)
        draw_all(window)
        across = window.run(TICKS.format("performance-chart", "x"))
        assert len(across) >= 2 and all(a[2] < b[1] for a, b in zip(across, across[1:])), (begin, end, across)
        assert 2 <= len(window.run(TICKS.format("performance-chart", "y"))) <= 14, (begin, end)


@of_charts
def test_charts_are_drawn_when_they_come_into_sight(window, large):
    open_page(window, large, "#panels=family")
    waiting = "return document.querySelectorAll('#growth .chart[data-waiting]').length"
    assert window.run(waiting) == 1
    window.run("document.getElementById('growth').scrollIntoView()")
    window.wait(waiting + " === 0")
    drawn = "return document.querySelectorAll('#performance-chart .main-svg').length"
    window.run("document.getElementById('profiles').scrollIntoView()")
    window.wait(drawn)
    box = "document.getElementById('performance-chart')"
    before = window.run(f"return {box}.layout.font.color")
    click(window, "button.theme")
    window.wait(f"return {box}.layout.font.color !== arguments[0]".replace("arguments[0]", repr(before)))
    click(window, "button.theme")
    # Names stay where the curves are while a reader looks closer.
    window.wait(f"return {box}.layout.font.color === {before!r}")
    window.run(f"Plotly.relayout({box}, {{'yaxis.range': [0.9, 1.0]}})")
    positions = window.run(f"return {box}.layout.annotations.filter((one) => one.x === 1).map((one) => one.y)")
    ends = window.run(f"return {box}.data.filter((one) => one.line.width > 1).map((one) => one.y.at(-1))")
    expected = sorted((end - 0.9) / 0.1 for end in ends if 0.9 <= end <= 1.0)
    assert len(positions) == len(expected) and all(abs(a - b) < 1e-9 for a, b in zip(sorted(positions), expected)), (positions, ends)
    # Paper has all of them, light and no wider than it.
    click(window, "button.theme")
    window.run("window.dispatchEvent(new Event('beforeprint'))")
    shown = window.run("return [...document.querySelectorAll('.chart')].map((one) => [one.layout.width, one.layout.font.color])")
    assert len(shown) > 3 and all(width <= 680 and colour == before for width, colour in shown), (shown, before)
    window.run("window.dispatchEvent(new Event('afterprint'))")
    click(window, "button.theme")
    # A click on a curve in colour makes it grey.
    label = in_colour(window)
    window.run(f"const box = {box}; const at = box.data.findIndex((one) => one.name === arguments[0]);"
               "box.emit('plotly_click', { points: [{ curveNumber: at }] })", label[1])
    assert in_colour(window) == [label[0], *label[2:]]
    expect_quiet(window)


def test_heights_in_the_key_are_those_of_the_report(window, large):
    open_page(window, large)
    full = json.loads((large / "report.json").read_text())
    profile = next(p for p in full["profiles"] if p["slice"] == 1 and p["family"] == "" and p["cost"] == "time")
    curves = {full["solvers"][c["solver"]]["label"]: c for c in profile["performance"]}
    rows = window.run("return [...document.querySelectorAll('#profile-key tbody tr')]"
                      ".map((row) => [...row.cells].map((cell) => cell.textContent.trim()))")
    assert len(rows) == 5
    for name, *heights in rows:
        name = name.removesuffix(" *")
        for tau, shown in zip((1, 2, 10, float("inf")), heights):
            height = max((y for x, y in zip(curves[name]["x"], curves[name]["y"]) if x <= tau), default=0)
            assert abs(float(shown.rstrip(" %")) - 100 * height) < 0.11, (name, tau, shown, height)


def test_a_solver_has_its_colour_by_name(window, large):
    open_page(window, large)
    colours = dict(window.run("return conebench.data.solvers.map((one) => [one.label, conebench.nameColour(one.label)])"))
    expected = {"CASCADE": 0, "NSGS": 1, "PGS-CCP-DS": 7, "ADMM-NCP-SA": 2, "APGD-CCP": 3, "PROX-JACOBI": 4,
                "LEMKE-ROBUST-DF": 5, "NSN-AC": 6, "RAISIM": 8, "STAGGERED": 8, "IPOPT-CCP": 9, "SICONOS-NSGS": 1}
    for name, colour in expected.items():
        assert window.run("return conebench.nameColour(arguments[0])", name) == colour, name
    assert all(0 <= colour < 10 for colour in colours.values())
    same = window.run("return conebench.data.solvers.map((_, s) => conebench.looks[s].colour + conebench.looks[s].dash)")
    assert len(set(same)) == len(same), "two solvers look alike"


STAGES = """return [...document.querySelectorAll('#ranking table.stages')].map((table) => ({
    legend: [...table.previousElementSibling.children].map((one) =>
        [one.textContent.replace(/ [^ ]*$/, ""), getComputedStyle(one.querySelector("i")).backgroundColor]),
    bars: [...table.querySelectorAll(".stack")].map((bar) => [bar.title.split(", ").map((part) => part.split(": ")[0]),
        [...bar.children].map((part) => getComputedStyle(part).backgroundColor)])}))"""


def test_a_stage_has_one_colour_for_all_configurations_and_filters(window, stages):
    data = page_data(stages)
    counts = {}
    names = data["cells"]["names"]
    for cell in (dict(zip(names, row)) for row in data["cells"]["rows"]):
        if cell["stage"] and cell["outcome"] == "solved":
            of = counts.setdefault((cell["slice"], cell["solver"]), {})
            of[cell["stage"]] = of.get(cell["stage"], 0) + 1
    assert len({max(of, key=of.get) for of in counts.values()}) > 1, "no configuration differs in the stage that solves most"
    colours = {}
    for fragment in [f"#slice={one['label']}" for one in data["slices"]] + [f"#family={one}" for one in data["families"]]:
        open_page(window, stages, fragment)
        for configuration in window.run(STAGES):
            seen = dict(configuration["legend"])
            for bar, shown in configuration["bars"]:
                assert shown == [seen[stage] for stage in bar], (fragment, bar, shown, seen)
            for stage, colour in seen.items():
                assert colours.setdefault(stage, colour) == colour, (fragment, stage)
    assert len(set(colours.values())) == len(colours) == 3, colours


def test_panels_by_family_and_category(window, large):
    open_page(window, large, "#panels=family")
    data = page_data(large)
    titles = "return [...document.querySelectorAll('.panels figcaption b')].map((b) => b.textContent)"
    assert window.run(titles) == data["families"]
    full = json.loads((large / "report.json").read_text())
    worst = window.run("""
        const { state, computeProfile, scopeOf, data } = conebench;
        let worst = 0;
        for (const family of data.families) {
          const among = computeProfile(1, scopeOf(1, "", (one) => one.family === family), "time", data.solvers.map((_, s) => s));
          const stored = arguments[0].find((p) => p.slice === 1 && p.family === family && p.cost === "time");
          stored.performance.forEach((curve, s) => {
            worst = Math.max(worst, Math.abs((curve.y.at(-1) ?? 0) - (among.performance[s].y.at(-1) ?? 0)));
          });
        }
        return worst;""", full["profiles"])
    assert worst < 1e-9, worst
    expect_quiet(window)


@of_charts
def test_a_chart_is_saved_as_svg(window, large):
    open_page(window, large)
    text = window.run("""
        let saved = null;
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { saved = blob; return make(blob); };
        document.querySelector('#profiles button.save').click();
        return new Promise((resolve) => {
          const reader = new FileReader();
          reader.onload = () => resolve(reader.result);
          const look = () => (saved ? reader.readAsText(saved) : setTimeout(look, 20));
          look();
        });""")
    picture = xml.etree.ElementTree.fromstring(text)
    assert picture.tag == "{http://www.w3.org/2000/svg}svg" and "var(" not in text
    assert len(picture.findall(".//{*}path")) >= 12


def test_recomputed_profiles_equal_the_stored_ones(window, large):
    open_page(window, large)
    profiles = json.loads((large / "report.json").read_text())["profiles"]
    worst = window.run("""
        const { computeProfile, scopeOf, countingSolvers } = conebench;
        const at = (curve, position) => {
          let value = 0;
          for (let i = 0; i < curve.x.length && curve.x[i] <= position; ++i) value = curve.y[i];
          return value;
        };
        let worst = 0;
        for (const stored of arguments[0]) {
          const solvers = countingSolvers(stored.slice, stored.cost);
          const mine = computeProfile(stored.slice, scopeOf(stored.slice, stored.family), stored.cost, solvers);
          for (const kind of ["performance", "data"]) stored[kind].forEach((curve, i) => {
            if (curve.solver !== mine[kind][i].solver) worst = Infinity;
            for (const x of [...curve.x, ...mine[kind][i].x]) {
              const position = x * (1 + 2e-5);
              worst = Math.max(worst, Math.abs(at(curve, position) - at(mine[kind][i], position)));
            }
          });
        }
        return worst;""", profiles)
    assert worst is not None and worst < 1e-5, worst


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


RANKED = "return document.querySelectorAll('#ranking-table tbody tr').length"
RESULT = "return document.querySelector('#overview .result-line').textContent"


def test_the_first_screen_is_the_answer(window, large):
    window.set_size(1400, 900)
    open_page(window, large)
    data = page_data(large)
    ranking = next(r for r in data["rankings"] if r["slice"] == 1 and r["family"] == "")
    first, second = ranking["rows"][:2]
    label = [solver["label"] for solver in data["solvers"]]
    own = [solver["origin"] == "own" for solver in data["solvers"]]
    text = " ".join(window.run(RESULT).split())
    marked = " (by Conebench's authors)"
    assert text.startswith(f"{label[first['solver']]}{marked if own[first['solver']] else ''} solves {first['solved']} of "
                           f"{ranking['problems']} problems at 1e-6"), text
    assert f"Next: {label[second['solver']]}" in text and f" solves {second['solved']}, in " in text, text
    tops = window.run("return ['overview', 'performance-chart', 'ranking'].map((id) => "
                      "document.getElementById(id).getBoundingClientRect().top)")
    assert tops == sorted(tops) and tops[-1] < 900, tops
    assert "doubtful" not in text
    # The result says itself that times are doubtful, or noisy.
    window.run("conebench.data.rankings.forEach((one) => { one.rows[0].doubts = {unconfirmed: 2}; });"
               "conebench.update({family: conebench.data.families[0]})")
    assert "doubtful in 2 cells (marked ?)" in window.run(RESULT)
    window.run("conebench.data.runs[0].noise = ['stolen']; conebench.update({family: ''})")
    assert "Times are noisy" in window.run(RESULT)
    window.set_size(1366, 768)
    expect_quiet(window)


def test_the_best_ten_open_to_all(window, large):
    open_page(window, large)
    assert window.run(RANKED) == 10
    click(window, "#all-rows")
    assert window.run(RANKED) == 12
    address = window.run("return location.hash")
    open_page(window, large, address)
    assert window.run(RANKED) == 12
    assert window.run("return document.getElementById('all-rows').getAttribute('aria-expanded')") == "true"
    # The ten best by the column that sorts.
    window.run("conebench.update({all: '', rank: 'limit'})")
    times = [row["time_at_limit_s"] for row in next(
        r for r in page_data(large)["rankings"] if r["slice"] == 1 and r["family"] == "")["rows"]]
    assert window.run(RANKED) == 10
    best = window.run("return conebench.rankings().find((r) => r.slice === 1 && r.family === '').rows"
                      ".map((row) => row.time_at_limit_s).sort((a, b) => a - b)[0]")
    assert best == min(times)


def test_a_filter_of_solvers_is_kept_in_the_address(window, large):
    open_page(window, large)
    window.run("const e = document.getElementById('only'); e.value = 'admm, nsgs';"
               "e.dispatchEvent(new Event('change'));")
    address = window.run("return location.hash")
    open_page(window, large, address)
    assert window.run("return document.getElementById('only').value") == "admm, nsgs"
    labels = window.run("return [...document.querySelectorAll('#ranking-table tbody .solver')].map((one) => one.textContent)")
    expected = [solver["label"] for solver in page_data(large)["solvers"]
                if "ADMM" in solver["label"] or "NSGS" in solver["label"]]
    assert sorted(labels) == sorted(expected), labels
    # All is counted among these: one of them is the best of each problem that one of them solves.
    rows = window.run("return conebench.rankings().find((r) => r.slice === conebench.state.slice && r.family === '').rows"
                      ".map((row) => row.times_best)")
    assert min(rows) >= 1 and len(rows) == len(expected)
    heads = window.run("return [...document.querySelectorAll('#heat-table thead .upright')].map((one) => one.textContent)")
    assert sorted(heads) == sorted(expected)
    assert set(column(window, "solver")) <= set(expected)
    assert f"Among the {len(expected)} solvers" in window.run(RESULT)
    expect_quiet(window)


def test_every_section_has_a_link(window, large):
    open_page(window, large, "#slice=1e-8&family=Rover")
    anchors = window.run("""
        return [...document.querySelectorAll("main > section")].filter((one) => !one.hidden && one.id !== "overview")
            .map((one) => [one.id, one.querySelector("h2 a.anchor")?.getAttribute("href")]);""")
    assert len(anchors) >= 8 and all(href == f"#{name}" for name, href in anchors), anchors
    shown = window.run("return [...document.querySelectorAll('nav a')].filter((one) => one.checkVisibility())"
                       ".map((one) => one.getAttribute('href').slice(1))")
    assert [name for name in shown if name != "overview"] == [name for name, _ in anchors], shown
    click(window, "#budgets a.anchor")
    address = window.run("return location.hash")
    assert "at=budgets" in address and "slice=1e-8" in address and "family=Rover" in address, address
    for fragment in (address, "#budgets"):
        open_page(window, large, fragment)
        top = window.run("return document.getElementById('budgets').getBoundingClientRect().top")
        assert -5 <= top <= 120, (fragment, top)
    # On a phone they are there, too.
    window.set_size(420, 900)
    assert len(window.run("return [...document.querySelectorAll('nav a')].filter((one) => one.checkVisibility())")) >= 8
    window.set_size(1366, 768)


def test_errors_after_a_budget_are_those_of_the_report(window, large):
    full = json.loads((large / "report.json").read_text())
    label = [solver["label"] for solver in full["solvers"]]
    for cost in ("time", "iterations", "operator_products"):
        open_page(window, large, f"#budget={cost}")
        table = next(one for one in full["budgets"] if one["slice"] == 1 and one["family"] == "" and one["cost"] == cost)
        rows = {label[row["solver"]]: row["median"] for row in table["rows"]}
        shown = window.run("return [...document.querySelectorAll('#budget-table tbody tr')]"
                           ".map((row) => [...row.cells].map((cell) => cell.textContent.trim()))")
        assert len(shown) == 5
        whole = [i for i, budget in enumerate(table["budgets"]) if abs(math.log10(budget) - round(math.log10(budget))) < 1e-9]
        for name, *values in shown:
            expected = [rows[name.removesuffix(" *")][i] for i in whole[-8:]]
            for value, number in zip(values, expected, strict=True):
                assert (value == "∞") == (number is None)
                assert number is None or number == 0 or abs(float(value) / number - 1) < 0.06, (name, value, number)
        # Of what is measured by one solver alone the errors fall.
        assert all(a >= b for values in rows.values() for a, b in zip(values, values[1:]) if a and b)
    expect_quiet(window)


def test_budgets_follow_from_traces(window, large):
    """The median after a budget of iterations, by the definition in docs/reports.md."""
    full = json.loads((large / "report.json").read_text())
    names = full["cells"]["names"]
    cells = [dict(zip(names, row)) for row in full["cells"]["rows"]]
    traces = {trace["cell"]: trace for trace in full["traces"]}
    table = next(one for one in full["budgets"] if one["slice"] == 1 and one["family"] == "" and one["cost"] == "iterations")
    families = {}
    for problem in full["problems"]:
        if problem["counted"][1]:
            families[problem["family"]] = families.get(problem["family"], 0) + 1
    for row in table["rows"]:
        errors = [[] for _ in table["budgets"]]
        for index, cell in enumerate(cells):
            problem = full["problems"][cell["problem"]]
            if cell["slice"] != 1 or cell["solver"] != row["solver"] or not problem["counted"][1]:
                continue
            steps = [(0, problem["zero_impulse"]["natural_map_scaled"])]
            if index in traces:
                steps += list(zip(traces[index]["iteration"], traces[index]["residual"]))
            if cell["verdict_value"] is not None and cell["repeats"] > 0:
                steps.append((cell["iterations"], cell["verdict_value"]))
            weight = 1 / (len(families) * families[problem["family"]])
            for i, budget in enumerate(table["budgets"]):
                errors[i].append(([error for at, error in steps if at <= budget][-1], weight))
        for i, list_of in enumerate(errors):
            below = 0
            for error, weight in sorted(list_of):
                below += weight
                if below >= 0.5 - 1e-9:
                    break
            assert abs(row["median"][i] / error - 1) < 1e-6, (row["solver"], table["budgets"][i], row["median"][i], error)


@of_charts
def test_a_stored_trace_is_drawn_over_iterations_products_and_time(window, large):
    open_page(window, large)
    data = page_data(large)
    assert 50 < len(data["traces"]) <= 100 and all(len(one["iteration"]) <= 40 for one in data["traces"])
    names = data["cells"]["names"]
    cells = [dict(zip(names, row)) for row in data["cells"]["rows"]]
    assert not cells[data["traces"][0]["cell"]]["outcome"] == "solved", "failed cells come first"
    trace = next(one for one in data["traces"] if len(one["iteration"]) > 10 and cells[one["cell"]]["operator_products"])
    cell = cells[trace["cell"]]
    window.run("conebench.update({open: 'cell.' + arguments[0]})", trace["cell"])
    for cost, spent in (("iterations", trace["iteration"]), ("time", trace["seconds"]),
                        ("operator products", [k * cell["operator_products"] / cell["iterations"] for k in trace["iteration"]])):
        window.run("[...document.querySelectorAll('#convergence .segmented button')].find((one) => "
                   "one.textContent === arguments[0]).click()", cost)
        draw_all(window)
        x, y = window.run("const curve = document.getElementById('convergence-chart').data.find((one) => one.name === 'judge');"
                          "return [curve.x, curve.y]")
        assert len(x) == len(spent) and all(abs(a / b - 1) < 1e-9 for a, b in zip(x, spent)), cost
        assert y == trace["residual"]
    assert "budget=operator_products" in window.run("return location.hash")
    window.run("conebench.update({open: ''})")
    expect_quiet(window)


def test_the_tail_over_a_sequence(window, large):
    open_page(window, large)
    data = page_data(large)
    names = data["cells"]["names"]
    cells = [dict(zip(names, row)) for row in data["cells"]["rows"]]
    steps = [p for p, problem in enumerate(data["problems"]) if problem["sequence"] == "rover"]
    assert len(steps) > 5
    rows = window.run("return [...document.querySelectorAll('#sequence-table tbody tr')]"
                      ".map((row) => [...row.cells].map((cell) => cell.textContent.trim()))")
    assert len(rows) == 5
    unit = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
    for name, *shown, solved in rows:
        mine = [cell for cell in cells if cell["slice"] == 1 and cell["problem"] in steps
                and data["solvers"][cell["solver"]]["label"] == name.removesuffix(" *")]
        costs = sorted(cell["total_median_s"] if cell["outcome"] == "solved" else math.inf for cell in mine)
        assert solved == f"{sum(map(math.isfinite, costs))} of {len(steps)}"
        for text, share in zip(shown, (0.5, 0.95, 1)):
            expected = costs[math.ceil(share * len(costs)) - 1]
            if math.isinf(expected):
                assert text == "not solved", (name, text)
            else:
                number, of = text.split(" ")
                assert abs(float(number) * unit[of] / expected - 1) < 6e-3, (name, text, expected)
    expect_quiet(window)


def test_nothing_overflows_and_no_name_is_broken(window, large):
    for width in (1400, 800, 420):
        window.set_size(width, 900)
        open_page(window, large, "#all=1")
        window.run("for (const one of document.querySelectorAll('details')) one.open = true")
        assert window.run("return document.documentElement.scrollWidth") <= width, width
        broken = window.run("""
            return [...document.querySelectorAll("main .word")].filter((one) => one.checkVisibility() &&
                one.getClientRects().length > 1).map((one) => one.textContent);""")
        assert not broken, (width, broken[:5])
        for view in ("cell.30", "problem.3", "solver.1"):
            window.run("conebench.update({open: arguments[0]})", view)
            wide = window.run("const one = document.getElementById('details'); return one.scrollWidth - one.clientWidth")
            assert wide <= 0, (width, view, wide)
        window.run("conebench.update({open: ''})")
    window.set_size(1366, 768)


def test_tables_and_controls_can_be_read_aloud(window, large):
    open_page(window, large, "#all=1")
    window.run("for (const one of document.querySelectorAll('details')) one.open = true")
    for view in ("", "cell.30", "problem.3", "solver.1"):
        window.run("conebench.update({open: arguments[0]})", view)
        bad = window.run("""
            const bad = [];
            for (const head of document.querySelectorAll("th")) if (!head.scope) bad.push(`th ${head.textContent}`);
            for (const table of document.querySelectorAll("table")) {
              if (!table.querySelector("th")) bad.push(`table without a heading: ${table.id || table.className}`);
            }
            const named = (one) => (one.getAttribute("aria-label") || one.textContent || one.title || "").trim();
            for (const one of document.querySelectorAll("button, a[href], select, input, [role=region], [role=img], nav, dialog[open]")) {
              const label = one.closest("label");
              const by = document.getElementById(one.getAttribute("aria-labelledby"));
              if (!named(one) && !named(label ?? one) && !by) bad.push(one.outerHTML.slice(0, 90));
            }
            for (const one of document.querySelectorAll(".scroll")) {
              const inside = one.querySelector("[tabindex='0'], button, a[href]");
              if (one.tabIndex < 0 && !inside) bad.push(`cannot be reached: ${one.getAttribute("aria-label")}`);
            }
            for (const one of document.querySelectorAll("a[href^='#']")) {
              if (!document.getElementById(one.getAttribute("href").slice(1))) bad.push(`broken link ${one.getAttribute("href")}`);
            }
            return bad;""")
        assert not bad, (view, bad[:8])
    window.run("conebench.update({open: ''})")


def test_heat_map_and_details(window, large):
    open_page(window, large)
    data = page_data(large)
    assert window.run("return document.querySelectorAll('#heat-table tbody th[scope=row]').length") == len(data["problems"])
    click(window, "#heat-table td.heat.solved")
    window.wait("return document.getElementById('details').open")
    text = window.run("return document.querySelector('#details .command code').textContent")
    number = int(window.run("return conebench.state.open").split(".")[1])
    cell = dict(zip(data["cells"]["names"], data["cells"]["rows"][number]))
    words = [data["problems"][cell["problem"]]["arguments"], data["solvers"][cell["solver"]]["arguments"],
             data["commands"][cell["command"]]]
    assert text == " ".join(words), text
    assert "open=cell." in window.run("return location.hash")
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
    open_page(window, large, "#slice=1e-8&family=Rover&cost=iterations&chosen=none")
    assert window.run("return document.querySelector('.controls button[aria-pressed=true]').textContent") == "1e-8"
    if window.run("return typeof Plotly !== 'undefined'"):
        assert in_colour(window) == []
    open_page(window, large, "#slice=99&family=nowhere&cost=<b>&open=cell.1e9&page=-1")
    assert window.run(RANKED) == 10
    expect_quiet(window)


# What the result and the tiles say of the solvers.
TILES = """return Object.fromEntries([...document.querySelectorAll("#runs .tile")]
    .map((tile) => [...tile.children].map((part) => part.textContent))
    .filter(([title]) => /^(Solver configurations|Cells|Solved by some solver)/.test(title))
    .map(([title, ...rest]) => [title, rest])
    .concat([["result", document.querySelector("#overview .result-line").textContent.replace(/ Among the .*/, "")]]))"""


def test_the_switch_ranks_the_others_as_a_report_without_own_methods_does(window, others):
    open_page(window, others.parent / "small")
    marks = "return [...document.querySelectorAll('#ranking-table small.own')].map((one) => one.textContent)"
    assert window.run(marks) == ["by Conebench's authors"]
    click(window, "#without-own")
    assert window.run(marks) == []
    tiles = window.run(TILES)
    wanted = page_data(others)
    shown = window.run("return conebench.rankings()")
    labels = window.run("return conebench.data.solvers.map((solver) => solver.label)")
    assert len(shown) == len(wanted["rankings"]) > 2
    for mine, one in zip(shown, wanted["rankings"]):
        for key in ("common_problems", "common_solvers", "solved_by_any", "best_of_all_s"):
            assert mine[key] == one[key] or abs(mine[key] / one[key] - 1) < 1e-4, (key, mine[key], one[key])
        assert [labels[row["solver"]] for row in mine["rows"]] \
            == [wanted["solvers"][row["solver"]]["label"] for row in one["rows"]]
        for row, his in zip(mine["rows"], one["rows"]):
            for key in ("solved_share", "times_best", "time_common_s", "time_at_limit_s", "time_cold_s", "rho_1"):
                assert row[key] == his[key] or abs(row[key] / his[key] - 1) < 1e-4, (key, row[key], his[key])
    assert "own=left" in window.run("return location.hash")
    click(window, "#without-own")
    assert window.run(marks) == ["by Conebench's authors"]
    assert window.run(TILES) != tiles
    expect_quiet(window)
    open_page(window, others)
    assert tiles == window.run(TILES)


def test_doubtful_times_are_marked_in_the_ranking(window, small):
    open_page(window, small)
    marks = "return [...document.querySelectorAll('#ranking-table .doubt')].map((one) => one.title)"
    assert window.run(marks) == []
    heads = window.run("return [...document.querySelectorAll('#ranking-table thead th')].map((one) => one.textContent)")
    assert heads[heads.index("Time, at limit") + 1] == "cold", heads
    window.run("conebench.data.rankings.forEach((one) => { one.doubt_text = 'doubtful times: X (2 cells: time not confirmed)';"
               "one.rows[0].doubts = {unconfirmed: 2}; }); conebench.update({family: conebench.data.families[0]})")
    title, = window.run(marks)
    assert title.startswith("2 cells: A fresh process did not come to the end"), title
    assert "? doubtful times: X (2 cells" in window.run("return document.getElementById('ranking').textContent")
    expect_quiet(window)


def test_the_ranking_fits_every_width(window, large):
    the_ranking_fits(window, large)


def test_the_ranking_fits_with_long_labels(window, grids):
    the_ranking_fits(window, grids)


def test_long_labels_wrap_where_they_are_cut_otherwise(window, grids):
    window.set_size(1400, 900)
    open_page(window, grids)
    window.run("conebench.data.solvers.forEach((s, i) => { s.label += ' initial_exponent=0.2 factorization=cholesky i=' + i; });"
               "conebench.update({family: conebench.data.families[0]})")
    draw_all(window)
    window.run("document.getElementById('profile-details').open = true")
    cut = window.run("""
        return ['ranking-table', 'profile-key', 'pairs'].map((id) => document.getElementById(id).closest('.scroll'))
            .map((one) => one.scrollWidth - one.clientWidth);""")
    assert cut == [0, 0, 0], cut
    window.set_size(1366, 768)


def the_ranking_fits(window, folder):
    for width, least, most in ((1400, 10, 14), (800, 5, 6), (420, 4, 4)):
        window.set_size(width, 900)
        open_page(window, folder)
        assert window.run("return document.documentElement.scrollWidth") <= width
        shown = window.run("""
            const box = document.getElementById("ranking-table").parentElement;
            const heads = [...box.querySelectorAll("thead th")].filter((one) => one.offsetWidth > 0);
            return [box.scrollWidth - box.clientWidth, heads.map((one) => one.textContent)];""")
        assert shown[0] <= 0, (width, shown)
        assert least <= len(shown[1]) <= most, (width, shown)
        assert {"Solver", "Solved share", "Time, at limit"} <= set(shown[1]), (width, shown)
    window.set_size(1366, 768)


def test_on_a_narrow_screen_tables_show_what_matters(window, large):
    window.set_size(420, 900)
    open_page(window, large)
    beside = "return [...document.querySelectorAll(arguments[0])].filter((one) => one.offsetWidth > 0 && " \
             "one.getBoundingClientRect().right <= window.innerWidth).map((one) => one.textContent.replace(/ [↑↓]/, ''))"
    assert {"Problem", "Solver", "Outcome", "Total"} <= set(window.run(beside, "#cell-table thead th")), \
        window.run(beside, "#cell-table thead th")
    assert len(window.run(beside, "#heat-table thead th")) >= 4, "the problem, its contacts and two solvers"
    window.run("document.getElementById('claims').open = true")
    assert len(window.run(beside, "#claim-table thead tr:last-child th")) >= 3, "the solver and two counts"
    window.set_size(1366, 768)


def test_problems_of_a_family_stand_in_order(window, large):
    open_page(window, large)
    family = {one["name"]: one["family"] for one in page_data(large)["problems"]}
    names = window.run("return [...document.querySelectorAll('#heat-table tbody th[scope=row]')].map((th) => th.title)")
    positions = [(family[name], [int(number) for number in re.findall("[0-9]+", name)]) for name in names]
    assert positions == sorted(positions) and max(positions)[1] > [9], positions


def test_problem_labels_show_what_differs(window, large):
    open_page(window, large)
    data = page_data(large)
    rows = window.run("return [...document.querySelectorAll('#heat-table tbody th[scope=row]')]"
                      ".map((th) => [th.title, th.querySelector('button').textContent])")
    families = window.run("return [...document.querySelectorAll('#heat-table tr.family-start th')].map((th) => th.textContent)")
    assert families == sorted({one["family"] for one in data["problems"]})
    family = {one["name"]: one["family"] for one in data["problems"]}
    seen = set()
    for name, label in rows:
        assert family[name] not in label and name.endswith(label.replace(" ", "-")), (name, label)
        assert (family[name], label) not in seen, "two problems of a family are called the same"
        seen.add((family[name], label))


def test_the_title_says_suite_day_and_build(window, large):
    open_page(window, large)
    title = window.run("return document.title")
    assert title == "synthetic · 2026-11-20 · Conebench 0.1.0 (0123abc)", title


def test_addresses_name_things_not_indices(window, large):
    open_page(window, large)
    window.run("conebench.update({slice: 2, solver: '3', open: 'problem.5', rank: '-rho1', at: 'profiles', panels: 'family'})")
    address = window.run("return location.hash")
    assert "slice=1e-8" in address and "open=problem.p-" in address and "solver=s-" in address, address
    state = window.run("return {...conebench.state}")
    open_page(window, large, address)
    assert window.run("return {...conebench.state}") == state
    assert window.run("return document.getElementById('details').open")


# Every text that is shown against what is behind it, after WCAG 2.1 (1.4.3): 4.5, or 3 where it is large.
CONTRAST = """
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
    const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const behind = (node) => {
      const layers = [];
      for (let at = node; at; at = at.parentElement) {
        const layer = rgba(getComputedStyle(at).backgroundColor);
        layers.push(layer);
        if (layer[3] > 0.999) break;
      }
      return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
    };
    const bad = new Map();
    let count = 0;
    for (const node of document.querySelectorAll("body *")) {
      const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
      if (!own || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      if (node.closest("script, noscript, :disabled, option") || node.getBoundingClientRect().width < 1) continue;
      const style = getComputedStyle(node);
      const back = behind(node);
      const ink = rgba(node instanceof SVGElement ? style.fill : style.color);
      let opacity = 1;
      for (let at = node; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
      ink[3] *= opacity;
      const [a, b] = [luminance(over(ink, back)), luminance(back)];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      count += 1;
      if (ratio < (large ? 3 : 4.5) - 0.005) {
        const key = `${node.tagName}.${node.getAttribute("class") ?? ""} in ${node.parentElement.className.baseVal ?? node.parentElement.className}`;
        if (!bad.has(key)) bad.set(key, `${ratio.toFixed(2)} "${node.textContent.slice(0, 30)}"`);
      }
    }
    return [count, [...bad]];"""


def test_every_text_has_the_contrast_of_wcag_aa(window, large):
    for theme in ("light", "dark"):
        open_page(window, large)
        if window.run("return document.documentElement.dataset.theme") != theme:
            click(window, "button.theme")
        window.run("conebench.update({panels: 'family', slice: 2})")
        window.run("for (const one of document.querySelectorAll('details')) one.open = true")
        draw_all(window)
        for view in ("", "cell.30", "problem.3", "solver.1"):
            window.run("conebench.update({open: arguments[0]})", view)
            window.run("for (const one of document.querySelectorAll('#details details')) one.open = true")
            count, bad = window.run(CONTRAST)
            assert count > 500 and not bad, (theme, view, bad)
        window.run("conebench.update({open: ''})")
    for theme in ("light", "dark"):
        lines = window.run("""
            document.documentElement.dataset.theme = arguments[0];
            const style = getComputedStyle(document.documentElement);
            return ["--card", ...Array.from({ length: 10 }, (_, i) => `--series-${i}`)].map((name) => style.getPropertyValue(name).trim());""", theme)
        levels = [luminance(one) for one in lines]
        for one, level in zip(lines[1:], levels[1:]):
            ratio = (max(level, levels[0]) + 0.05) / (min(level, levels[0]) + 0.05)
            assert ratio >= 4.5, (theme, one, ratio)


def luminance(colour):
    """Relative, of #rrggbb."""
    channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_ten_thousand_cells_do_not_stutter(window, huge):
    window.count_layouts()
    open_page(window, huge)
    expect_little_work(window, window.layouts())
    assert window.run("return conebench.cells.length") >= 10000
    window.run("document.getElementById('profiles').scrollIntoView()")
    for change in ("slice: 0", "family: conebench.data.families[1]", "cost: 'iterations', family: ''", "search: 'rover admm'",
                   "sort: '-time', search: ''", "open: 'cell.5000'"):
        before = window.layouts()
        # Until what is in sight is drawn.
        window.run(f"conebench.update({{{change}}}); document.body.offsetHeight;"
                   "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")
        expect_little_work(window, window.layouts() - before)
    expect_quiet(window)


def test_growth_has_the_exponents_of_a_fit(window, large):
    open_page(window, large, "#slice=1e-4")
    data = page_data(large)
    names = data["cells"]["names"]
    cells = [dict(zip(names, row)) for row in data["cells"]["rows"]]
    label = {solver["label"]: s for s, solver in enumerate(data["solvers"])}
    rows = window.run("return [...document.querySelectorAll('#growth-table tbody tr')]"
                      ".map((row) => [...row.cells].map((cell) => cell.textContent.trim()))")
    assert len(rows) == 5
    for name, exponent, error, count, _ in rows:
        points = [(math.log(data["problems"][c["problem"]]["contacts"]), math.log(c["total_median_s"])) for c in cells
                  if c["slice"] == 0 and c["solver"] == label[name] and c["outcome"] == "solved"
                  and data["problems"][c["problem"]]["counted"][0]]
        slope, intercept = statistics.linear_regression(*zip(*points))
        rest = sum((y - intercept - slope * x) ** 2 for x, y in points)
        spread = statistics.variance([x for x, _ in points]) * (len(points) - 1)
        assert abs(float(exponent) - slope) < 0.0051, (name, exponent, slope)
        assert abs(float(error) - math.sqrt(rest / (len(points) - 2) / spread)) < 0.0051, (name, error)
        asked = sum(problem["counted"][0] and problem["contacts"] > 0 for problem in data["problems"])
        assert count == f"{len(points)} of {asked}", count


@of_charts
def test_a_trace_is_drawn_from_its_file(window, large):
    open_page(window, large)
    window.run("conebench.update({open: 'cell.40'})")
    assert "--trace trace.csv" in window.run("return document.getElementById('details').textContent")
    window.run("""
        document.querySelector("#details details.fold").open = true;
        const box = document.getElementById("trace-file");
        const files = new DataTransfer();
        files.items.add(new File([arguments[0]], arguments[1]));
        box.files = files.files;
        box.dispatchEvent(new Event("change"));""",
               "iteration,seconds,own_residual,natural_map_scaled\n1,0.1,,2\n2,0.2,1e-2,3e-3\n9,0.3,1e-8,2e-9\n", "trace.csv")
    window.wait(CURVES.format("convergence-chart") + " === 3")
    expect_quiet(window)


def test_what_changed_since_the_last_run(window, since):
    open_page(window, since)
    text = window.run("return document.getElementById('since-view').textContent")
    page = (since / "index.html").read_text(encoding="utf-8")
    begin = page.index('id="since">') + len('id="since">')
    data = json.loads(page[begin:page.index("</script>", begin)])
    assert data["headline"] in text and "worse" in data["headline"], data["headline"]
    shown = window.run("return [...document.querySelectorAll('#since-view .card > .scroll tbody tr')].map((row) => "
                       "[row.cells[0].textContent, row.cells[1].textContent])")
    reported = [one for part in data["slices"] for one in part["configurations"] if one["assessment"] in ("worse", "better")]
    assert len(shown) == len(reported) > 0
    for (name, change), one in zip(shown, reported):
        assert name.endswith(one["configuration"])
        if one["times"]:
            number = float(change.replace("−", "-").rstrip("\u00a0%"))
            assert abs(number - 100 * math.expm1(one["times"]["corrected"])) < 0.06 * max(1, abs(number) / 10), (change, one)
    lost = next(one for one in data["changed_cells"] if one["change"] == "lost")
    rows = window.run("return [...document.querySelectorAll('#since-view details tbody tr')].map((row) => row.textContent)")
    assert any("lost" in row and lost["problem"] in row and lost["configuration"] in row for row in rows), rows[:3]
    window.run("document.querySelector('#since-view details').open = true")
    click(window, "#since-view details .link")
    assert window.run("return document.getElementById('details').open")
    expect_quiet(window)


def test_without_an_earlier_run_nothing_is_said_of_changes(window, small):
    open_page(window, small)
    shown = window.run("return [document.getElementById('since-view'), document.querySelector('nav a[href=\"#since-view\"]')]"
                       ".map((one) => one.checkVisibility())")
    assert shown == [False, False], shown


@of_charts
def test_configurations_of_a_grid_are_distinguished(window, grids):
    open_page(window, grids)
    data = page_data(grids)
    text = window.run("return document.getElementById('options').textContent")
    for i, study in enumerate(data["option_studies"]):
        values = " ".join(f"{axis['option']} = {axis['values'][position]:g}" for axis, position in
                          zip(study["axes"], study["configurations"][study["recommended"]]["indices"]))
        assert values.split(" ")[0] in text
        shown = [float(number) for number in re.findall(r"but one takes ([0-9.e]+) ×", text)]
        assert abs(shown[i] / study["unseen_times_best"] - 1) < 6e-3, (shown, study["unseen_times_best"])
        if len(study["axes"]) == 1:
            draw_all(window)
            assert window.run(f"return document.querySelectorAll('#response-{i} path.point').length") == len(study["configurations"])
            assert window.run(f"return document.querySelectorAll('#response-{i} path.js-fill').length") == 1
    heat = window.run("return [...document.querySelectorAll('table.response td.heat[data-configuration]')]"
                      ".map((td) => [td.dataset.configuration, parseFloat(td.textContent), td.classList.contains('best')])")
    study = next(one for one in data["option_studies"] if len(one["axes"]) == 2)
    assert len(heat) == len(study["configurations"]) == 12
    for position, shown, best in heat:
        configuration = study["configurations"][int(position)]
        assert abs(shown / configuration["times_best"] - 1) < (6e-2 if shown >= 1e4 else 6e-3), (shown, configuration)
        assert best == (int(position) == study["recommended"])
    family = data["families"][1]
    window.run("conebench.update({family: arguments[0]})", family)
    heat = window.run("return [...document.querySelectorAll('table.response td.heat[data-configuration]')]"
                      ".map((td) => [td.dataset.configuration, parseFloat(td.textContent)])")
    for position, shown in heat:
        assert abs(shown / study["configurations"][int(position)]["by_family"][1] - 1) < (6e-2 if shown >= 1e4 else 6e-3)
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
        draw_all(window)
        assert window.run(CURVES.format("performance-chart")) == 4
    expect_quiet(window)


def test_without_charts(window, plain):
    open_page(window, plain)
    assert "fetch_plotly.sh" in window.run("return document.getElementById('profiles').textContent")
    assert window.run("return document.querySelectorAll('#profile-key tbody tr').length") == 4
    expect_quiet(window)


def test_empty_store(window, empty):
    open_page(window, empty)
    assert "Nothing was measured" in window.run("return document.body.textContent")
    expect_quiet(window)


def without_charts(folder, out):
    out.mkdir()
    page = (folder / "index.html").read_text(encoding="utf-8")
    (out / "index.html").write_text(without_library(page), encoding="utf-8")
    return out


def with_stages(folder, out):
    """The page of solvers that solve most by different stages."""
    data = page_data(folder)
    names = data["cells"]["names"]
    stage, solver, problem = (names.index(name) for name in ("stage", "solver", "problem"))
    for row in data["cells"]["rows"]:
        if row[stage]:
            row[stage] = ("newton", "sweeps", "interior-point")[(row[solver] + (row[problem] % 5 > 2)) % 3]
    page = (folder / "index.html").read_text(encoding="utf-8")
    begin = page.index('id="data">') + len('id="data">')
    out.mkdir()
    (out / "index.html").write_text(page[:begin] + packed(json.dumps(data))
                                    + page[page.index("</script>", begin):], encoding="utf-8")
    return out


def main():
    with temporary_folder() as name, browser.Browser() as window:
        folders = {what: write_report(where, f"{name}/{what}")
                   for what, where in (("large", 56), ("huge", 300), ("grids", "grids"), ("since", "since"), ("small", "small"), ("others", "others"),
                                       ("empty", 0))}
        folders["plain"] = without_charts(folders["small"], Path(name) / "plain")
        folders["stages"] = with_stages(folders["large"], Path(name) / "stages")
        open_page(window, folders["small"])
        charts = window.run("return typeof Plotly !== 'undefined'")
        for test in [value for key, value in globals().items() if key.startswith("test_")]:
            if getattr(test, "of_charts", False) and not charts:
                print(f"{test.__name__[5:].replace('_', ' ')}: this build has no charts")
                continue
            started = time.monotonic()
            wanted = test.__code__.co_varnames[1]
            test(window, folders[wanted])
            print(f"{test.__name__[5:].replace('_', ' ')}: {time.monotonic() - started:.1f} s")


main()
