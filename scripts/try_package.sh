#!/usr/bin/env bash
# Usage: scripts/try_package.sh [--install | --chroot SUITE] PACKAGE
# Unpacks a package of scripts/package.sh, runs it as an ordinary user with an empty home; a tarball is moved and run again.
# Where it has MuJoCo, it also simulates a scene, and MuJoCo's licence is looked for. Where it has peers, each solves.
# Of a Debian package also the dependencies, the manual page and the completion are checked.
# --install: a Debian package is installed by dpkg, run from /usr/bin and removed; needs root.
# A wheel is installed into a fresh virtual environment and used there (tests/install/wheel_test.py).
# --chroot: a package is installed and used in a bare system that debootstrap makes: SUITE is bookworm, trixie or noble, or the
# folder of a system that is there and is changed. Needs root, debootstrap and package mirrors. A wheel gets python3 and
# python3-venv; its Python must be the suite's.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
install='' chroot=''
case "${1:-}" in
  --install) install=yes; shift ;;
  --chroot) chroot=${2:-}; shift 2 ;;
esac
[ $# -eq 1 ] || { echo "scripts/try_package.sh: needs one package; see scripts/try_package.sh --help" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
here=$(cd "$(dirname "$0")" && pwd)
if [ -n "$chroot" ]; then
  package=$(realpath "$1")
  root=$chroot
  if [ ! -d "$root" ]; then
    root=$scratch/root from=()
    [ "$chroot" != noble ] || from=(http://archive.ubuntu.com/ubuntu)
    debootstrap --variant=minbase --include=ca-certificates "$chroot" "$root" "${from[@]}" >"$scratch/log" ||
      { tail -n 5 "$scratch/log" >&2; exit 1; }
  fi
  mkdir -p "$root/opt/conebench/scripts" "$root/opt/conebench/tests/install"
  cp "$package" "$root/opt/conebench/"
  cp "$here/try_package.sh" "$here/usage.sh" "$root/opt/conebench/scripts/"
  cp "$here/../tests/install/wheel_test.py" "$root/opt/conebench/tests/install/"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  case "$package" in
    *.deb) needs=("./$(basename "$package")") option=--install ;;
    *.whl)
      needs=(python3 python3-venv) option=wheels
      # What it requires, by this system's pip with its index and certificates.
      number=$(sed -E 's/.*-cp3([0-9]+)-.*/\1/' <<<"$package")
      python3 -m venv "$scratch/venv"
      "$scratch/venv/bin/pip" --quiet --disable-pip-version-check download --only-binary :all: --python-version "3.$number" \
        --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux_2_35_x86_64 \
        --dest "$root/opt/conebench/wheels" "$package"
      ;;
    *) needs=() option='' ;;
  esac
  # Mounts end with the process.
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && exec chroot "$1" /bin/bash -c "$2" bash' \
    sh "$root" "set -e; cd /opt/conebench; export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
      if [ -n '${needs[*]-}' ]; then apt-get update -qq; apt-get install -y -qq --no-install-recommends ${needs[*]-} >/dev/null; fi
      case '$option' in
        wheels) python3 tests/install/wheel_test.py '$(basename "$package")' wheels ;;
        *) scripts/try_package.sh $option '$(basename "$package")' ;;
      esac"
  exit
fi
if [[ $1 == *.whl ]]; then
  number=$(sed -E 's/.*-cp3([0-9]+)-.*/\1/' <<<"$1")
  python=$(PATH="/usr/bin:$PATH" command -v "python3.$number") || { echo "skipped: needs Python 3.$number"; exit 77; }
  "$python" "$here/../tests/install/wheel_test.py" "$1"
  exit
fi
mkdir "$scratch/home" "$scratch/first"
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
sweep() {  # executable, name of what it writes
  (cd "$scratch/home" && "${run[@]}" "$1" run "$scratch/small.json" --db "$2.sqlite" --require-solved 1 &&
    "${run[@]}" "$1" report "$2.sqlite" --out "$2" >/dev/null)
  [ -s "$scratch/home/$2/index.html" ]
  if grep -q '^MuJoCo ' <<<"$("${run[@]}" "$1" doctor || true)"; then
    (cd "$scratch/home" && "${run[@]}" "$1" generate box-on-plane --out "$2-samples" >"$2.log" 2>&1) ||
      { cat "$scratch/home/$2.log" >&2; return 1; }
  fi
}
check_mujoco() {  # executable, folder of the package: MuJoCo is the system's, or the package's with its licence
  local library
  library=$("${run[@]}" ldd "$1" | sed -n 's/.*libmujoco[^ ]* => \(.*\) (0x.*/\1/p')  # a folder's name may have blanks
  case "$library" in
    '' | /lib/* | /usr/lib/*) return ;;
    "$2"/*) [ -z "$(find "$2" -path '*/mujoco/LICENSE*')" ] || return 0 ;;
  esac
  echo "try_package: $library comes from elsewhere, or without its licence" >&2
  return 1
}
run=("${as_user[@]}" env -i HOME="$scratch/home" PATH=/usr/bin:/bin)
if [[ $1 == *.deb ]]; then
  version=$(dpkg-deb --field "$1" Version)
  dpkg-deb --field "$1" Depends | tr ',' '\n' | while read -r package _; do
    [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "${package%:*}" 2>/dev/null)" = "ii " ] ||
      { echo "try_package: depends on $package, which is not installed here" >&2; exit 1; }
  done
  dpkg-deb --field "$1" Depends | grep -q 'libc6 (>=' || { echo "try_package: no dependency on libc6" >&2; exit 1; }
  dpkg-deb -x "$1" "$scratch/first"
  check_mujoco "$scratch/first/usr/bin/conebench" "$scratch/first"
  root=$scratch/first
  if [ -n "$install" ]; then
    dpkg -i "$1"
    trap 'dpkg -r conebench >/dev/null; rm -rf "$scratch"' EXIT
    root=
  fi
  bash -n "$root/usr/share/bash-completion/completions/conebench"
  grep -q '^\.SH CONEBENCH RUN' "$root/usr/share/man/man1/conebench.1"
  [ -s "$root/usr/share/doc/conebench/copyright" ]
  "${run[@]}" "$root/usr/bin/conebench" --version | grep -qF "conebench $version "
  sweep "$root/usr/bin/conebench" installed
  echo "the package ${install:+installs and }runs as an ordinary user"
  exit 0
fi
tar -C "$scratch/first" -xzf "$1"
try() {  # folder with the package
  local package=("$1"/conebench-*)
  # Every library but the C library's comes from the package.
  if "${run[@]}" ldd "${package[0]}/bin/conebench" | grep '=> ' | grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' |
    grep -vF "${package[0]}/"; then
    echo "try_package: these come from elsewhere" >&2
    return 1
  fi
  check_mujoco "${package[0]}/bin/conebench" "${package[0]}"
  sweep "${package[0]}/bin/conebench" "$2"
  local library solver
  for library in "${package[0]}"/lib/lib{siconos_numerics,ipopt}.so.*; do
    [ -e "$library" ] || continue
    solver=SICONOS-NSGS
    [[ $library != *ipopt* ]] || solver=IPOPT-CCP
    (cd "$scratch/home" && "${run[@]}" "${package[0]}/bin/conebench" solve sliding-box --solver $solver >/dev/null)
  done
}
try "$scratch/first" before
mv "$scratch/first" "$scratch/a folder elsewhere"
try "$scratch/a folder elsewhere" after
echo "the package runs as an ordinary user, before and after it is moved"
