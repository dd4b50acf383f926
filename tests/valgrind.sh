#!/bin/sh
# One unit test under valgrind: the folder of the build, and the test's name. Ends with 1, and shows what was said, when
# the test fails, memory is used wrongly, or memory is lost.
#
# valgrind knows no AVX-512. A child that a test forks on purpose ends with what it holds: leaks are looked for in the
# log, which the children do not write to.
set -u
folder=$1
name=$2
mkdir -p "$folder/valgrind"
log=$folder/valgrind/$name.log
output=$folder/valgrind/$name.output
began=$(date +%s)
ONEDNN_MAX_CPU_ISA=AVX2 valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=none \
    --child-silent-after-fork=yes --log-file="$log" "$folder/tests/$name" >"$output" 2>&1
code=$?
if [ $code -eq 0 ] && ! grep -q 'definitely lost' "$log"; then
    printf '%-28s clean (%d s)\n' "$name" $(($(date +%s) - began))
else
    printf '%-28s failed (exit code %d)\n' "$name" $code
    cat "$output" "$log" >&2
    exit 1
fi
