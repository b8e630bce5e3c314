"""Measures phenomena on engines, each in processes of its own, and writes what came of it."""

import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .. import __version__
from .catalogue import catalogue
from .phenomenon import Phenomenon
from .results import Cell, Key, drop_unfinished, read_cells
from .worker import table


class Wrong(Exception):
    """Wrong usage: one line."""


class Bad(Exception):
    """A file or folder that can't be used: one line."""


@dataclass
class Options:
    """What `conebench phenomena` takes, by the names of its options."""

    out: str = "phenomena"
    engines: List[str] = field(default_factory=lambda: ["all"])  # ids, or files of one's own
    variants: List[str] = field(default_factory=lambda: ["default", "best"])  # or all
    phenomena: List[str] = field(default_factory=list)  # ids or groups; none: all
    cases: List[str] = field(default_factory=list)
    time_steps: List[float] = field(default_factory=lambda: [0.005])
    quick: bool = False
    jobs: int = 2
    time_limit: float = 60.0  # of a cell [s]
    retry: List[str] = field(default_factory=list)  # outcomes
    replace: bool = False
    compare: str = ""  # results.jsonl or its folder
    fail_on: str = "none"
    json: bool = False


class Process:
    """An engine's process, started when it is needed and again after it died."""

    start_limit = 600.0  # [s]: an engine may compile at its first import

    def __init__(self, name: str) -> None:
        self.name = name
        self.process: Optional[subprocess.Popen[str]] = None
        self.log = tempfile.TemporaryFile("w+", errors="replace")
        self.description: Dict[str, Any] = {}

    def start(self) -> Dict[str, Any]:
        self.log.seek(0)
        self.log.truncate()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen([sys.executable, "-m", "conebench.phenomena", "worker", self.name],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env=environment, start_new_session=True)
        line = self._line(self.start_limit)
        self.description = json.loads(line) if line else {"broken": self.end("did not start")}
        return self.description

    def measure(self, request: Mapping[str, Any], limit: float) -> Cell:
        """A crash or an overrun costs this cell alone."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        assert self.process is not None and self.process.stdin is not None
        start = time.monotonic()
        cell = Cell(request["phenomenon"], request["case"], request["engine"], request["variant"], request["time_step"],
                    "crashed")
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass
        line = self._line(limit)
        if line:
            return Cell.of_line(line)
        cell.seconds = time.monotonic() - start
        if self.process.poll() is None and cell.seconds >= limit:
            cell.outcome, cell.message = "time limit", f"killed after {limit:g} s"
            self.close()
        else:
            cell.message = self.end("")
        return cell

    def _line(self, limit: float) -> str:
        """The next one, or "" at its end or at the limit."""
        assert self.process is not None and self.process.stdout is not None
        found: List[str] = []
        reader = threading.Thread(target=lambda: found.append(self.process.stdout.readline()), daemon=True)
        reader.start()
        reader.join(limit)
        return found[0] if found else ""

    def end(self, what: str) -> str:
        """Why it ended: the signal, and the last line that it wrote to its standard error."""
        assert self.process is not None
        code = self.process.wait()
        self.log.seek(0)
        said = [line.strip() for line in self.log.read().split("\n") if line.strip()]
        ended = f"signal {-code}" if code < 0 else f"exit code {code}"
        self.close()
        return "; ".join(part for part in (what, ended, said[-1][:200] if said else "") if part)

    def close(self) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            try:
                os.killpg(self.process.pid, 9)
            except ProcessLookupError:
                pass
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        self.process = None


def chosen_phenomena(options: Options) -> List[Tuple[Phenomenon, str]]:
    """With the cases. Raises Wrong for a name that there is not."""
    groups = {one.group for one in catalogue.values()}
    for name in options.phenomena:
        if name not in catalogue and name not in groups:
            raise Wrong(f"--phenomena: no phenomenon or group {name!r}; see `conebench phenomena --list`")
    named = [one for one in catalogue.values()
             if not options.phenomena or one.id in options.phenomena or one.group in options.phenomena]
    cases = []
    for one in named:
        quick = one.quick or tuple(one.cases)[:1]
        names = [name for name in one.cases if not options.quick or name in quick or name in options.cases]
        cases += [(one, name) for name in names if not options.cases or name in options.cases]
    if not cases:
        raise Wrong(f"--case: none of these phenomena has a case {', '.join(map(repr, options.cases))}")
    return cases


def chosen_engines(names: Sequence[str]) -> List[str]:
    """Ids and files. Raises Wrong for one that there is not."""
    found: List[str] = []
    for name in names:
        if name == "all":
            found += table
        elif name.endswith(".py"):
            if not os.path.isfile(name):
                raise Bad(f"{name}: no such file; `conebench new engine NAME` writes one")
            found.append(os.path.abspath(name))
        elif name.upper() in table:
            found.append(name.upper())
        else:
            raise Wrong(f"--engines: {name!r} is neither one of {', '.join(table)} nor a file NAME.py")
    return list(dict.fromkeys(found))


@dataclass
class _Run:
    options: Options
    say: Callable[[str], None]
    known: Dict[Key, Cell]
    before: Dict[str, Dict[str, Any]]  # engines of run.json
    engines: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: bool = False
    done: int = 0

    def write(self, cell: Cell) -> None:
        with self.lock:
            with open(Path(self.options.out) / "results.jsonl", "a") as file:
                file.write(cell.line() + "\n")
            self.known[cell.key] = cell
            self.done += 1

    def work(self, name: str, cells: Sequence[Tuple[Phenomenon, str]]) -> None:
        """All cells of an engine that are not there."""
        process = Process(name)
        try:
            described = process.start()
            if "missing" in described or "broken" in described:
                label = name if name in table else os.path.basename(name)
                self.engines[label] = {"package": "", "about": {}, "variants": {},
                                       "missing": described.get("missing", described.get("broken", ""))}
                self.say(f"{label}: left out: {self.engines[label]['missing']}")
                return
            engine = str(described["id"])
            self.engines[engine] = {**{k: described[k] for k in ("package", "about", "variants")}, "missing": "",
                                    **({} if name in table else {"file": name})}
            self._same_version(engine)
            variants = self._variants(engine, described["variants"])
            requests = [{"phenomenon": one.id, "case": case, "engine": engine, "variant": variant, "time_step": step,
                         "quick": self.options.quick}
                        for variant in variants for step in self.options.time_steps for one, case in cells]
            left = [request for request in requests if self._wanted(request)]
            start, right, measured = time.monotonic(), 0, 0
            for request in left:
                if self.stop:
                    return
                cell = process.measure(request, self.options.time_limit)
                self.write(cell)
                measured += cell.outcome == "measured"
                right += bool(cell.right)
            self.say(f"{engine} {described['about'].get('version', '')}: {len(left)} cells, {measured} measured, {right} "
                     f"right, {time.monotonic() - start:.0f} s"
                     + (f"; {len(requests) - len(left)} were there" if len(left) < len(requests) else ""))
        finally:
            process.close()

    def _same_version(self, engine: str) -> None:
        before = self.before.get(engine, {}).get("about")
        now = self.engines[engine]["about"]
        if before and before.get("version") != now.get("version") and any(key[2] == engine for key in self.known):
            raise Bad(f"{self.options.out} holds results of {engine} {before.get('version')}, this is {now.get('version')}; "
                      "take another --out, or --replace")

    def _variants(self, engine: str, has: Mapping[str, Any]) -> List[str]:
        if "all" in self.options.variants:
            return list(has)
        return [name for name in self.options.variants if name in has]

    def _wanted(self, request: Mapping[str, Any]) -> bool:
        key = tuple(request[name] for name in ("phenomenon", "case", "engine", "variant", "time_step"))
        cell = self.known.get(key)  # type: ignore[arg-type]
        return cell is None or cell.outcome in self.options.retry


def _machine() -> Dict[str, str]:
    cpu = ""
    try:
        with open("/proc/cpuinfo") as file:
            cpu = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        pass
    return {"cpu": cpu or platform.processor(), "system": f"{platform.system()} {platform.machine()}"}


def run(options: Options, say: Callable[[str], None] = print) -> Tuple[List[Cell], Dict[str, Any]]:
    """The cells that were asked for, those of earlier runs in the folder included, and what run.json holds. Raises Wrong
    and Bad. Interrupted, it leaves all cells that were done."""
    cells = chosen_phenomena(options)
    names = chosen_engines(options.engines)
    out = Path(options.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        if options.replace:
            for file in ("results.jsonl", "run.json"):
                (out / file).unlink(missing_ok=True)
        before = json.loads((out / "run.json").read_text()) if (out / "run.json").exists() else {}
    except (OSError, ValueError) as error:
        raise Bad(f"--out {out}: {error}") from None
    if before and before.get("quick") != options.quick:
        raise Bad(f"{out} holds results {'with' if before.get('quick') else 'without'} --quick; take another --out, or "
                  "--replace")
    drop_unfinished(out)
    try:
        known = {cell.key: cell for cell in read_cells(out)}
    except ValueError as error:
        raise Bad(f"{error}; remove the line") from None
    state = _Run(options, say, known, before.get("engines", {}))
    errors: List[BaseException] = []
    queue = list(names)

    def take() -> None:
        while queue and not state.stop and not errors:
            try:
                state.work(queue.pop(0), cells)
            except IndexError:
                return
            except BaseException as error:
                errors.append(error)

    threads = [threading.Thread(target=take) for _ in range(max(1, min(options.jobs, len(names))))]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
    except KeyboardInterrupt:
        state.stop = True
        for thread in threads:
            thread.join()
        errors.append(KeyboardInterrupt())
    about = {"conebench": __version__, "date": time.strftime("%Y-%m-%d"), "machine": _machine(), "quick": options.quick,
             "time_steps": sorted({*before.get("time_steps", []), *options.time_steps}),
             "engines": {**before.get("engines", {}), **state.engines},
             "phenomena": [{"id": one.id, "group": one.group, "title": one.title, "law": one.law, "quantity": one.quantity,
                            "unit": one.unit, "axes": list(one.axes), "cases": {k: dict(v) for k, v in one.cases.items()}}
                           for one in catalogue.values()]}
    (out / "run.json").write_text(json.dumps(about, indent=1))
    if errors:
        raise errors[0]
    ids = {one["id"] for one in about["phenomena"]}
    return [cell for cell in state.known.values() if cell.phenomenon in ids], about
