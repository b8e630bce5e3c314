"""python3 -m conebench.peers ID REQUEST.json|-: a peer as a program (docs/program_protocol.md).
python3 -m conebench.peers --list: all of them as JSON, and which packages are installed."""

import json
import os
import pathlib
import sys

if not __package__:  # started by its path: not this folder's modules, but the package
    sys.path[0] = str(pathlib.Path(__file__).resolve().parents[2])
for _library in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

from conebench._solver import answer_or_exit  # noqa: E402
from conebench.peers import PEERS, installed, load, missing  # noqa: E402


def main() -> None:
    words = sys.argv[1:]
    if words == ["--list"]:
        print(json.dumps({id: {"extra": row["extra"], "packages": installed(id), "installed": not missing(id)}
                          for id, row in PEERS.items()}, indent=1))
        return
    if len(words) != 2 or words[0] not in PEERS:
        sys.exit(f"{__doc__}\nIDs: {', '.join(PEERS)}")
    id, source = words
    if source != "-" and missing(id):
        with open(source, encoding="utf-8") as opened:
            reply = json.load(opened)["reply"]
        with open(reply, "w", encoding="utf-8") as opened:
            json.dump({"id": id, "missing": missing(id)}, opened)
        return
    answer_or_exit(lambda: load(id), source, str(pathlib.Path(__file__).with_name(f"{PEERS[id]['module']}.py")))


if __name__ == "__main__":
    main()
