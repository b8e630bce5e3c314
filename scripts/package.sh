#!/usr/bin/env bash
# Usage: scripts/package.sh [--deb] [--build DIR] [--out DIR]
# Makes conebench-VERSION-x86_64.tar.gz, which runs from any folder without root: the executable for x86-64-v3 and the libraries
# it needs, MuJoCo's too, but the C library's. Siconos and Ipopt are not in it. Then tries it (scripts/try_package.sh).
# --deb: makes conebench_VERSION_amd64.deb by cpack instead: for any processor of the architecture, with dependencies, manual
# page and completion. --build: package the executable of this build folder; no build; 77 without the tools.
# A build for any processor (cmake without -march) gives both.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
source scripts/packages.sh
build='' out=. kind=tarball
while [ $# -gt 0 ]; do
  case "$1" in
    --deb) kind=deb; shift ;;
    --build) build=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    *) echo "scripts/package.sh: unknown argument '$1'; see scripts/package.sh --help" >&2; exit 2 ;;
  esac
done
tools=(patchelf objdump)
[ "$kind" = tarball ] || tools=(cpack dpkg-deb dpkg-shlibdeps file)
if [ -n "$build" ]; then
  for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }
  done
else
  install_missing "${build_packages[@]}" "${package_packages[@]}"
  install_missing "${engine_packages[@]}" || echo "No pip, which fetches MuJoCo." >&2
  scripts/fetch_mujoco.sh
  scripts/fetch_plotly.sh
  build=build-$kind flags=-march=x86-64-v3
  [ "$kind" = tarball ] || flags=''
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="$flags" -DCONEBENCH_TESTS=OFF \
    -DCONEBENCH_BENCHMARKS=OFF -DCONEBENCH_SICONOS=OFF -DCONEBENCH_IPOPT=OFF
  cmake --build "$build" --target conebench
fi
mkdir -p "$out"
if [ "$kind" = deb ]; then
  packed=$(mktemp -d)
  trap 'rm -rf "$packed"' EXIT
  cpack --config "$build/CPackConfig.cmake" -B "$packed" >"$packed/log" 2>&1 || { cat "$packed/log" >&2; exit 1; }
  package=$(basename "$packed"/*.deb)
  mv "$packed/$package" "$out/"
  scripts/try_package.sh "$out/$package"
  echo "$out/$package"
  exit 0
fi
version=$("$build/bin/conebench" --version)
name=conebench-$(awk '{ print $2 }' <<<"$version")-x86_64
[[ $version != *native* ]] || name+=-native  # for processors like this one alone
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/$name"/{bin,lib,share/licenses}
cp LICENSE "$stage/$name/"
cp -r suites "$stage/$name/share/"
cp "$build/bin/conebench" "$stage/$name/bin/"
# The C library belongs to the kernel and the system's settings, and is older or newer there as a whole.
mapfile -t libraries < <(ldd "$build/bin/conebench" | awk '/=> \// { print $3 }' |
  grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so')
cp -L "${libraries[@]}" "$stage/$name/lib/"
# By name: dpkg knows a file below /lib or below /usr/lib.
mapfile -t patterns < <(realpath "${libraries[@]}" | sed 's|.*/|*/|')
{ dpkg-query -S "${patterns[@]}" 2>/dev/null || true; } | cut -d: -f1 | sort -u | while read -r package; do
  [ ! -e "/usr/share/doc/$package/copyright" ] || cp -L "/usr/share/doc/$package/copyright" "$stage/$name/share/licenses/$package"
done
# MuJoCo's library belongs to no package of the system. Its licences are where CMake installs it.
cmake --install "$build" --component tool --prefix "$stage/installed" >/dev/null
licenses=$stage/installed/share/doc/conebench/mujoco
[ ! -d "$licenses" ] || cp -r "$licenses" "$stage/$name/share/licenses/"
# RPATH and not RUNPATH: libraries find each other by it, too, and before LD_LIBRARY_PATH.
patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "$stage/$name/bin/conebench"
for library in "$stage/$name"/lib/*; do patchelf --force-rpath --set-rpath '$ORIGIN' "$library"; done
glibc=$(objdump -T "$stage/$name"/bin/* "$stage/$name"/lib/* | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
echo "bin/conebench runs from any folder, on x86-64 Linux with AVX2 and glibc ${glibc#GLIBC_} or newer." >"$stage/$name/README"
tar -C "$stage" --owner=0 --group=0 -czf "$out/$name.tar.gz" "$name"
scripts/try_package.sh "$out/$name.tar.gz"
echo "$out/$name.tar.gz"
