#!/usr/bin/env bash
# Usage: scripts/release_notes.sh [VERSION]
# Prints the changelog's section of a version (without one: of what is unreleased), the notes of its release.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
cd "$(dirname "$0")/.."
version=${1:-Unreleased}
notes=$(awk -v head="## [$version]" 'index($0, "## ") == 1 { inside = index($0, head) == 1; next } inside' CHANGELOG.md)
[ -n "$notes" ] || { echo "conebench: CHANGELOG.md has no section [$version]" >&2; exit 2; }
printf '%s\n' "$notes"
