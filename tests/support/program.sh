# shellcheck shell=sh disable=SC2154 # program is set by who sources this
# What the tests of the program share; sourced with $program set. A test that sets $limit runs the program for at most so
# many seconds.

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# expect CODE ARGUMENT...: runs the program; output in out and err.
expect() {
    code=$1
    shift
    got=0
    ${limit:+timeout "$limit"} "$program" "$@" >out 2>err || got=$?
    [ "$got" = "$code" ] || {
        cat out err >&2
        fail "stablegrad $* ended with $got, not $code"
    }
}

# says FILE TEXT: the file contains the text.
says() {
    grep -qF -e "$2" "$1" || {
        cat "$1" >&2
        fail "$1 does not say: $2"
    }
}
