#!/bin/sh
# The steps of docs/tutorial.md: the files that it shows are those of examples/tutorial, each can be checked, and trained for a
# few steps.
set -eu
program=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
folder=$source/examples/tutorial

fail() {
    echo "$1" >&2
    exit 1
}

# A line that ends in [NAME](../examples/tutorial/NAME): is followed by the file, indented; or, of a table, by its first lines.
awk '
    match($0, /\(\.\.\/examples\/tutorial\/[a-z]+\.[a-z]+\)( has a line for each)?:$/) {
        name = substr($0, RSTART + 22, RLENGTH - 22)
        sub(/\).*/, "", name)
        next
    }
    name != "" && /^    / { print substr($0, 5) > ("shown-" name); seen = 1; next }
    name != "" && seen && !/^$/ { name = ""; seen = 0 }
' "$source/docs/tutorial.md"
count=0
for file in "$folder"/*; do
    name=$(basename "$file")
    [ -s "shown-$name" ] || fail "docs/tutorial.md does not show $name"
    case $name in
    *.csv) head -n "$(wc -l <"shown-$name")" "$file" >expected ;;
    *) cp "$file" expected ;;
    esac
    diff "shown-$name" expected >&2 || fail "docs/tutorial.md shows another $name"
    count=$((count + 1))
done
[ "$count" = 5 ] || fail "examples/tutorial has $count files, not 5"

for name in heat hole data unknown; do
    "$program" check "$folder/$name.yaml" >out 2>err || fail "check $name: $(cat err)"
    [ ! -s err ] || fail "check $name warns: $(cat err)"
    "$program" train "$folder/$name.yaml" --set training.steps=3 --set network.hidden=1x6 --set evaluation.grid=11 \
        --set training.points.start=60 --threads 1 --out "run-$name" >out 2>err || fail "train $name: $(cat err)"
    grep -q 'validation loss' out || fail "train $name does not say how it ended"
    [ -s "run-$name/report.html" ] || fail "train $name leaves no report"
done
grep -q '^k  *[0-9]' out || fail "the unknown constant is not told"
grep -q 'data' run-data/report.html || fail "the report does not show the data"
