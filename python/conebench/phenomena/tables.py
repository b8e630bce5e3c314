"""A run's cells as tables: for a terminal, in Markdown, LaTeX and CSV. Of several cases the worst stands for all."""

import csv
import io
import json
import math
import re
import textwrap
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from .grades import (Grade, Grid, Row, Run, badness, engines_of, grade, milliseconds, outcome_labels, short, tried,
                     unit_of, with_unit)
from .results import Cell


def _entry(cell: Optional[Cell], as_error: bool) -> str:
    if cell is None:
        return ""
    return outcome_labels.get(cell.outcome) or short(cell.error if as_error else cell.value)


def _exact(value: Optional[float]) -> str:
    return "error" if value is None else short(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _counts(cells: Sequence[Cell]) -> str:
    """Right and tried."""
    count = sum(map(tried, cells))
    return f"{sum(grade(cell) is Grade.right for cell in cells)}/{count}" if count else "–"


def _of_group(grid: Grid, row: Row, group: str) -> List[Cell]:
    return [cell for one in grid.phenomena if one["group"] == group for cell in grid.cells(row, one["id"])]


def _head(run: Run, grid: Grid) -> str:
    steps = ", ".join(map(milliseconds, grid.time_steps))
    parts = [f"conebench {run.get('conebench', '')}".strip(), run.get("date", ""),
             f"time step {steps}" if steps else "", "quick: not every case" if run.get("quick") else ""]
    return "; ".join(part for part in parts if part)


def engine_lines(cells: Sequence[Cell], run: Run) -> List[Tuple[str, str, str, str, str]]:
    """Engine, package, version, release date, and why it is missing."""
    lines = []
    for engine in engines_of(cells, run):
        one = run.get("engines", {}).get(engine, {})
        about = one.get("about") or {}
        lines.append((engine, one.get("package", ""), about.get("version", ""), about.get("released", ""),
                      one.get("missing", "")))
    return lines


# Markdown

def markdown(cells: Sequence[Cell], run: Run, every_variant: bool = False) -> str:
    """The counts of right cells by group, a table a group, what was measured, and the engines."""
    grid = Grid(cells, run, every_variant)
    parts = ["# Contact and friction, engine by engine", _head(run, grid),
             "Cells that are right of those tried, without those whose scene an engine cannot represent:",
             _markdown_table(["engine", *grid.groups, "all"],
                             [[grid.label(row), *(_counts(_of_group(grid, row, group)) for group in grid.groups),
                               _counts(grid.cells(row))] for row in grid.rows])]
    parts.append("Below, ✓ is right within what the time step explains. Of several cases the worst stands for all; "
                 "where their exact values differ, numbers are errors.")
    for group in grid.groups:
        found = [one for one in grid.phenomena if one["group"] == group]
        parts += [f"## {_markdown(_capital(group))}", _markdown_values(grid, found), *map(_markdown_law, found)]
    parts += ["## Engines", _markdown_table(["engine", "package", "version", "released", "missing"],
                                            engine_lines(cells, run))]
    return "\n\n".join(parts) + "\n"


def _markdown_values(grid: Grid, phenomena: Sequence[Mapping[str, Any]]) -> str:
    exact = {one["id"]: grid.exact(one["id"]) for one in phenomena}
    heads = [one["title"] + (f" [{unit_of(one)}]" if unit_of(one) else "") for one in phenomena]
    first = ["exact", *(_exact(exact[one["id"]]) for one in phenomena)]
    body = [[grid.label(row), *(_markdown_entry(grid.worst(row, one["id"]), exact[one["id"]] is None)
                                for one in phenomena)] for row in grid.rows]
    return _markdown_table(["engine", *heads], [first, *body])


def _markdown_entry(cell: Optional[Cell], as_error: bool) -> str:
    return ("✓ " if cell is not None and grade(cell) is Grade.right else "") + _entry(cell, as_error)


def _markdown_law(phenomenon: Mapping[str, Any]) -> str:
    quantity = f" Measured: {phenomenon['quantity']}." if phenomenon.get("quantity") else ""
    return f"**{_markdown(phenomenon['title'])}.** {_markdown(phenomenon.get('law', '') + quantity)}".strip()


def _markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    text = ["| " + " | ".join(line if i == 1 else map(_markdown, line)) + " |" for i, line in enumerate(lines)]
    return "\n".join([*text, *("| " + " | ".join(map(_markdown, row)) + " |" for row in rows)])


def _markdown(text: str) -> str:
    """On one line, with what Markdown would read as markup escaped."""
    return "".join("\\" + letter if letter in "\\|*_`<[#" else letter for letter in " ".join(text.split()))


# LaTeX

def latex(cells: Sequence[Cell], run: Run, every_variant: bool = False) -> str:
    """A table a group and one of the engines, to \\input; needs booktabs and graphicx."""
    grid = Grid(cells, run, every_variant)
    parts = [f"% {_one_line(_head(run, grid))}\n% Needs \\usepackage{{booktabs,graphicx}}\n"]
    for group in grid.groups:
        parts.append(_latex_group(grid, group, [one for one in grid.phenomena if one["group"] == group]))
    engines = [[one or "–" for one in line[:4]] for line in engine_lines(cells, run)]
    caption = f"Engines of the tables on contact and friction ({_latex(_head(run, grid))})."
    parts.append(_latex_table(caption, "engines", "llll", ["engine", "package", "version", "released"],
                              [[_latex(one) for one in line] for line in engines]))
    return "\n".join(parts)


def _latex_group(grid: Grid, group: str, phenomena: Sequence[Mapping[str, Any]]) -> str:
    exact = {one["id"]: grid.exact(one["id"]) for one in phenomena}
    heads = [_latex_head(one["title"], unit_of(one)) for one in phenomena]
    first = ["exact", *(_latex(_exact(exact[one["id"]])) for one in phenomena)]
    body = [[_latex(grid.label(row)), *(_latex_entry(grid.worst(row, one["id"]), exact[one["id"]] is None)
                                        for one in phenomena)] for row in grid.rows]
    errors = " Where the exact value differs by case: the error." if None in exact.values() else ""
    caption = (f"{_latex(_capital(group))}: the worst case of each phenomenon. Bold: right within what the time step "
               f"explains. Dash: the engine lacks an element of the scene.{errors}")
    return _latex_table(caption, _label(group), "l" + "r" * len(heads), ["", *heads], [first, None, *body])


def _latex_entry(cell: Optional[Cell], as_error: bool) -> str:
    if cell is None:
        return ""
    of = grade(cell)
    if of in (Grade.cannot, Grade.missing):
        return "--"
    text = _latex(_entry(cell, as_error))
    return f"\\textbf{{{text}}}" if of is Grade.right else f"\\emph{{{text}}}" if of is Grade.failed else text


def _latex_head(title: str, unit: str) -> str:
    """Broken into short lines, since a table has many."""
    lines = textwrap.wrap(_one_line(title), 13, break_long_words=False) + ([f"[{unit}]"] if unit else [])
    return "\\shortstack[r]{" + "\\\\".join(f"{{{_latex(line)}}}" for line in lines) + "}"


def _latex_table(caption: str, label: str, columns: str, heads: Sequence[str],
                 rows: Sequence[Optional[Sequence[str]]]) -> str:
    """Across both columns of a page if much wider than one, and made smaller where it is wider yet. None: a rule."""
    names = max((len(row[0]) for row in rows if row), default=0)
    wide = 4.3 * (names + 11 * (len(heads) - 1)) + 8 * len(heads) > 300  # points; a column of IEEE's style has 252
    name, width = ("table*", "\\textwidth") if wide else ("table", "\\columnwidth")
    body = "".join("\\midrule\n" if row is None else " & ".join(row) + " \\\\\n" for row in rows)
    fit = f"\\resizebox{{\\ifdim\\width>{width}{width}\\else\\width\\fi}}{{!}}{{%\n"
    return (f"\\begin{{{name}}}\n\\centering\\footnotesize\\setlength{{\\tabcolsep}}{{4pt}}\n\\caption{{{caption}}}\n"
            f"\\label{{tab:phenomena-{label}}}\n{fit}\\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n\\toprule\n"
            f"{' & '.join(heads)} \\\\\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}}}\n\\end{{{name}}}\n")


def _label(text: str) -> str:
    return "-".join(re.findall("[a-z0-9]+", text.lower()))


_latex_of = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "&": "\\&", "#": "\\#", "%": "\\%", "_": "\\_",
    "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}",
    "|": "\\textbar{}", '"': "\\textquotedbl{}", "'": "\\textquoteright{}", "`": "\\textasciigrave{}",
    "[": "{[}", "]": "{]}", "µ": "\\textmu{}", "–": "--", "—": "---", "…": "\\ldots{}", "\u00a0": "~", "\u202f": "\\,",
    "’": "\\textquoteright{}", "‘": "\\textquoteleft{}", "“": "\\textquotedblleft{}", "”": "\\textquotedblright{}",
    "ä": '\\"a', "ö": '\\"o', "ü": '\\"u', "é": "\\'e", "è": "\\`e", "ß": "\\ss{}",
    **{letter: f"\\ensuremath{{{name}}}" for letter, name in {
        "−": "-", "×": "\\times", "·": "\\cdot", "±": "\\pm", "≤": "\\le", "≥": "\\ge", "≈": "\\approx", "≠": "\\ne",
        "→": "\\to", "∞": "\\infty", "°": "^\\circ", "√": "\\surd", "½": "\\frac12", "∝": "\\propto", "∂": "\\partial",
        "⁺": "^+", "⁻": "^-", "ᵀ": "^T", "₀": "_0", "₁": "_1", "₂": "_2", "α": "\\alpha", "β": "\\beta",
        "γ": "\\gamma", "δ": "\\delta", "ε": "\\varepsilon", "η": "\\eta", "θ": "\\theta", "κ": "\\kappa",
        "λ": "\\lambda", "μ": "\\mu", "ν": "\\nu", "π": "\\pi", "ρ": "\\rho", "σ": "\\sigma", "τ": "\\tau",
        "φ": "\\varphi", "ψ": "\\psi", "ω": "\\omega", "Γ": "\\Gamma", "Δ": "\\Delta", "Σ": "\\Sigma", "Φ": "\\Phi",
        "Ω": "\\Omega", **{letter: f"^{place}" for place, letter in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}}.items()},
}


def _latex(text: str) -> str:
    """As LaTeX sets it letter by letter; letters that it may not know by their number."""
    out = ""
    for letter in _one_line(text):
        out += "{}" if letter == "-" and out.endswith("-") else ""  # no ligature
        out += _latex_of.get(letter) or (letter if letter.isascii() else f"{{[}}U+{ord(letter):04X}{{]}}")
    return out


# CSV

_verdict_columns = [(name, part) for name in ("equation of motion", "cone", "natural map", "penetration", "energy gain")
                    for part in ("max", "median", "unit")]


def csv_text(cells: Sequence[Cell]) -> str:
    """A line a cell; facts as JSON."""
    names = ["phenomenon", "case", "engine", "variant", "time_step", "outcome", "value", "exact", "allowed", "scale",
             "upper_bound", "error", "right", "element", "message", "seconds"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, *(f"{name}_{part}".replace(" ", "_") for name, part in _verdict_columns), "facts"])
    for cell in cells:
        judged = {name.replace("_", " "): verdict or {} for name, verdict in cell.verdicts.items()}
        verdicts = [judged.get(name, {}).get(part) for name, part in _verdict_columns]
        writer.writerow([*(_csv(getattr(cell, name)) for name in names), *map(_csv, verdicts),
                         json.dumps(cell.facts, ensure_ascii=False) if cell.facts else ""])
    return out.getvalue()


def _csv(value: Any) -> Any:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value


# Terminal

def summary_text(cells: Sequence[Cell], run: Run, every_variant: bool = False, width: int = 100,
                 worst: int = 8) -> str:
    """Right of tried by group, then the worst cells in sentences, and what failed or is not installed."""
    grid = Grid(cells, run, every_variant)
    lines = [f"Right of tried ({_head(run, grid)})", *_count_lines(grid, width)]
    for title, sentences in (
            ("Worst", _sentences(grid, lambda of: Grade.near <= of <= Grade.lost, worst, "are wrong")),
            ("Failed", _sentences(grid, lambda of: of is Grade.failed, worst, "failed")),
            ("Not installed", _not_installed(grid))):
        if sentences:
            lines += ["", title, *(line for one in sentences for line in textwrap.wrap(
                one, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False))]
    return "\n".join(lines) + "\n"


def _count_lines(grid: Grid, width: int) -> List[str]:
    """As many groups beside each other as the width holds."""
    labels = [_cut(grid.label(row), width // 3) for row in grid.rows]
    first = max(map(len, labels), default=0)
    columns = [(textwrap.wrap(group, 11), [_counts(_of_group(grid, row, group)) for row in grid.rows])
               for group in grid.groups]
    columns.append((["all"], [_counts(grid.cells(row)) for row in grid.rows]))
    blocks: List[List[Tuple[List[str], List[str], int]]] = [[]]
    for head, body in columns:
        size = 2 + max(map(len, [*head, *body]))
        if blocks[-1] and first + sum(one[2] for one in blocks[-1]) + size > width:
            blocks.append([])
        blocks[-1].append((head, body, size))
    return [line for number, block in enumerate(blocks)
            for line in ([""] if number else []) + _block(labels, first, block)]


def _block(labels: Sequence[str], first: int, block: Sequence[Tuple[List[str], List[str], int]]) -> List[str]:
    height = max(len(head) for head, _, _ in block)
    heads = [[""] * (height - len(head)) + head for head, _, _ in block]
    lines = [" " * first + "".join(f"{head[i]:>{size}}" for head, (_, _, size) in zip(heads, block))
             for i in range(height)]
    return lines + [f"{label:<{first}}" + "".join(f"{body[i]:>{size}}" for _, body, size in block)
                    for i, label in enumerate(labels)]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most - 1] + "…"


def _worst_of_each(grid: Grid, wanted: Callable[[Grade], bool]) -> List[Tuple[Row, Mapping[str, Any], Cell]]:
    """An engine's worst cell of a phenomenon, the worst first."""
    found: Dict[Tuple[str, str], Tuple[Row, Mapping[str, Any], Cell]] = {}
    for row in grid.rows:
        for one in grid.phenomena:
            for cell in grid.cells(row, one["id"]):
                before = found.get((row.engine, one["id"]))
                if wanted(grade(cell)) and (before is None or badness(cell) > badness(before[2])):
                    found[row.engine, one["id"]] = (row, one, cell)
    return sorted(found.values(), key=lambda one: badness(one[2]), reverse=True)


def _sentences(grid: Grid, wanted: Callable[[Grade], bool], most: int, word: str) -> List[str]:
    """Of many engines at most two each, so that one bad engine does not fill them all."""
    found = _worst_of_each(grid, wanted)
    shown: List[str] = []
    seen: List[str] = []
    each = max(2, math.ceil(most / max(1, len({row.engine for row in grid.rows}))))
    for row, one, cell in found:
        if len(shown) < most and seen.count(row.engine) < each:
            seen.append(row.engine)
            shown.append(f"{grid.label(row)}: {sentence(cell, one)}")
    more = len(found) - len(shown)
    return shown + ([f"and {more} more that {word}"] if more else [])


def _not_installed(grid: Grid) -> List[str]:
    engines = grid.run.get("engines", {})
    return [f"{name}: {one['missing']}" for name, one in sorted(engines.items()) if one.get("missing")]


def sentence(cell: Cell, phenomenon: Mapping[str, Any]) -> str:
    """What a cell says: "Creep (mu = 0.5): 1300 µm/s where 0 is right"."""
    what = f"{phenomenon.get('title', cell.phenomenon)} ({cell.case})"
    unit = unit_of(phenomenon)
    if cell.outcome == "measured":
        bound = "at most " if cell.upper_bound else ""
        within = f", within {short(cell.allowed)}" if cell.allowed else ""
        value = "no value" if cell.value is None else with_unit(cell.value, unit)
        return f"{what}: {value} where {bound}{with_unit(cell.exact, unit)} is right{within}"
    if cell.outcome == "cannot":
        return f"{what}: cannot, it has no {cell.element}" if cell.element else f"{what}: cannot"
    message = _one_line(cell.message)
    parts = (message,) if message.startswith(cell.outcome) else (cell.outcome, message)
    return f"{what}: " + ", ".join(filter(None, parts))
