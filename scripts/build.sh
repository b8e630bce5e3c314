#!/usr/bin/env bash
# Usage: scripts/build.sh [--tests]
# Installs what is missing and builds the release preset, with --tests the tests, too; leaves the executable at
# build/bin/conebench.
# CONEBENCH_NATIVE=OFF builds for any processor of this architecture instead of this machine's.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
with_tests=OFF
for argument in "$@"; do
  case "$argument" in
    --tests) with_tests=ON ;;
    *) echo "scripts/build.sh: unknown argument '$argument'; see scripts/build.sh --help" >&2; exit 2 ;;
  esac
done
source scripts/packages.sh

if command -v dpkg-query >/dev/null; then
  install_missing "${build_packages[@]}"
  install_missing "${peer_packages[@]}" || echo "No Siconos or no Ipopt: their solvers are left out." >&2
  install_missing "${program_packages[@]}" || echo "No CLP: problems without a solution are not recognised." >&2
  install_missing "${mesh_packages[@]}" || echo "No assimp: URDF with .dae or ASCII .stl meshes is refused." >&2
  install_missing "${picture_packages[@]}" || echo "No libpng or OSMesa: no pictures of simulated scenes." >&2
  install_missing "${engine_packages[@]}" || echo "No pip, which fetches MuJoCo." >&2
  install_missing "${plot_packages[@]}" || echo "No gnuplot: figures of papers are left as .gp, .tex and .csv." >&2
  if [ "$with_tests" = ON ]; then install_missing "${test_packages[@]}"; fi
  if [ "$with_tests" = ON ]; then
    install_missing "${package_packages[@]}" || echo "No patchelf: the test of packages is skipped." >&2
    install_missing "${cluster_packages[@]}" || echo "No Slurm: its test is skipped." >&2
    install_missing "${environment_packages[@]}" || echo "No venv: the tests of captures and peers are skipped." >&2
    install_missing "${python_packages[@]}" || echo "No pybind11 or scipy: the Python package is left out." >&2
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
  cmake --build build --parallel --target conebench
fi
