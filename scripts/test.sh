#!/usr/bin/env bash
# Usage: scripts/test.sh [-R NAME] […]
# Installs what is missing, builds, and runs all tests, or what the arguments, which go to ctest, choose. Then it counts
# the tests that were skipped, by reason. Exit code: ctest's; 1 where a test was skipped for a reason that
# tests/expected_skips.txt does not list. Where a package is missing that scripts/build.sh goes on without, or dpkg,
# it only counts.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
source scripts/packages.sh
scripts/build.sh --tests
results=$PWD/build/tests.xml
rm -f "$results"
code=0
ctest --test-dir build --output-on-failure --parallel "$(nproc)" "$@" --output-junit "$results" || code=$?
if [ -f "$results" ]; then
  expected=()
  if ! command -v dpkg-query >/dev/null; then
    missing=dpkg
  else
    missing=$(missing_of "${optional_packages[@]}" | paste -sd ' ')
    grep -q '^-- MuJoCo ' build/configure.log || missing="${missing:+$missing }MuJoCo"
  fi
  if [ -z "$missing" ]; then
    expected=(tests/expected_skips.txt)
  else
    echo "Skipped tests are only counted, since this machine lacks $missing."
  fi
  tests/count_skips.py "$results" "${expected[@]}" || [ "$code" -ne 0 ] || code=1
fi
exit "$code"
