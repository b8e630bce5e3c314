#!/usr/bin/env bash
# Usage: scripts/update_docs.sh [EXECUTABLE]
# Writes the documents that the executable (build/bin/conebench) and scripts/sbom.py generate; tests compare them.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
conebench=${1:-build/bin/conebench}
for pair in solvers:options scenes:scenes commands:command_line tables:papers metrics:residuals fields:fields sets:supported_sets; do
  "$conebench" list "${pair%%:*}" --markdown >"docs/${pair##*:}.md.new"
  mv "docs/${pair##*:}.md.new" "docs/${pair##*:}.md"
done
scripts/sbom.py --table >docs/licenses.md.new
mv docs/licenses.md.new docs/licenses.md
