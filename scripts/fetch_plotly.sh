#!/usr/bin/env bash
# Usage: scripts/fetch_plotly.sh
# Installs the charting library that HTML reports inline: version and integrity hash in reports/page/package-lock.json.
# Without npm or a registry it says so and succeeds: the build goes on, and reports have tables without charts.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/../reports/page"

bundle=node_modules/plotly.js-basic-dist-min/plotly-basic.min.js
stamp=node_modules/.installed-lock
if [ -f "$bundle" ] && cmp -s package-lock.json "$stamp"; then exit 0; fi
if ! command -v npm >/dev/null; then
  echo "npm not found: reports will have tables and no charts." >&2
  exit 0
fi
if npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >/dev/null && [ -f "$bundle" ]; then
  cp package-lock.json "$stamp"
else
  echo "plotly could not be installed: reports will have tables and no charts." >&2
fi
