#!/usr/bin/env bash
# Usage: scripts/demo.sh
# The main job in one go: builds, runs the default suite on problems that it generates, prints the ranking and leaves
# demo/report/index.html.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
scripts/build.sh
conebench=build/bin/conebench

mkdir -p demo
run_suite() { "$conebench" run suites/default.json --db demo/results.sqlite; }
code=0
run_suite || code=$?
if [ $code -eq 3 ] && [ -e demo/results.sqlite ]; then
  echo "Starting anew: demo/results.sqlite is another build's"
  rm -f demo/results.sqlite*
  code=0
  run_suite || code=$?
fi
[ $code -eq 0 ] || exit $code
"$conebench" report demo/results.sqlite --out demo/report
echo "Open $PWD/demo/report/index.html"
