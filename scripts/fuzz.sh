#!/usr/bin/env bash
# Usage: scripts/fuzz.sh [fclib|suite|filter] [SECONDS]
# Fuzzes the FCLIB loader (the default), the suite parser or the filter. Installs clang where it is missing, builds the
# fuzz preset (clang, libFuzzer, sanitizers), makes the corpus and runs for the given time (60 s). What crashes lands in
# build-fuzz/TARGET/findings/.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
source scripts/packages.sh
target=fclib
if [[ ${1:-} =~ ^[a-z]+$ ]]; then
  target=$1
  shift
fi
seconds=${1:-60}
build=build-fuzz
work=$build/$target
case $target in
  fclib) programs=(fuzz_fclib make_corpus) limits=(-max_len=65536 -timeout=120) ;;
  suite) programs=(fuzz_suite) limits=(-max_len=16384 -timeout=20 -dict=tests/runners/plan/fuzz_suite.dict) ;;
  filter) programs=(fuzz_filter) limits=(-max_len=4096 -timeout=20) ;;
  *) echo "fuzz.sh: no target is called '$target'; known: fclib, suite, filter" >&2; exit 2 ;;
esac

install_missing "${build_packages[@]}" "${fuzz_packages[@]}"
cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target "${programs[@]}"
rm -rf "$work/corpus"
mkdir -p "$work/corpus" "$work/grown" "$work/findings"
case $target in
  fclib) "$build/bin/make_corpus" "$work/corpus" ;;
  suite) cp suites/*.json "$work/corpus/" ;;
  filter) echo 'family=Caps* && problem~^B(ox|all)+$ && solver!="N S" && tolerance<=1e-6 && contacts>1' > "$work/corpus/all" ;;
esac
# HDF5 leaks on damaged metadata, and asks for absurd sizes that malloc then denies: neither is a finding.
# Stacks are in numbers, as naming them takes longer than reading a file: run build-fuzz/bin/fuzz_TARGET on a finding.
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024:symbolize=0
exec "$build/bin/fuzz_$target" "$work/grown" "$work/corpus" -max_total_time="$seconds" "${limits[@]}" \
  -rss_limit_mb=2048 -malloc_limit_mb=1000000 -detect_leaks=0 -artifact_prefix="$work/findings/" -print_final_stats=1
