#!/usr/bin/env bash
# Usage: scripts/check_spelling.sh
# Looks for misspelt words in the documents with codespell; tests/spelling.txt has the words that it may not know.
# Ends with 77 where codespell is not installed.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
command -v codespell >/dev/null || { echo "codespell is not installed" && exit 77; }
find README.md CONTRIBUTING.md CHANGELOG.md docs base problems scenes fclib_loader metrics solvers simulation store runners \
  reports papers cli python suites tests benchmarks examples -name node_modules -prune -o -name '*.md' -print0 |
  xargs -0 codespell --ignore-words tests/spelling.txt
