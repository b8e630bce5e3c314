#!/usr/bin/env bash
# Usage: scripts/torture.sh [--kills N] [--seed N] [--conebench FILE] [--folder DIR] [--parts LIST] [--short]
# Kills, starves and confuses `conebench run` and `conebench nightly` (build/bin/conebench), and compares what it stores with an undisturbed run:
# keys, statuses, verdicts and every bit of the answers. 200 kills take minutes; --short, as in the tests, seconds.
# Exit code 0: nothing lost, nothing false; 77: no python3.
source "$(dirname "$0")/usage.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/torture.py" "$@"
