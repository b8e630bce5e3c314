#!/usr/bin/env bash
# Usage: scripts/try_package.sh TARBALL
# Unpacks a package of scripts/package.sh, runs it as an ordinary user with an empty home, moves it and runs it again.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
[ $# -eq 1 ] || { echo "scripts/try_package.sh: needs one tarball; see scripts/try_package.sh --help" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
mkdir "$scratch/home" "$scratch/first"
tar -C "$scratch/first" -xzf "$1"
as_user=()
if [ "$(id -u)" -eq 0 ]; then
  chown 65534:65534 "$scratch/home"
  as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
fi
cat >"$scratch/small.json" <<'SUITE'
{"name": "small", "seed": 1, "problems": [{"scene": "box-stack", "options": {"boxes": 3}, "as": "fclib"}],
 "solvers": ["NSGS", "CASCADE"], "tolerances": [1e-8],
 "limits": {"iterations": 5000, "seconds": 60, "memory_mb": 2000}, "repeats": {"min": 1, "min_ms": 0, "max": 1}}
SUITE
try() {  # folder with the package
  local package=("$1"/conebench-*) run
  run=("${as_user[@]}" env -i HOME="$scratch/home" PATH=/usr/bin:/bin)
  # Every library but the C library's comes from the package.
  if "${run[@]}" ldd "${package[0]}/bin/conebench" | grep '=> ' | grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' |
    grep -vF "${package[0]}/"; then
    echo "try_package: these come from elsewhere" >&2
    return 1
  fi
  (cd "$scratch/home" && "${run[@]}" "${package[0]}/bin/conebench" run "$scratch/small.json" --db "$2.sqlite" --require-solved 1 &&
    "${run[@]}" "${package[0]}/bin/conebench" report "$2.sqlite" --out "$2" >/dev/null)
}
try "$scratch/first" before
mv "$scratch/first" "$scratch/a folder elsewhere"
try "$scratch/a folder elsewhere" after
[ -s "$scratch/home/after/index.html" ]
echo "the package runs as an ordinary user, before and after it is moved"
