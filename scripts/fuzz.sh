#!/usr/bin/env bash
# Usage: scripts/fuzz.sh [SECONDS]
# Fuzzes the FCLIB loader. Builds the fuzz preset (clang, libFuzzer, sanitizers), makes the
# corpus and runs for the given time (60 s). What crashes lands in build-fuzz/findings/.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
seconds=${1:-60}
build=build-fuzz

cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target fuzz_fclib make_corpus
rm -rf "$build/corpus"
"$build/bin/make_corpus" "$build/corpus"
mkdir -p "$build/corpus-grown" "$build/findings"
# HDF5 leaks on damaged metadata, and asks for absurd sizes that malloc then denies: neither is a finding.
# Stacks are in numbers, as naming them takes longer than reading a file: run build-fuzz/bin/fuzz_fclib on a finding.
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024:symbolize=0
exec "$build/bin/fuzz_fclib" "$build/corpus-grown" "$build/corpus" -max_total_time="$seconds" -max_len=65536 \
  -timeout=120 -rss_limit_mb=2048 -malloc_limit_mb=1000000 -detect_leaks=0 -artifact_prefix="$build/findings/" \
  -print_final_stats=1
