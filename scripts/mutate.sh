#!/usr/bin/env bash
# Usage: scripts/mutate.sh [--count N] [--kinds LIST] [--only KIND:NUMBER] [--seed N] [--jobs N] [--conebench FILE] [--folder DIR]
# Gives conebench (build/bin/conebench) mutated problems, suites, filters, stores, models, meshes, manifests, answers, replies
# of programs and entries of papers. 20,000 take some ten minutes; 240, as in the tests, seconds.
# Exit code 0: no crash, no hang, no file outside of its folder, no input changed; 77: no python3.
source "$(dirname "$0")/usage.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$(dirname "$0")/mutate.py" "$@"
