# Sourced first by every script with its arguments: for --help it prints the script's header comment and ends it.

case "${1:-}" in
  -h | --help)
    sed -n '2,/^[^#]/ { /^#/ s/^# \{0,1\}//p }' "$0"
    exit 0
    ;;
esac
