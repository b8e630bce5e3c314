#!/usr/bin/env bash
# Usage: scripts/draw_scenes.sh [SCENE…]
# Draws the simulated scenes (all of them if none is named) as build/scenes/SCENE.png. Needs a build with libpng, and
# OSMesa. The executable is build/bin/conebench, or what CONEBENCH in the environment names.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
conebench=${CONEBENCH:-build/bin/conebench}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p build/scenes

# The step to draw: when something can be seen of what the scene is about.
declare -A step=([box-on-plane]=10 [boxes-fixed]=20 [nunchuk]=30 [arm7d]=300 [fclib-boxes-stack]=60 [fclib-capsules]=500
                 [fclib-kapla-tower]=1 [fclib-spheres]=120 [fclib-chute]=500 [cube-stack-hit]=30 [humanoid]=150
                 [humanoid-squat]=100 [hoist]=100 [net]=150 [hand]=50 [fclib-chain]=60 [arm-on-wall]=100 [fourbar]=100
                 [soft-drop]=12 [soft-mat]=150 [soft-ball-grip]=60 [soft-gripper]=60 [cable-winding]=150)
if [ $# -eq 0 ]; then
  set -- $("$conebench" list scenes --json | python3 -c '
import json, sys
print(*[scene["id"] for scene in json.load(sys.stdin)["simulated"] if scene["id"] != "file"])')
fi
for scene in "$@"; do
  steps=${step[$scene]:-50}
  "$conebench" generate "$scene" --out "$work/$scene" --steps "$steps" --picture --set every=$steps \
    --set solver=CASCADE --set tolerance=1e-6 >/dev/null
  mv "$work/$scene/picture.png" "build/scenes/$scene.png"
  echo "build/scenes/$scene.png $(stat -c %s "build/scenes/$scene.png") B"
done
