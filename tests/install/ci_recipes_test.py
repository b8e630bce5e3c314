#!/usr/bin/env python3
"""action.yml and templates/conebench.yml do what they promise in a repository that has a wheel of Conebench alone.
usage: ci_recipes_test.py WHEEL|FOLDER      77: what it needs is not to be had
FOLDER: the newest wheel in it. Every `run:` and `script:` is run by bash, in its order and under its conditions, with an
empty home, the system's PATH and the variables that GitHub and GitLab set."""
import pathlib, re, stat, subprocess, sys, tempfile

try:
    import yaml
except ImportError:
    print("skipped: needs PyYAML")
    sys.exit(77)

root = pathlib.Path(__file__).resolve().parents[2]
wheel = pathlib.Path(sys.argv[1]).resolve()
if wheel.is_dir():
    wheel = max(wheel.glob("*.whl"), key=lambda file: file.stat().st_mtime, default=None)
tag = f"-cp{sys.version_info[0]}{sys.version_info[1]}-"
if wheel is None or tag not in wheel.name:
    print(f"skipped: no wheel for Python {sys.version_info[0]}.{sys.version_info[1]}")
    sys.exit(77)

# Their repository: a solver in Python, of which SHARE makes a good one or a slow one, and a suite.
SOLVER = '''
import conebench, numpy as np

SHARE = {share}

@conebench.solver("THEIRS", joints=False, limits=False, compliance=False, two_dimensional=False)
class Theirs:
    def prepare(self, problem):
        trace = problem.G.diagonal().reshape(-1, 3).sum(axis=1)
        self.step = 3 * SHARE * (trace > 0) / np.maximum(trace, 1e-300)

    def solve(self, problem, tolerance, max_iterations, start):
        r = start.reshape(-1, 3)
        for k in range(1, max_iterations + 1):
            s = (problem.G @ r.ravel() + problem.g).reshape(-1, 3)
            s[:, 2] += problem.mu * np.hypot(s[:, 0], s[:, 1])
            new = onto_cones(r - self.step[:, None] * s, problem.mu)
            moved, r = np.abs(new - r).max(), new
            if moved <= tolerance:
                return r.ravel(), {{"status": "converged", "iterations": k}}
        return r.ravel(), {{"status": "max_iterations", "iterations": k}}


def onto_cones(r, mu):
    t, n = np.hypot(r[:, 0], r[:, 1]), r[:, 2]
    height = np.maximum(0, (mu * t + n) / (1 + mu**2))
    inside = t <= mu * n
    scale = np.where(inside, 1, mu * height / np.maximum(t, 1e-300))
    return np.column_stack([r[:, :2] * scale[:, None], np.where(inside, n, height)])
'''
SUITE = """{"name": "ours", "tolerances": [1e-4],
 "problems": [{"scene": "box-stack", "grid": {"boxes": [1, 2]}}, {"scene": "sliding-box"}],
 "solvers": ["NSGS", {"program": ["python3", "-m", "conebench", "theirs.py"]}],
 "limits": {"iterations": 20000, "seconds": 20, "memory_mb": 2000}}
"""
GOOD, SLOW = SOLVER.format(share=0.5), SOLVER.format(share=0.05)
GH = '#!/bin/sh\necho "$@" >>"$HOME/gh-called"\nfor word; do last=$word; done\ncat "$last" >"$HOME/comment.md"\n'


def expect(holds, *shown):
    if not holds:
        raise SystemExit("FAILED: " + "\n".join(map(str, shown)))


def bash(script, folder, environment):
    """As a step is run: ends at the first failure."""
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=folder, env=environment,
                          text=True, capture_output=True)
    if "from PyPI" in done.stderr or "Could not find a version" in done.stderr:
        print("skipped: needs numpy and scipy")
        sys.exit(77)
    return done


class GitHub:
    """The part of GitHub's runner that the action needs."""
    action = yaml.safe_load((root / "action.yml").read_text())

    def __init__(self, scratch):
        self.repository, self.temp, self.home = (scratch / name for name in ("repository", "temp", "home"))
        for folder in (self.repository, self.temp, self.home):
            folder.mkdir()
        gh = scratch / "gh"
        gh.write_text(GH)
        gh.chmod(gh.stat().st_mode | stat.S_IXUSR)
        self.path = f"{scratch}:/usr/bin:/bin"

    def run(self, event="schedule", **inputs):
        """The action as a step of a job: its exit code and all that it printed."""
        known = {name: one.get("default", "") for name, one in self.action["inputs"].items()}
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        expect(set(given) <= set(known), "unknown input", given)
        files = {name: self.temp / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        values = {f"inputs.{name}": value for name, value in {**known, **given}.items()}
        values |= {"github.event_name": event, "github.event.pull_request.number": "7", "github.token": "token",
                   "github.server_url": "https://github.example", "github.action_repository": "someone/conebench",
                   "github.action_ref": "main", "github.workflow": "nightly", "github.run_id": "1",
                   "github.run_attempt": "1"}

        def filled(text):
            return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda found: values[found[1]], str(text))

        def holds(condition):
            words = re.sub(r"(inputs|github|steps)[\w.-]+", lambda found: repr(values[found[0]]), condition)
            return eval(words.replace("&&", " and ").replace("||", " or "), {"__builtins__": {}})

        self.used, printed = [], ""
        for step in self.action["runs"]["steps"]:
            if not holds(step.get("if", "True")):
                continue
            if "uses" in step:
                self.used.append(step["uses"].split("@")[0])
                for value in step["with"].values():
                    filled(value)
                continue
            path = ":".join([*reversed(files["GITHUB_PATH"].read_text().split()), self.path])
            environment = {"PATH": path, "HOME": str(self.home), "RUNNER_TEMP": str(self.temp), "GITHUB_ACTOR": "someone",
                           **{name: str(file) for name, file in files.items()},
                           **{name: filled(value) for name, value in step.get("env", {}).items()}}
            done = bash(filled(step["run"]), self.repository, environment)
            printed += done.stdout + done.stderr
            if "id" in step:
                for line in files["GITHUB_OUTPUT"].read_text().splitlines():
                    name, _, value = line.partition("=")
                    values[f"steps.{step['id']}.outputs.{name}"] = value
            if done.returncode:
                return done.returncode, printed
        return 0, printed

    def summary(self):
        return (self.temp / "GITHUB_STEP_SUMMARY").read_text()


def test_action(scratch):
    hub = GitHub(scratch)
    (hub.repository / "theirs.py").write_text(GOOD)
    (hub.repository / "suite.json").write_text(SUITE)
    pages = hub.repository / ".conebench/pages"

    code, printed = hub.run(suite="suite.json")
    expect(code == 1 and "'main' is no release" in printed, "without a package", code, printed)
    ours = {"suite": "suite.json", "package": str(wheel)}
    code, printed = hub.run(**ours, jobs="2")
    expect(code == 0 and "first night, 6 of 6 cells solved" in hub.summary(), "first", code, printed, hub.summary())
    expect(hub.used == ["actions/cache/restore", "actions/cache/save", "actions/upload-artifact"], hub.used)
    badge = (pages / "history/badge.svg").read_text()
    expect("THEIRS" in badge and "3 of 3 solved" in badge, badge)
    expect((pages / "history/index.html").exists() and (pages / "night.xml").exists(), list(pages.rglob("*")))

    code, printed = hub.run(**ours)
    expect(code == 0 and "nothing worse" in hub.summary(), "second", code, printed, hub.summary())

    # More work at the same verdicts, which no time decides.
    (hub.repository / "theirs.py").write_text(SLOW)
    code, printed = hub.run(event="pull_request", comment="true", **ours)
    expect(code == 1 and "1 configuration slower" in hub.summary(), "slower", code, printed, hub.summary())
    comment = (hub.home / "comment.md").read_text()
    expect(comment == hub.summary() and len(comment) <= 65536, "comment", comment)
    called = (hub.home / "gh-called").read_text().split()
    expect(called[:3] == ["pr", "comment", "7"] and "--edit-last" in called, called)
    expect("actions/cache/save" not in hub.used, hub.used)

    alarm = re.search(r"conebench accept ([0-9a-f]{8})", hub.summary())
    expect(alarm, hub.summary())
    code, printed = hub.run(accept=alarm[1], why="agreed", **ours)
    expect(code == 0 and "agreed" in hub.summary(), "accepted", code, printed, hub.summary())

    code, printed = hub.run(suite="no-such-suite", package=str(wheel))
    expect(code == 3 or code == 2, "no suite", code, printed)
    expect("no-such-suite" in hub.summary(), hub.summary())


def test_template(scratch):
    spec, jobs = yaml.safe_load_all((root / "templates/conebench.yml").read_text())
    text = (root / "templates/conebench.yml").read_text().split("\n---\n")[1]
    known = {name: one.get("default") for name, one in spec["spec"]["inputs"].items()}
    known |= {"suite": "suite.json", "package": str(wheel), "program": "python3 -m conebench extra.py"}
    expect(None not in known.values(), known)
    filled = re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: known[found[1]], text)
    [(name, job)] = yaml.safe_load(filled).items()
    expect(name == "conebench" and "$[[" not in filled, filled)
    project = scratch / "project"
    project.mkdir()
    (project / "theirs.py").write_text(GOOD)
    # --program adds a solver; a suite has it where "all" or its id is asked for.
    (project / "extra.py").write_text(GOOD.replace("THEIRS", "EXTRA"))
    (project / "suite.json").write_text(SUITE.replace('"NSGS", ', '"NSGS", "EXTRA", '))

    def pipeline(**variables):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(scratch), "GITLAB_USER_LOGIN": "someone", **job["variables"],
                       **variables}
        done = bash("\n".join(job["before_script"] + job["script"]), project, environment)
        return done.returncode, done.stdout + done.stderr

    pages = project / ".conebench/pages"
    code, printed = pipeline()
    expect(code == 0 and "first night, 9 of 9 cells solved" in printed, "first", code, printed)
    for path in [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"], *job["cache"]["paths"]]:
        expect((project / path).exists(), path)
    (project / "theirs.py").write_text(SLOW)
    code, printed = pipeline()
    expect(code == 1 and "1 configuration slower" in printed, "slower", code, printed)
    expect("<failure" in (pages / "night.xml").read_text(), "night.xml")
    alarm = re.search(r"conebench accept ([0-9a-f]{8})", printed)[1]
    code, printed = pipeline(ACCEPT=alarm, WHY="agreed")
    expect(code == 0, "accepted", code, printed)
    expect(job["allow_failure"] == {"exit_codes": [4]}, job["allow_failure"])


for test in (test_action, test_template):
    with tempfile.TemporaryDirectory() as name:
        test(pathlib.Path(name).resolve())
    print(f"{test.__name__}: passed")
