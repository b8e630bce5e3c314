#!/usr/bin/env bash
# Usage: scripts/release.sh [--out DIR] [--build DIR] [--unreleased] [--twice] [--untried]
# Makes all files of the version that CMakeLists.txt has, in DIR/conebench-VERSION (default: release): tarball, tarball with
# peers, Debian package and wheel (for /usr/bin/python3), an SBOM with licences of each (SPDX 2.3), manual page, completion of bash,
# release notes from CHANGELOG.md, and SHA256SUMS. Each package is tried (scripts/try_package.sh); --untried: it is not.
# --build: what this build folder has, without a build: one for any processor, with the Python package. Without it build-release
# is built, once for all packages.
# --unreleased: notes of the changelog's section Unreleased, and a tree with changes is allowed.
# --twice: packs all of it again and fails unless every byte is the same.
# Times in the files are those of the last commit (SOURCE_DATE_EPOCH). docs/releases.md: what is the same from build to build.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
source scripts/packages.sh
out=release build='' unreleased='' twice='' options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --out) out=$2; shift 2 ;;
    --build) build=$2; shift 2 ;;
    --unreleased) unreleased=yes; shift ;;
    --twice) twice=yes; shift ;;
    --untried) options+=(--untried); shift ;;
    *) echo "scripts/release.sh: unknown argument '$1'; see scripts/release.sh --help" >&2; exit 2 ;;
  esac
done
version=$(sed -n 's/^project(conebench VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
section=$version
if [ -n "$unreleased" ]; then
  section=Unreleased
else
  [ -z "$(git status --porcelain)" ] || { echo "scripts/release.sh: the tree has changes; commit them, or --unreleased" >&2; exit 3; }
fi
notes=$(scripts/release_notes.sh "$section")
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH
if [ -z "$build" ]; then
  build=build-release
  install_missing "${build_packages[@]}" "${package_packages[@]}" "${peer_packages[@]}" "${program_packages[@]}" "${mesh_packages[@]}" \
    libpng-dev "${engine_packages[@]}" python3-venv
  scripts/fetch_mujoco.sh
  scripts/fetch_plotly.sh
  # pybind11 of PyPI: Debian 12's is for NumPy 1 alone.
  mkdir -p "$build"
  /usr/bin/python3 -m venv "$build/wheel-tools"
  "$build/wheel-tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r scripts/wheel-requirements.txt
  cp scripts/wheel-requirements.txt "$build/wheel-tools/.installed-lock"
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCONEBENCH_PYTHON=ON -DPython_EXECUTABLE=/usr/bin/python3 \
    -Dpybind11_DIR="$("$build/wheel-tools/bin/python" -m pybind11 --cmakedir)"
  cmake --build "$build" --target conebench conebench_python
fi
executable=$build/bin/conebench
[ -x "$executable" ] || { echo "scripts/release.sh: $executable: no such build" >&2; exit 3; }

make_all() {  # folder, arguments of package.sh
  local folder=$1 kind status
  shift
  rm -rf "$folder"
  mkdir -p "$folder"
  for kind in '' --peers --deb --wheel; do
    status=0
    # Without the tools or libraries it ends with 77 and says which.
    scripts/package.sh $kind --build "$build" --out "$folder" "$@" >"$folder/.log" 2>&1 || status=$?
    if [ $status -ne 0 ]; then
      cat "$folder/.log" >&2
      echo "scripts/release.sh: package.sh ${kind:-of the tarball} failed" >&2
      return 1
    fi
  done
  rm "$folder/.log"
  scripts/man_page.sh "$executable" >"$folder/conebench.1"
  "$executable" completion bash >"$folder/conebench.bash-completion"
  printf '%s\n' "$notes" >"$folder/RELEASE_NOTES.md"
  local sums
  sums=$(cd "$folder" && sha256sum -- * | LC_ALL=C sort -k 2)
  echo "$sums" >"$folder/SHA256SUMS"
}

release=$out/conebench-$version
make_all "$release" "${options[@]}"
if [ -n "$twice" ]; then
  again=$(mktemp -d)
  trap 'rm -rf "$again"' EXIT
  make_all "$again/second" --untried
  if ! diff -r "$release" "$again/second" >&2; then
    echo "scripts/release.sh: the second time gave other bytes" >&2
    exit 1
  fi
  echo "twice the same bytes"
fi
(cd "$release" && ls -sh1 -- *)
echo "$release"
