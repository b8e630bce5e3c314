"""python3 -m conebench.phenomena REQUEST: what `conebench phenomena` starts, with its options as JSON.
python3 -m conebench.phenomena worker ENGINE: an engine's process."""

import json
import signal
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Set

from .catalogue import catalogue
from .compare import compare, comparison_text
from .page import write_page
from .results import Cell, Key, read_cells
from .run import Bad, Options, Wrong, run
from .tables import csv_text, latex, markdown, summary_text
from .worker import serve, table


schema = "conebench.phenomena/2"


def list_all(as_json: bool) -> None:
    if as_json:
        print(json.dumps({"schema": schema, "phenomena": [{"id": one.id, "group": one.group, "title": one.title, "law": one.law,
                                         "quantity": one.quantity, "unit": one.unit, "cases": list(one.cases)}
                                        for one in catalogue.values()], "engines": list(table)}))
        return
    width = max(map(len, catalogue))
    for group in dict.fromkeys(one.group for one in catalogue.values()):
        print(f"{group}:")
        for one in catalogue.values():
            if one.group == group:
                print(f"  {one.id:{width}}  {one.title}: {'; '.join(one.cases)}")
    print(f"engines: {', '.join(table)}, or a file of one's own")


def _before(name: str) -> List[Cell]:
    """Of results.jsonl or its folder."""
    if not Path(name).exists():
        raise Bad(f"--compare {name}: no such file or folder")
    try:
        return read_cells(name)
    except ValueError as error:
        raise Bad(f"--compare {error}") from None


def _compare(before: List[Cell], cells: List[Cell], asked: Set[Key], absent: List[str]) -> "tuple[str, bool]":
    """The changes of the cells that were asked for as text, and whether one got worse; an engine that did not start is
    worse than any cell."""
    changes = compare([cell for cell in before if cell.key in asked], [cell for cell in cells if cell.key in asked])
    text = "".join(f"{engine} did not start.\n" for engine in absent) + comparison_text(changes)
    return text, bool(absent) or any(change.kind == "worse" for change in changes)


def main(request: Mapping[str, Any]) -> int:
    """The exit code."""
    given: Dict[str, Any] = dict(request)
    if given.pop("list", False):
        list_all(bool(given.get("json")))
        return 0
    options = Options(**given)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    output = sys.stderr if options.json else sys.stdout
    try:
        before = _before(options.compare) if options.compare else []
        cells, about, asked = run(options, lambda line: print(line, file=output, flush=True))
        out = Path(options.out)
        write_page(out, out)
        every = options.variants != Options().variants
        for name, text in (("table.md", markdown(cells, about, every)), ("table.tex", latex(cells, about, every)),
                           ("table.csv", csv_text(cells))):
            (out / name).write_text(text)
        absent = [name for name, one in about["engines"].items() if one["missing"] and "all" not in options.engines]
        changes, worse = _compare(before, cells, asked, absent) if options.compare else ("", False)
    except Wrong as wrong:
        print(f"conebench: phenomena: {wrong}", file=sys.stderr)
        return 2
    except Bad as bad:
        print(f"conebench: phenomena: {bad}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"conebench: phenomena: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print(f"conebench: phenomena: interrupted; the same command goes on from {options.out}", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps({"schema": schema, "run": about, "cells": [json.loads(cell.line()) for cell in cells], "worse": worse}))
    else:
        print()
        print(summary_text(cells, about, every))
        if changes:
            print(changes)
        print(f"{out / 'index.html'}: the page; beside it table.md, table.tex, table.csv and results.jsonl")
    if worse and options.fail_on == "worse":
        return 1
    if not any(cell.outcome == "measured" for cell in cells):
        return 5
    return 4 if any(cell.outcome in ("crashed", "failed", "time limit") for cell in cells) else 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "worker":
        serve(sys.argv[2])
    else:
        sys.exit(main(json.loads(sys.argv[1])))
