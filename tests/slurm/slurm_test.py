#!/usr/bin/env python3
"""conebench slurm on a real Slurm: munged, slurmctld and slurmd on the loopback, ended by process id.
Arrays beyond MaxArraySize, a killed task, a cancelled job, a requeue, a lost node, and the merge against a run without
shards.
usage: slurm_test.py CONEBENCH        77: Slurm or munge is not installed"""
import json, os, pathlib, shutil, signal, socket, sqlite3, subprocess, sys, tempfile, time

conebench = os.path.abspath(sys.argv[1])
deadline = time.monotonic() + 400
suite = {"name": "small", "seed": 3,
         "problems": [{"scene": "box-stack", "options": {"boxes": n, "mass_ratio": 1000.0}} for n in range(3, 9)],
         # Half of the cells never meet the tolerance and take about a second, so that a task can be caught at work.
         "solvers": ["NSGS", "PGS-CCP"], "tolerances": [1e-2, 1e-13],
         "limits": {"iterations": 600000, "seconds": 60, "memory_mb": 2000},
         "repeats": {"min": 1, "min_ms": 0, "max": 1}}
cells = 24
answers = """SELECT key, status, solved, iterations, verdict_value, length, crc32 FROM cells JOIN reactions
             ON cell = cells.id ORDER BY key"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait_for(what, holds):
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit(f"{what}: waited in vain")
        time.sleep(0.1)


def rows(store, query):
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        return database.execute(query).fetchall()


def stored(store):
    try:
        return rows(store, "SELECT count(*) FROM cells")[0][0]
    except sqlite3.OperationalError:  # not there yet
        return 0


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


class Slurm:
    def __init__(self, folder):
        self.folder, self.daemons, self.node = folder, [], socket.gethostname().split(".")[0]

    def begin(self):
        folder = self.folder
        user, node = subprocess.check_output(["id", "-un"], text=True).strip(), self.node
        memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o400)
        (folder / "slurm.conf").write_text(f"""ClusterName=loopback
SlurmctldHost={node}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
MaxArraySize=4
MinJobAge=300
NodeName={node} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory={memory_mb} State=UNKNOWN
PartitionName=all Nodes={node} Default=YES MaxTime=INFINITE State=UP
""")
        for name in ("state", "spool"):
            (folder / name).mkdir()
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        self.start("munged", "--foreground", "--force", f"--key-file={folder}/munge.key",
                   f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
                   f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed")
        wait_for("munged", (folder / "munge.socket").exists)
        self.start("slurmctld", "-D")
        self.begin_node()
        wait_for("slurmd", lambda: self.ask("sinfo", "--noheader", "--format=%T").strip() == "idle")

    def begin_node(self):
        self.start("slurmd", "-D", "-N", self.node)

    def lose_node(self):
        """As a power cut does: the daemon, the steps and all their tasks at once. Slurm is reported what it would find."""
        slurmd = self.daemons.pop()
        ours = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        kept = {daemon.pid for daemon in self.daemons}
        for process in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                if process not in kept and ours in pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
                    os.kill(process, signal.SIGKILL)
            except OSError:  # gone, or another user's
                pass
        slurmd.wait()
        subprocess.run(["scontrol", "update", "nodename=" + self.node, "state=down", "reason=lost"], check=True)
        self.begin_node()
        subprocess.run(["scontrol", "update", "nodename=" + self.node, "state=resume"], check=True)

    def start(self, name, *arguments):
        log = open(self.folder / f"{name}.out", "w")
        path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        self.daemons.append(subprocess.Popen([path, *arguments], stdout=log, stderr=log, start_new_session=True))

    def ask(self, *words):
        return subprocess.run(words, text=True, capture_output=True).stdout

    def live(self):
        return self.ask("squeue", "--noheader", "--array", "--format=%F %K %A %T").split("\n")[:-1]

    def stop(self):
        subprocess.run(["scancel", "--user=" + str(os.getuid())])
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()


def run(*words, code=0):
    done = subprocess.run([conebench, *words], text=True, capture_output=True)
    if done.returncode != code:
        raise SystemExit(f"FAILED: {words}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def status(folder, code):
    return json.JSONDecoder().raw_decode(run("slurm", "status", str(folder), "--json", code=code))[0]


def main(scratch, slurm):
    (scratch / "small.json").write_text(json.dumps(suite))
    small = str(scratch / "small.json")
    run("run", small, "--db", str(scratch / "whole.sqlite"))
    whole = rows(scratch / "whole.sqlite", answers)
    check(len(whole) == cells, "a run without shards stores all cells")

    def submit(folder, *more):
        return run("slurm", small, "--shards", "6", "--out", str(folder), "--costs", str(scratch / "whole.sqlite"), *more)

    def idle():
        return not slurm.live()

    # Six shards in arrays of at most four; the survey is made once.
    sweep = scratch / "sweep"
    submit(sweep, "--nights", str(scratch / "nights"))
    plan = json.loads((sweep / "plan.json").read_text())
    keys = [key for file in (sweep / "parts").glob("*.txt") for key in file.read_text().split()]
    check(sorted(keys) == [row[0] for row in whole] and len(plan["cells"]) == 6, "six shards have each cell once")
    longest, = rows(scratch / "whole.sqlite", "SELECT max(total_median_s * repeats + judge_s) FROM cells")[0]
    check(max(plan["seconds"]) < sum(plan["seconds"]) / 6 + longest + 0.1, "no shard is a cell longer than its share")
    reported = run("slurm", small, "--shards", "6", "--out", str(sweep), code=3)
    check("not at their end" in reported, f"a second submission waits for the first: {reported}")
    survey = (sweep / "survey" / "survey").stat().st_mtime_ns
    wait_for("the sweep", idle)
    now = status(sweep, 0)
    check(len(now["jobs"]) == 3, "two arrays and a merge")
    check(now["merged"] and now["cells_stored"] == cells and now["shards_incomplete"] == [], "all shards are complete")
    check(rows(sweep / "merged.sqlite", answers) == whole, "the merge has the keys, verdicts and bits of one run")
    check((sweep / "survey" / "survey").stat().st_mtime_ns == survey, "no shard surveyed a problem")
    # Byte 18 of an SQLite file: 1 is a rollback journal, 2 WAL.
    check(all(file.read_bytes()[18] == 1 for file in (sweep / "shards").glob("*.sqlite")), "shards keep no WAL")
    logs = {file: file.read_text() for file in (sweep / "logs").glob("*.txt")}
    check(len(logs) == 7, "every task has a log")
    night = next((scratch / "nights").glob("*.night.json"))
    check(json.loads(night.read_text())["exit_code"] == 0 and stored(str(night)[:-len(".night.json")]) == cells,
          "the merge is a night of --nights")

    # Folders with what shells and Slurm read.
    run("slurm", small, "--shards", "6", "--out", str(scratch / "two\nlines"), "--dry-run", code=2)
    check(not (scratch / "two\nlines").exists(), "a folder of two lines is refused")
    reported = run("slurm", small, "--shards", str(cells + 1), "--out", str(scratch / "many"), "--dry-run", code=2)
    check(f"more than the sweep has cells, {cells}" in reported, "no shard is empty")
    alone = {name: value for name, value in os.environ.items() if name != "SLURM_ARRAY_TASK_ID"}
    done = subprocess.run(["bash", str(sweep / "array.sh")], env=alone, text=True, capture_output=True)
    check(done.returncode != 0 and "by hand: SLURM_ARRAY_TASK_ID=0" in done.stderr, "a shard by hand has a number")
    odd = scratch / "it's 5 %j $HOME"
    run("slurm", small, "--shards", "6", "--out", str(odd), "--dry-run")
    # Measured costs decide which cells a shard has, so that two plans may differ.
    ours = set((odd / "parts" / "1.txt").read_text().split())
    other = next(file.stem for file in (sweep / "parts").glob("*.txt") if ours.isdisjoint(file.read_text().split()))
    (odd / "shards" / "1.sqlite").write_bytes((sweep / "shards" / f"{other}.sqlite").read_bytes())
    now = status(odd, 4)
    check(now["cells_stored"] == 0 and 1 in now["shards_incomplete"], "cells of another shard are not counted")
    (odd / "shards" / "1.sqlite").unlink()
    run("slurm", small, "--shards", "6", "--out", str(odd))
    wait_for("the sweep of an odd folder", idle)
    status(odd, 0)
    check(len(list((odd / "logs").glob("*.txt"))) == 7, "the tasks of an odd folder have their logs there")

    took = dict(rows(scratch / "whole.sqlite", "SELECT key, total_median_s FROM cells"))

    def second_slowest(shard):
        return sorted(took[key] for key in (sweep / "parts" / f"{shard}.txt").read_text().split())[-2:][0]

    # Once it has stored one slow cell it is at work on another.
    busiest = max(range(1, 7), key=second_slowest)

    def caught(folder):
        """The busiest shard, once it has stored a cell: its process and the id of its task."""
        store = folder / "shards" / f"{busiest}.sqlite"
        wait_for("a cell", lambda: stored(store) > 0)
        lock = pathlib.Path(str(store) + ".lock")
        process = json.loads(lock.read_text())["process"]
        jobs = json.loads((folder / "plan.json").read_text())["jobs"]
        first, index = (jobs[0], busiest - 1) if busiest <= 4 else (jobs[1], busiest - 5)
        return store, process, f"{first}_{index}"

    # A task killed at work: what it stored stays, the merge waits, the next submission takes that shard alone.
    killed = scratch / "killed"
    submit(killed, "--base", str(scratch / "whole.sqlite"))
    store, process, _ = caught(killed)
    os.kill(process, signal.SIGKILL)
    wait_for("the rest", idle)
    now = status(killed, 4)
    check(now["shards_incomplete"] == [busiest] and not now["merged"], "a killed task leaves its shard incomplete")
    kept = dict(rows(store, "SELECT key, total_median_s FROM cells"))
    words = submit(killed, "--dry-run")
    check(words.count("--array=") == 1 and f"--array={(busiest - 1) % 4} " in words, "only that shard is submitted")
    submit(killed, "--base", str(scratch / "whole.sqlite"))
    wait_for("the shard", idle)
    status(killed, 0)
    reported = "".join(file.read_text() for file in (killed / "logs").glob("merge-*.txt"))
    check("24 cells compared" in reported and (killed / "comparison" / "index.html").exists(),
          "the merge ends with a comparison")
    again = dict(rows(store, "SELECT key, total_median_s FROM cells"))
    check(all(again[key] == time for key, time in kept.items()), "stored cells were not run again")
    check(rows(killed / "merged.sqlite", answers) == whole, "the merge after a killed task equals one run")

    # Requeued at work: the same task resumes.
    requeued = scratch / "requeued"
    submit(requeued)
    store, _, task = caught(requeued)
    subprocess.run(["scontrol", "requeue", task], check=True)
    wait_for("the requeue", lambda: any(" PENDING" in line for line in slurm.live()))
    wait_for("the requeued task", idle)
    status(requeued, 0)
    check(rows(store, "SELECT count(*) FROM runs")[0][0] == 2, "a requeued task resumes its store")
    check(rows(requeued / "merged.sqlite", answers) == whole, "the merge after a requeue equals one run")

    # A node that is lost: its tasks are requeued.
    lost = scratch / "lost"
    submit(lost)
    store, _, _ = caught(lost)
    before = stored(store)
    slurm.lose_node()
    wait_for("the requeued tasks", idle)
    status(lost, 0)
    check(before > 0 and rows(store, "SELECT count(*) FROM runs")[0][0] == 2, "a lost node's task resumes its store")
    check(rows(lost / "merged.sqlite", answers) == whole, "the merge after a lost node equals one run")

    # Cancelled: the same command goes on.
    cancelled = scratch / "cancelled"
    submit(cancelled)
    caught(cancelled)
    subprocess.run(["scancel", *json.loads((cancelled / "plan.json").read_text())["jobs"]], check=True)
    wait_for("the end of the cancelled jobs", idle)
    check(0 < status(cancelled, 4)["cells_stored"] < cells, "cancelled jobs keep what they stored")
    submit(cancelled)
    wait_for("the rest", idle)
    status(cancelled, 0)
    check(rows(cancelled / "merged.sqlite", answers) == whole, "the merge after scancel equals one run")

    other = dict(suite, tolerances=[1e-4])
    (scratch / "small.json").write_text(json.dumps(other))
    check("another sweep" in run("slurm", small, "--shards", "6", "--out", str(sweep), code=3),
          "an edited suite needs another folder")


if any(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None
       for name in ("munged", "slurmctld", "slurmd", "sbatch")):
    print("skipped: needs Slurm and munge (Debian: slurm-wlm, munge)")
    sys.exit(77)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
with tempfile.TemporaryDirectory(prefix="conebench-slurm-", dir="/tmp") as name:
    scratch = pathlib.Path(name)
    (scratch / "slurm").mkdir(mode=0o755)
    cluster = Slurm(scratch / "slurm")
    try:
        cluster.begin()
        main(scratch, cluster)
    except BaseException:
        for log in sorted(scratch.glob("*/logs/*.txt")) + sorted(scratch.glob("slurm/*.out")):
            print(f"--- {log}\n{log.read_text()[-2000:]}")
        raise
    finally:
        cluster.stop()
