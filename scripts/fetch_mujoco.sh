#!/usr/bin/env bash
# Usage: scripts/fetch_mujoco.sh
# Puts MuJoCo's headers, C library and licences into build/mujoco, where cmake/FindMuJoCo.cmake looks. They are from a
# Python wheel: version and hashes in scripts/mujoco-requirements.txt. pip fetches it; nothing needs Python at run time.
# Without pip, a registry or a wheel for this machine it says so and succeeds: the build goes on without simulation.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."

folder=build/mujoco lock=scripts/mujoco-requirements.txt
if cmp -s "$lock" "$folder/.installed-lock"; then exit 0; fi
give_up() {
  echo "$1: the simulated scenes are left out, unless cmake finds a MuJoCo of 3.3.6 or later." >&2
  exit 0
}
# The wheel's library needs the GNU C library.
[ "$(uname -s)" = Linux ] && getconf GNU_LIBC_VERSION >/dev/null 2>&1 || give_up "No MuJoCo wheel for this system"
python=''
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -m pip --version >/dev/null 2>&1; then python=$candidate; break; fi
done
[ -n "$python" ] || give_up "pip not found, so no MuJoCo"

work=$folder.new
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
# One interpreter's wheel, whichever Python runs pip: what is taken from it is the same in all.
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
  --retries 1 --implementation cp --python-version 3.11 --platform "manylinux_2_28_$(uname -m)" \
  --dest "$work" --requirement "$lock" >"$work/log" 2>&1 ||
  give_up "MuJoCo could not be fetched ($(grep -m 1 '^ERROR' "$work/log" || echo "pip failed"))"
"$python" - "$work" <<'PYTHON'
import pathlib, sys, zipfile

folder = pathlib.Path(sys.argv[1])
with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
    for name in wheel.namelist():
        path = pathlib.PurePosixPath(name)
        if name.startswith(("mujoco/include/mujoco/", "mujoco/libmujoco.so.")) and not name.endswith("/"):
            target = folder / path.relative_to("mujoco")
        elif path.match("*.dist-info/licenses/*"):
            target = folder / "licenses" / path.name
        else:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(wheel.read(name))
PYTHON
rm -f "$work"/*.whl "$work/log"
cp "$lock" "$work/.installed-lock"
rm -rf "$folder"
mv "$work" "$folder"
