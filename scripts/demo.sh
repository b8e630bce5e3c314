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
# Results of an older build are not mixed with this one's.
if [ -e demo/results.sqlite ] && [ "$conebench" -nt demo/results.sqlite ]; then
  echo "Deleting demo/results.sqlite: it is older than this build"
  rm -f demo/results.sqlite demo/results.sqlite-*
fi
"$conebench" run suites/default.json --db demo/results.sqlite
"$conebench" report demo/results.sqlite --out demo/report
echo "Open $PWD/demo/report/index.html"
