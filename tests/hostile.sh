#!/bin/sh
# The program and what is not what it should be: pipes, sockets, devices and folders in place of files, and numbers that
# no machine has room for. Nothing may wait, crash or take memory; every answer is a sentence and an exit code.
# Arguments: the program, and the source tree.
set -eu
program=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

limit=20
. "$source/tests/support/program.sh"

small='--set network.hidden=2x8 --set points=32 --set training.steps=10 --set conditions.initial.points=8'
small="$small --set conditions.ends.points=8 --set training.checkpoint_every=5 --set evaluation.grid=11 --threads 1"
mkfifo pipe.yaml pipe.csv pipe.npz pipe.bin pipe
# shellcheck disable=SC2086 # a list of words
expect 0 train "$source/problems/heat.yaml" $small --out run --quiet

# Pipes that nobody writes to, devices and folders, wherever a file is read.
expect 2 check pipe.yaml
says err 'pipe.yaml: is a pipe, not a file'
expect 2 train pipe.yaml
expect 2 check /dev/zero
says err 'is a device, not a file'
expect 2 eval run --points pipe.csv
says err 'pipe.csv: is a pipe, not a file'
expect 2 eval run --points pipe.npz
says err 'is a pipe, not a file'
expect 2 eval run --points /dev/zero
expect 2 eval run --points .
says err 'is a folder, not a file'
expect 2 eval pipe.bin --problem "$source/problems/heat.yaml"
says err 'is a pipe, not a file'
for file in problem.yaml run.json metrics.jsonl weights.safetensors checkpoint.safetensors field.npz; do
    cp -r run broken
    rm -f "broken/$file" broken/checkpoint.*safetensors
    mkfifo "broken/$file"
    for command in 'train --resume' 'report' 'eval' 'list'; do
        got=0
        # shellcheck disable=SC2086
        timeout 20 "$program" $command broken >out 2>err || got=$?
        [ "$got" -le 2 ] || {
            cat out err >&2
            fail "$command with a pipe as $file ended with $got"
        }
    done
    rm -r broken
done
# What is documented to be read from a pipe still is.
"$program" check /dev/stdin --set training.steps=10 <"$source/problems/heat.yaml" >out || fail "/dev/stdin from a file"
# shellcheck disable=SC2002 # a pipe is the point
cat "$source/problems/heat.yaml" | "$program" check /dev/stdin --set training.steps=10 >out || fail "/dev/stdin from a pipe"
printf 'x,t\n0.5,0.5\n' | "$program" eval run --points /dev/stdin >out || fail "points from a pipe"
says out 'x,t,u'
