#!/bin/sh
# Usage: GOOD=PATH git bisect run scripts/bisect_slower.sh
# Is the commit that is checked out slower than a build that was fast?
# Exit code 0: no; 1: worse as compare has it (slower, lost, missing …); 125 (git skips the commit): it does not build, or the measurement stays undecided.
#
#   GOOD=PATH      conebench of a commit that was fast (needed)
#   SUITE=NAME     compare-check by default; FILTER=EXPR: the configurations of the alarm, preferably few
#   MIN_CHANGE=5%  what counts as slower; well below the alarm, well above this machine's noise
#   BUILD=build    a configured build folder
#
# Copied to a folder of its own it stays the same whatever is checked out, so it needs no other script.
case "${1:-}" in
  -h | --help)
    sed -n '2,/^[^#]/ { /^#/ s/^# \{0,1\}//p }' "$0"
    exit 0
    ;;
esac
set -u
: "${GOOD:?set GOOD to the executable of a fast commit}"
suite=${SUITE:-compare-check} min=${MIN_CHANGE:-5%} build=${BUILD:-build}
scratch=$(mktemp -d) || exit 125
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
new=$build/bin/conebench

cmake --build "$build" --target conebench -j2 >"$scratch/build.log" 2>&1 || { tail -n 5 "$scratch/build.log"; exit 125; }
# Until it is decided: 6 rounds a side, then 12, then 24.
for rounds in 6 12 24; do
  "$new" run "$suite" ${FILTER:+--filter "$FILTER"} --ab "$GOOD" --rounds "$rounds" --fail-on none \
    --db "$scratch/ab.sqlite" >"$scratch/run.log" 2>&1 || { tail -n 5 "$scratch/run.log"; exit 125; }
  "$new" compare "$scratch/ab.sqlite" --min-change "$min" >"$scratch/compare.log" 2>&1
  code=$?
  tail -n 4 "$scratch/compare.log"
  [ $code -eq 1 ] && exit 1
  [ $code -eq 0 ] || exit 125
  "$new" compare "$scratch/ab.sqlite" --min-change "$min" --fail-on undecided >/dev/null 2>&1 && exit 0
done
exit 125
