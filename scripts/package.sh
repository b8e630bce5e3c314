#!/usr/bin/env bash
# Usage: scripts/package.sh [--peers | --deb | --wheel [--python PYTHON]] [--build DIR] [--out DIR] [--untried]
# Makes conebench-VERSION-x86_64.tar.gz, which runs from any folder without root: the executable for x86-64-v3 and the libraries
# it needs, MuJoCo's too, but the C library's. Then tries it (scripts/try_package.sh; --untried: it does not).
# --peers: conebench-VERSION-x86_64-peers.tar.gz, which also has Siconos, Ipopt and what they need. The other packages use those
# of the system, where they are installed.
# --deb: makes conebench_VERSION_amd64.deb by cpack instead: for any processor of the architecture, with dependencies, manual
# page and completion.
# --wheel: makes conebench-VERSION-cpXY-cpXY-manylinux_2_N_x86_64.whl for pip instead: executable and Python module, for any
# processor of the architecture and the Python that PYTHON (default: /usr/bin/python3) is, with the libraries that they need.
# Its tools come from PyPI (scripts/wheel-requirements.txt).
# --build: package what this build folder has; no build; 77 without the tools. With a pybind11 before 2.12 in it (Debian 12's)
# the wheel is for NumPy 1.
# A build for any processor (cmake without -march) gives all four: scripts/release.sh.
# PACKAGE.spdx.json beside it says what is in it, under which licences (scripts/sbom.py).
# The same build folder gives the same bytes, with the time of SOURCE_DATE_EPOCH (seconds; default: the last commit's).
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
source scripts/packages.sh
build='' out=. kind=tarball python=/usr/bin/python3 peers='' untried=''
while [ $# -gt 0 ]; do
  case "$1" in
    --deb) kind=deb; shift ;;
    --peers) peers=yes; shift ;;
    --untried) untried=yes; shift ;;
    --wheel) kind=wheel; shift ;;
    --python) python=$2; shift 2 ;;
    --build) build=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    *) echo "scripts/package.sh: unknown argument '$1'; see scripts/package.sh --help" >&2; exit 2 ;;
  esac
done
[ -z "$peers" ] || [ "$kind" = tarball ] || { echo "scripts/package.sh: --peers is of the tarball" >&2; exit 2; }
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}"
export SOURCE_DATE_EPOCH
umask 022
finish() {  # package: tried, and with an SBOM beside it
  [ -n "$untried" ] || scripts/try_package.sh "$1"
  scripts/sbom.py "$1" >"$1.spdx.json"
  echo "$1"
}
# The C library belongs to the kernel and the system's settings, and is older or newer there as a whole.
carried_libraries() {  # of these executables and libraries
  ldd "$@" | awk '/=> \// { print $3 }' | grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' | sort -u
}
copy_licenses() {  # folder, libraries: copyright files of the packages that own them, or the headers that are compiled in
  local patterns headers=(/usr/include/{eigen3/Eigen/Core,CLI/CLI.hpp,nlohmann/json.hpp,boost/version.hpp})
  mapfile -t patterns < <(realpath "${@:2}" | sed 's|.*/|*/|')  # dpkg knows a file below /lib or below /usr/lib
  { dpkg-query -S "${patterns[@]}" "${headers[@]}" 2>/dev/null || true; } | cut -d: -f1 | sort -u | while read -r package; do
    [ ! -e "/usr/share/doc/$package/copyright" ] || cp -L "/usr/share/doc/$package/copyright" "$1/$package"
  done
  local plotly  # in the executable
  plotly=$(sed -n 's/^CONEBENCH_PLOTLY:[A-Z]*=//p' "$build/CMakeCache.txt")
  [ ! -e "$plotly" ] || cp "${plotly%/*}/LICENSE" "$1/plotly.js"
}
wheel_tools() {  # folder: a virtual environment with the tools of wheels, made where it is not there or is older
  local lock=scripts/wheel-requirements.txt
  if cmp -s "$lock" "$1/.installed-lock"; then return; fi
  rm -rf "$1"
  "$python" -m venv "$1" && "$1/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$lock" &&
    cp "$lock" "$1/.installed-lock"
}
case "$kind" in
  tarball) tools=(patchelf objdump) ;;
  deb) tools=(cpack dpkg-deb dpkg-shlibdeps file) ;;
  wheel) tools=(ldd) ;;
esac
if [ -n "$build" ]; then
  for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }
  done
  if [ "$kind" = wheel ]; then
    core=$(find "$build/python/conebench" -name '_core.*.so' 2>/dev/null)
    [ -n "$core" ] || { echo "skipped: needs a build with the Python package"; exit 77; }
    python=$(sed -n 's/^_Python_EXECUTABLE:INTERNAL=//p' "$build/CMakeCache.txt")
    wheel_tools "$build/wheel-tools" || { echo "skipped: needs the tools of scripts/wheel-requirements.txt"; exit 77; }
  fi
else
  install_missing "${build_packages[@]}" "${package_packages[@]}"
  install_each "it fetches MuJoCo" "${engine_packages[@]}"
  install_each "its solvers are left out" "${peer_packages[@]}"
  scripts/fetch_mujoco.sh
  scripts/fetch_plotly.sh
  build=build-$kind flags='' options=() targets=(conebench)
  case "$kind" in
    tarball) flags=-march=x86-64-v3 ;;
    wheel)
      build+=/package-$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
      wheel_tools "$build/wheel-tools"
      options=(-DCONEBENCH_PYTHON=ON -DPython_EXECUTABLE="$(command -v "$python")"
               -Dpybind11_DIR="$("$build/wheel-tools/bin/python" -m pybind11 --cmakedir)")
      targets+=(conebench_python_core)
      ;;
  esac
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="$flags" -DCONEBENCH_TESTS=OFF \
    -DCONEBENCH_BENCHMARKS=OFF "${options[@]}"
  cmake --build "$build" --target "${targets[@]}"
fi
mkdir -p "$out"
if [ "$kind" = deb ]; then
  packed=$(mktemp -d)
  trap 'rm -rf "$packed"' EXIT
  cpack --config "$build/CPackConfig.cmake" -B "$packed" >"$packed/log" 2>&1 || { cat "$packed/log" >&2; exit 1; }
  package=$(basename "$packed"/*.deb)
  mv "$packed/$package" "$out/"
  finish "$out/$package"
  exit 0
fi
version=$("$build/bin/conebench" --version)
if [ "$kind" = wheel ]; then
  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' EXIT
  tools=$(realpath "$build/wheel-tools")
  export PATH="$tools/bin:$PATH"
  # pyproject.toml's metadata and the Python files; then what the build folder has.
  pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --config-settings wheel.cmake=false \
    --wheel-dir "$stage" .
  wheel unpack --dest "$stage" "$stage"/*.whl >/dev/null
  rm "$stage"/*.whl
  content=$(echo "$stage"/conebench-*)
  cmake --install "$build" --component wheel --strip --prefix "$content" >/dev/null
  core=$(echo "$content"/conebench/_core.*.so)
  tag=$(python -c 'import packaging.tags; print(next(packaging.tags.cpython_tags(platforms=["linux_x86_64"])))')
  sed -i "s/^Root-Is-Purelib:.*/Root-Is-Purelib: false/; s/^Tag:.*/Tag: $tag/" "$content"/*.dist-info/WHEEL
  pybind11=$(sed -n 's/^pybind11_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")/pybind11ConfigVersion.cmake
  pybind11=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")$/\1/p' "$pybind11" | head -n 1)
  if [ "$(printf '%s\n' 2.12 "$pybind11" | sort -V | head -n 1)" != 2.12 ]; then
    echo "pybind11 $pybind11 of $build is older than 2.12: the wheel is for NumPy 1 alone."
    sed -i 's/^\(Requires-Dist: numpy>=[0-9.]*\)$/\1,<2/' "$content"/*.dist-info/METADATA
  fi
  # The reference LAPACK, which CLP calls for small matrices, in place of an OpenBLAS ten times its size.
  reference=/usr/lib/$(uname -m)-linux-gnu
  export LD_LIBRARY_PATH=$reference/lapack:$reference/blas
  mapfile -t libraries < <(carried_libraries "$content/conebench/bin/conebench" "$core" | grep -vF "$content")
  licenses=$content/conebench/share/licenses
  mkdir -p "$licenses"
  copy_licenses "$licenses" "${libraries[@]}"
  cp "$tools"/lib/python*/site-packages/pybind11-*.dist-info/licenses/LICENSE "$licenses/pybind11"
  number=() unchecked=()
  if [[ $version == *native* ]]; then  # for processors like this one alone
    number=(--build-number 0native) unchecked=(--disable-isa-ext-check)
  fi
  wheel pack --dest-dir "$stage" "${number[@]}" "$content" >/dev/null
  auditwheel repair --strip "${unchecked[@]}" --wheel-dir "$stage/repaired" "$stage"/*.whl >"$stage/log" 2>&1 ||
    { cat "$stage/log" >&2; exit 1; }
  unset LD_LIBRARY_PATH
  wheel=$(basename "$stage"/repaired/*.whl)
  mv "$stage/repaired/$wheel" "$out/"
  finish "$out/$wheel"
  exit 0
fi
name=conebench-$(awk '{ print $2 }' <<<"$version")-x86_64
[[ $version != *native* ]] || name+=-native  # for processors like this one alone
programs=("$build/bin/conebench")
if [ -n "$peers" ]; then
  name+=-peers
  for library in SiconosNumerics_LIBRARY Ipopt_LIBRARY; do
    file=$(sed -n "s/^$library:[A-Z]*=//p" "$build/CMakeCache.txt")
    [ -e "$file" ] || { echo "skipped: needs a build with Siconos and Ipopt"; exit 77; }
    # By the name that the executable loads it by.
    programs+=("$(dirname "$file")/$(objdump -p "$file" | awk '/SONAME/ { print $2 }')")
  done
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/$name"/{bin,lib,share/licenses}
cp LICENSE "$stage/$name/"
cp -r suites "$stage/$name/share/"
cp "$build/bin/conebench" "$stage/$name/bin/"
mapfile -t libraries < <({ for library in "${programs[@]:1}"; do echo "$library"; done; carried_libraries "${programs[@]}"; } | sort -u)
cp -L "${libraries[@]}" "$stage/$name/lib/"
copy_licenses "$stage/$name/share/licenses" "${libraries[@]}"
# MuJoCo's library belongs to no package of the system. Its licences are where CMake installs it.
cmake --install "$build" --component tool --prefix "$stage/installed" >/dev/null
licenses=$stage/installed/share/doc/conebench/mujoco
[ ! -d "$licenses" ] || cp -r "$licenses" "$stage/$name/share/licenses/"
# RPATH and not RUNPATH: libraries find each other by it, too, and before LD_LIBRARY_PATH.
patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "$stage/$name/bin/conebench"
for library in "$stage/$name"/lib/*; do patchelf --force-rpath --set-rpath '$ORIGIN' "$library"; done
glibc=$(objdump -T "$stage/$name"/bin/* "$stage/$name"/lib/* | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
processor='x86-64 Linux'
if grep -q '^CMAKE_CXX_FLAGS:.*x86-64-v3' "$build/CMakeCache.txt"; then processor+=' with AVX2'; fi
[[ $version != *native* ]] || processor+=' on processors like that of its build'
echo "bin/conebench runs from any folder, on $processor and glibc ${glibc#GLIBC_} or newer." >"$stage/$name/README"
tar -C "$stage" --owner=0 --group=0 --numeric-owner --sort=name --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
  gzip -n >"$out/$name.tar.gz"
finish "$out/$name.tar.gz"
