#!/usr/bin/env bash
# Usage: scripts/update_experiments.sh [--full] [--data DIR] [ENTRY…]
# Runs entries of `conebench paper`, all tables of our own where none is named, and keeps their Markdown and pictures in
# docs/experiments. What an earlier call measured is not run again: build/experiments has the stores.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
conebench=${CONEBENCH:-build/bin/conebench}
options=() entries=()
while [ $# -gt 0 ]; do
  case "$1" in
    --data) options+=(--data "${2:?--data wants a folder}") && shift ;;
    -*) options+=("$1") ;;
    *) entries+=("$1") ;;
  esac
  shift
done
[ ${#entries[@]} -gt 0 ] || entries=(own)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$conebench" paper "${entries[@]}" "${options[@]}" --out "$out" --db build/experiments
mkdir -p docs/experiments
for page in "$out"/*.md; do
  sed '1a\\nWritten by `scripts/update_experiments.sh`.' "$page" >"docs/experiments/$(basename "$page")"
  cp "${page%.md}"-*.svg docs/experiments/ 2>/dev/null || true
done
