#!/usr/bin/env bash
# Usage: scripts/test.sh [-R NAME] […]
# Installs what is missing, builds, and runs all tests, or what the arguments, which go to ctest, choose.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
scripts/build.sh --tests
exec ctest --test-dir build --output-on-failure --parallel "$(nproc)" "$@"
