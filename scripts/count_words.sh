#!/usr/bin/env bash
# Usage: scripts/count_words.sh [--check]
# Counts the words of the documents: written by hand outside of docs/experiments, by hand in there, and generated.
# Words are those of `wc -w`. --check: ends with 1 where a number is above its limit; the limits only ever fall.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
outside_limit=30000
experiments_limit=13500
readme_limit=900

words() { wc -w <"$1"; }

outside=0 experiments=0 generated=0
while IFS= read -r page; do
  count=$(words "$page")
  if head -n 5 "$page" | grep -qE '^(Generated|Written) by `'; then
    generated=$((generated + count))
  elif [[ $page == docs/experiments/* ]]; then
    experiments=$((experiments + count))
  else
    outside=$((outside + count))
  fi
done < <(find docs -name '*.md' | sort)
readme=$(words README.md)

printf '%-28s %6d words, at most %6d\n' 'docs, by hand' "$outside" "$outside_limit" \
  'docs/experiments, by hand' "$experiments" "$experiments_limit" 'README.md' "$readme" "$readme_limit"
printf '%-28s %6d words\n' 'docs, generated' "$generated"
[ "${1:-}" != --check ] ||
  { [ "$outside" -le "$outside_limit" ] && [ "$experiments" -le "$experiments_limit" ] && [ "$readme" -le "$readme_limit" ]; }
