#!/usr/bin/env bash
# Writes the documents that the executable generates; a test compares them. Arguments: the executable, if it is not
# build/bin/conebench.
set -euo pipefail
cd "$(dirname "$0")/.."
conebench=${1:-build/bin/conebench}
for pair in solvers:options scenes:scenes commands:command_line; do
  "$conebench" list "${pair%%:*}" --markdown >"docs/${pair##*:}.md.new"
  mv "docs/${pair##*:}.md.new" "docs/${pair##*:}.md"
done
