#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests. Arguments go to ctest (-R NAME, …).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh --tests
exec ctest --test-dir build --output-on-failure --parallel "$(nproc)" "$@"
