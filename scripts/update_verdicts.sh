#!/usr/bin/env bash
# Usage: scripts/update_verdicts.sh DATA
# Runs every entry of `conebench paper` and keeps the verdicts in papers/verdicts.json, from which the next build has
# docs/papers.md. DATA has fclib/open/*.hdf5 and families/FAMILY/*.hdf5. Wants an executable of a committed tree; what an
# earlier call of it measured in build/verdicts is not run again. Prints each entry's processor time. At its end every check
# is tried on perturbed numbers of these runs.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
conebench=${CONEBENCH:-build/bin/conebench}
data=${1:?wants the folder of the data}
out=build/verdicts
case "$("$conebench" --version)" in
  *-dirty*) echo "$conebench is of a tree with changes: commit them and build" >&2 && exit 1 ;;
esac
mkdir -p "$out/log"
rm -f "$out"/verdicts.json

# run ENTRY SIZE DATA
run() {
  local TIMEFORMAT="$1 $2 %U %S"
  { time "$conebench" paper "$1" "--$2" ${3:+--data "$3"} --out "$out" --db "$out/stores" --require-checks \
    >"$out/log/$1.txt" 2>"$out/log/$1.err" || echo "$1: exit code $?, see $out/log/$1.txt"; } 2>&1
}

mapfile -t entries < <("$conebench" paper list --json | python3 -c '
import json, sys
for entry in json.load(sys.stdin)["tables"]:
    if entry["state"] == "runs" and not entry["variant_of"]:
        print(entry["id"])')
for entry in "${entries[@]}"; do
  case "$entry" in
    own-*) run "$entry" quick "$data" ;;
    Carpentier24-* | LeLidec24-text-overrelaxation) run "$entry" quick "$data/families" ;;
    *) run "$entry" quick "" ;;
  esac
done | tee "$out/times"
awk 'NF == 4 { total += $3 + $4 } END { printf "%.0f s of processor time\n", total }' "$out/times"
cp "$out/verdicts.json" papers/verdicts.json
echo 'papers/verdicts.json is new: build, and run scripts/update_docs.sh'
[ ! -x build/bin/cli_test ] ||
  CONEBENCH_PAPER_STORES=$out/stores build/bin/cli_test --gtest_filter='PaperEntries.EveryCheck*'
