#!/usr/bin/env bash
# Usage: scripts/update_experiments.sh [--full] [--data DIR] [ENTRY…]
# Runs entries of `conebench paper`, those with a page in docs/experiments where none is named, and keeps their Markdown
# and pictures there. What an earlier call measured is not run again: build/experiments has the stores.
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
[ ${#entries[@]} -gt 0 ] || mapfile -t entries < <(basename -s .md docs/experiments/own-*.md)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$conebench" paper "${entries[@]}" "${options[@]}" --out "$out" --db build/experiments
for page in "$out"/*.md; do
  sed '1a\\nWritten by `scripts/update_experiments.sh`.' "$page" >"docs/experiments/$(basename "$page")"
  cp "${page%.md}"-*.svg docs/experiments/ 2>/dev/null || true
done
