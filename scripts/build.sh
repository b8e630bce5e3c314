#!/usr/bin/env bash
# Usage: scripts/build.sh [--tests | --python]
# Installs what is missing and builds the release preset; leaves the executable at build/bin/conebench. Every optional
# package is asked for by itself: without it the build goes on, and says what is left out.
# --python: also the Python package, in build/python. --tests: also that and the tests.
# CONEBENCH_NATIVE=OFF builds for any processor of this architecture instead of this machine's.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
with_tests=OFF with_python=OFF
for argument in "$@"; do
  case "$argument" in
    --tests) with_tests=ON with_python=ON ;;
    --python) with_python=ON ;;
    *) echo "scripts/build.sh: unknown argument '$argument'; see scripts/build.sh --help" >&2; exit 2 ;;
  esac
done
source scripts/packages.sh

if command -v dpkg-query >/dev/null; then
  install_missing "${build_packages[@]}"
  install_each "its solvers are left out" "${peer_packages[@]}"
  install_each "problems without a solution are not recognised" "${program_packages[@]}"
  install_each "URDF with .dae or ASCII .stl meshes is refused" "${mesh_packages[@]}"
  install_each "no pictures of simulated scenes" "${picture_packages[@]}"
  install_each "it fetches MuJoCo" "${engine_packages[@]}"
  install_each "figures of papers are left as .gp, .tex and .csv" "${plot_packages[@]}"
  if [ "$with_python" = ON ]; then install_each "the Python package is left out" "${python_packages[@]}"; fi
  if [ "$with_tests" = ON ]; then
    install_missing "${test_packages[@]}"
    install_each "the test of packages is skipped" "${package_packages[@]}"
    install_each "its test is skipped" "${cluster_packages[@]}"
    install_each "the tests of captures and peers are skipped" "${environment_packages[@]}"
  fi
  # Only the charts need npm, so a machine without it (or without a registry) still gets a working build.
  command -v npm >/dev/null || install_missing nodejs npm || echo "No npm: reports will have tables and no charts." >&2
fi
scripts/fetch_mujoco.sh || echo "MuJoCo could not be unpacked: the simulated scenes are left out." >&2
if [ "$with_tests" = ON ]; then scripts/fetch_peers.sh || echo "No environment of peers: their tests are skipped." >&2; fi
scripts/fetch_plotly.sh || echo "Plotly could not be installed: reports will have tables and no charts." >&2

options=(-DCONEBENCH_NATIVE="${CONEBENCH_NATIVE:-ON}")
# A build folder that already has the tests keeps them.
if [ "$with_tests" = ON ] || [ ! -f build/CMakeCache.txt ]; then
  options+=(-DCONEBENCH_TESTS="$with_tests" -DCONEBENCH_BENCHMARKS="$with_tests")
fi
mkdir -p build
if ! cmake --preset release "${options[@]}" >build/configure.log 2>&1; then
  cat build/configure.log >&2
  exit 1
fi
if [ "$with_tests" = ON ]; then
  cmake --build build --parallel
else
  targets=(conebench)
  if [ "$with_python" = ON ]; then
    grep -q '^build conebench_python:' build/build.ninja ||
      { echo "scripts/build.sh: --python needs pybind11 (Debian: ${python_packages[*]})" >&2; exit 1; }
    targets+=(conebench_python)
  fi
  cmake --build build --parallel --target "${targets[@]}"
fi
