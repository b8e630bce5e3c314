"""Measures phenomena on engines, each in processes of its own, and writes what came of it."""

import difflib
import hashlib
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
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from .._core import version
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
    # Or all, or settings of one's own as "iterations=10+cone=elliptic", on top of the default.
    variants: List[str] = field(default_factory=lambda: ["default", "best"])
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
        start = time.monotonic()
        cell = Cell(request["phenomenon"], request["case"], request["engine"], request["variant"], request["time_step"],
                    "crashed")
        if self.process is None or self.process.poll() is not None:
            self.start()
        if "id" not in self.description or self.process is None or self.process.stdin is None:
            cell.message = str(self.description.get("broken", self.description.get("missing", "did not start again")))
            self.close()
            return cell
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass
        line = self._line(limit)
        if line.endswith("\n"):
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
        output = self.process.stdout
        reader = threading.Thread(target=lambda: found.append(output.readline()), daemon=True)
        reader.start()
        reader.join(limit)
        return found[0] if found else ""

    def end(self, what: str) -> str:
        """Why it ended: the signal, and the last line that it wrote to its standard error."""
        assert self.process is not None
        try:
            code = self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            code = self.process.wait()
        self.log.seek(0)
        lines = [line.strip() for line in self.log.read().split("\n") if line.strip()]
        ended = f"signal {-code}" if code < 0 else f"exit code {code}"
        self.close()
        return "; ".join(part for part in (what, ended, lines[-1][:200] if lines else "") if part)

    def kill(self) -> None:
        process = self.process
        if process is not None and process.poll() is None:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass

    def close(self) -> None:
        if self.process is None:
            return
        self.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        self.process = None


def _meant(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f", did you mean {near[0]}?" if near else ""


def chosen_phenomena(options: Options) -> List[Tuple[Phenomenon, str]]:
    """With the cases. Raises Wrong for a name that there is not."""
    groups = {one.group for one in catalogue.values()}
    for name in options.phenomena:
        if name not in catalogue and name not in groups:
            raise Wrong(f"--phenomena: no phenomenon or group {name!r}{_meant(name, [*catalogue, *groups])}; see "
                        "`conebench phenomena --list`")
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
            raise Wrong(f"--engines: {name!r}{_meant(name.upper(), list(table))} is neither one of {', '.join(table)} nor a file NAME.py")
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
    asked: Set[Key] = field(default_factory=set)
    processes: List[Process] = field(default_factory=list)

    def end(self) -> None:
        """Ends all engines; their cells in flight are dropped."""
        self.stop = True
        for process in self.processes:
            process.kill()

    def write(self, cell: Cell) -> None:
        with self.lock:
            with open(Path(self.options.out) / "results.jsonl", "a") as file:
                file.write(cell.line() + "\n")
            self.known[cell.key] = cell

    def work(self, name: str, cells: Sequence[Tuple[Phenomenon, str]]) -> None:
        """All cells of an engine that are not there."""
        process = Process(name)
        self.processes.append(process)
        try:
            described = process.start()
            if "missing" in described or "broken" in described:
                label = name if name in table else os.path.basename(name)
                self.engines[label] = {"package": "", "about": {}, "variants": {},
                                       "missing": described.get("missing", described.get("broken", ""))}
                self.say(f"{label}: left out: {self.engines[label]['missing']}")
                return
            engine = str(described["id"])
            if name not in table and (engine in table or engine in self.engines):
                raise Bad(f"{name}: its id {engine} is another engine's; give it one of its own")
            self.engines[engine] = {**{k: described[k] for k in ("package", "about", "variants")}, "missing": "",
                                    **({} if name in table else {"file": name, "sha256": _hash_of(name)})}
            self._same_version(engine)
            if self.before.get(engine, {}).get("sha256") != self.engines[engine].get("sha256"):
                for key in [key for key in self.known if key[2] == engine]:  # of another state of the file
                    del self.known[key]
            variants = self._variants(described["variants"])
            self.engines[engine]["variants"] = {**described["variants"], **variants}
            requests = [{"phenomenon": one.id, "case": case, "engine": engine, "variant": variant, "time_step": step,
                         "quick": self.options.quick, "options": variants[variant]}
                        for variant in variants for step in self.options.time_steps for one, case in cells]
            self.asked |= {_key(request) for request in requests}
            left = [request for request in requests if self._wanted(request)]
            version_text = " ".join(filter(None, (engine, described["about"].get("version", ""))))
            self.say(f"{version_text}: {len(left)} cells ({', '.join(variants)})")
            start, right, measured = time.monotonic(), 0, 0
            for request in left:
                if self.stop:
                    return
                cell = process.measure(request, self.options.time_limit)
                if self.stop:
                    return
                self.write(cell)
                measured += cell.outcome == "measured"
                right += bool(cell.right)
            self.say(f"{version_text}: {measured} measured, {right} right, {time.monotonic() - start:.0f} s"
                     + (f"; {len(requests) - len(left)} were there" if len(left) < len(requests) else ""))
        finally:
            process.close()

    def _same_version(self, engine: str) -> None:
        before = self.before.get(engine, {}).get("about")
        now = self.engines[engine]["about"]
        if before and before.get("version") != now.get("version") and any(key[2] == engine for key in self.known):
            raise Bad(f"{self.options.out} holds results of {engine} {before.get('version')}, this is {now.get('version')}; "
                      "take another --out, or --replace")

    def _variants(self, has: Mapping[str, Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
        """Those that were asked for and the engine has, and those that are given as name=value of its options."""
        if "all" in self.options.variants:
            return dict(has)
        default: Dict[str, Any] = next(iter(has.values()), {})
        chosen = {}
        for name in self.options.variants:
            if name in has:
                chosen[name] = has[name]
            elif "=" in name:
                chosen[name] = {**default, **_settings(name)}
        return chosen

    def _wanted(self, request: Mapping[str, Any]) -> bool:
        cell = self.known.get(_key(request))
        return cell is None or cell.outcome in self.options.retry


def _settings(text: str) -> Dict[str, Any]:
    """Of "iterations=10+cone=elliptic"; values are JSON, or else text."""
    found: Dict[str, Any] = {}
    for one in text.split("+"):
        name, _, value = one.partition("=")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _key(request: Mapping[str, Any]) -> Key:
    return (request["phenomenon"], request["case"], request["engine"], request["variant"], request["time_step"])


def _hash_of(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _machine() -> Dict[str, str]:
    cpu = ""
    try:
        with open("/proc/cpuinfo") as file:
            cpu = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        pass
    return {"cpu": cpu or platform.processor(), "system": f"{platform.system()} {platform.machine()}"}


def _write_about(options: Options, state: _Run, before: Mapping[str, Any]) -> Dict[str, Any]:
    about: Dict[str, Any] = {"conebench": version, "date": time.strftime("%Y-%m-%d"), "machine": _machine(), "quick": options.quick,
             "time_steps": sorted({*before.get("time_steps", []), *options.time_steps}),
             "engines": {**before.get("engines", {}), **state.engines},
             "phenomena": [{"id": one.id, "group": one.group, "title": one.title, "law": one.law, "quantity": one.quantity,
                            "unit": one.unit, "axes": list(one.axes), "cases": {k: dict(v) for k, v in one.cases.items()}}
                           for one in catalogue.values()]}
    (Path(options.out) / "run.json").write_text(json.dumps(about, indent=1))
    return about


def run(options: Options, say: Callable[[str], None] = print) -> Tuple[List[Cell], Dict[str, Any], Set[Key]]:
    """All cells of the folder, what run.json holds, and which cells were asked for now. Raises Wrong and Bad. Interrupted,
    it leaves all cells that were done."""
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
    say(f"{len(names)} engine{'s' * (len(names) > 1)}, {len(cells)} cases each, in {out}; Ctrl-C keeps what is done")
    _write_about(options, state, before)  # before the first cell: a killed run is resumed by it
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
        state.end()
        for thread in threads:
            thread.join()
        errors.append(KeyboardInterrupt())
    about = _write_about(options, state, before)
    if errors:
        raise errors[0]
    ids = {one["id"] for one in about["phenomena"]}
    return [cell for cell in state.known.values() if cell.phenomenon in ids], about, state.asked
