#!/usr/bin/env bash
# Usage: scripts/fetch_peers.sh
# Makes build/peers, a Python environment with the simulators and solvers that tests compare with: versions and hashes in
# scripts/peers-requirements.txt, numpy and scipy from the system. Without pip, venv, a registry or a wheel for this
# machine it says so and succeeds: their tests are skipped.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."

folder=build/peers lock=scripts/peers-requirements.txt python=/usr/bin/python3
if cmp -s "$lock" "$folder/.installed-lock"; then exit 0; fi
[ -x "$python" ] || python=python3
rm -rf "$folder"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if "$python" -m venv --system-site-packages "$folder" >"$log" 2>&1 &&
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --require-hashes --retries 1 --requirement "$lock" >"$log" 2>&1; then
  cp "$lock" "$folder/.installed-lock"
else
  rm -rf "$folder"
  echo "No environment of peers ($(grep -m 1 -i 'error' "$log" || echo "venv failed")): their tests are skipped." >&2
fi
