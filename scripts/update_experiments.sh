#!/usr/bin/env bash
# Usage: scripts/update_experiments.sh [--full] [--data DIR] ENTRY…
# Runs entries of `conebench paper` and keeps their Markdown and pictures in docs/experiments.
# What an earlier call measured with the same executable is not run again: build/experiments has the stores.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
conebench=${CONEBENCH:-build/bin/conebench}
"$conebench" paper "$@" --out build/experiments
mkdir -p docs/experiments
for page in build/experiments/*.md; do
  cp "$page" docs/experiments/
  cp "${page%.md}"-*.svg docs/experiments/ 2>/dev/null || true
done
