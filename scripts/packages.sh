# The Debian packages that Conebench needs, and the one way in which scripts install them. Sourced, not run.

build_packages=(g++ cmake ninja-build libeigen3-dev libhdf5-dev libfmt-dev libcli11-dev nlohmann-json3-dev
                libsqlite3-dev zlib1g-dev libxxhash-dev libre2-dev libboost-dev libpugixml-dev libmetis-dev)
# Peer solvers; the build goes on without them.
peer_packages=(libsiconos-numerics-dev coinor-libipopt-dev)
# Linear programs that prove that a problem has no solution; the build goes on without it.
program_packages=(coinor-libclp-dev)
# scripts/fetch_mujoco.sh gets MuJoCo, the engine behind the simulated scenes, by pip; the build goes on without it.
engine_packages=(python3-pip)
# scripts/fetch_peers.sh makes an environment of them, and the adapter of ODE is compiled against its library; without
# these their tests are skipped.
environment_packages=(python3-venv libode-dev)
# Meshes of URDF files that MuJoCo does not read; the build goes on without it.
mesh_packages=(libassimp-dev)
# Pictures of the scenes; without the first the build leaves them out, without the second a run does.
picture_packages=(libpng-dev libosmesa6)
# Figures of `conebench paper`; without it they are left as sources and numbers.
plot_packages=(gnuplot-nox)
# Google Benchmark is here because the test build also compiles the kernel benchmarks.
test_packages=(libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev python3 python3-numpy python3-h5py python3-yaml
               hdf5-tools sqlite3 codespell mypy chromium chromium-driver texlive-latex-recommended texlive-pictures
               texlive-science)
# Packages of scripts/package.sh.
package_packages=(patchelf dpkg-dev file)
# A cluster on the loopback; without it the test of `conebench slurm` is skipped.
cluster_packages=(slurm-wlm munge)
# The Python package (docs/python.md), which a build with tests has; it goes on without.
python_packages=(pybind11-dev python3-numpy python3-scipy python3-pandas)
# libFuzzer and the sanitizers of scripts/fuzz.sh.
fuzz_packages=(clang libclang-rt-14-dev)

# What scripts/build.sh --tests goes on without.
optional_packages=("${peer_packages[@]}" "${program_packages[@]}" "${mesh_packages[@]}" "${picture_packages[@]}" "${engine_packages[@]}"
                   "${plot_packages[@]}" "${package_packages[@]}" "${cluster_packages[@]}" "${python_packages[@]}"
                   "${environment_packages[@]}")

# missing_of PACKAGE…: those that dpkg does not have, a line each.
missing_of() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok' || echo "$package"
  done
}

# install_each WITHOUT PACKAGE…: as install_missing, but each by itself where they can't all be had, as a distribution may
# lack one. Says what is done WITHOUT those that are missing.
install_each() {
  local without=$1 package
  shift
  install_missing "$@" && return
  for package in $(missing_of "$@"); do
    [ $# -gt 1 ] && install_missing "$package" && continue
    echo "No $package: $without" >&2
  done
}

# install_missing PACKAGE…: installs those that dpkg does not have; says nothing and asks nobody where none is missing.
install_missing() {
  local missing
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} -eq 0 ] && return 0
  if ! command -v apt-get >/dev/null; then
    echo "conebench: this system has no apt-get; install what corresponds to: ${missing[*]}" >&2
    return 1
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "conebench: need root (or sudo) to install: ${missing[*]}" >&2; return 1; }
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]} …"
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      "${missing[@]}" >/dev/null
}
