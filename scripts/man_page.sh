#!/usr/bin/env bash
# Usage: scripts/man_page.sh [EXECUTABLE] >conebench.1
# Writes the manual page from the executable's own help (build/bin/conebench); `cmake --install` calls it.
set -euo pipefail
source "$(dirname "$0")/usage.sh"
conebench=${1:-$(dirname "$0")/../build/bin/conebench}

# help WORD…: what `conebench WORD… --help` prints, as roff that is not filled.
help() {
  echo .nf
  "$conebench" "$@" --help | sed -e 's/\\/\\e/g' -e "s/^[.']/\\\\\&&/" -e 's/-/\\-/g'
  echo .fi
}

# commands_of WORD…: the subcommands of `conebench WORD…`.
commands_of() {
  "$conebench" "$@" --help | awk '/^Subcommands:/ { inside = 1; next } /^$/ { inside = 0 } inside && /^  [a-z]/ { print $1 }'
}

version=$("$conebench" --version | sed -n '1s| (.*||p')
printf '.TH CONEBENCH 1 "" "%s" "User Commands"\n' "$version"
printf '.SH NAME\nconebench \\- compare solvers of frictional contact\n.SH DESCRIPTION\n'
help
for command in $(commands_of); do
  printf '.SH CONEBENCH %s\n' "${command^^}"
  help "$command"
  for part in $(commands_of "$command"); do
    printf '.SH CONEBENCH %s %s\n' "${command^^}" "${part^^}"
    help "$command" "$part"
  done
done
