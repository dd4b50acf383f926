#!/bin/sh
# The program and what is not what it should be: pipes, sockets, devices and folders in place of files, and numbers that
# no machine has room for. Nothing may wait, crash or take memory; every answer is a sentence and an exit code.
# Arguments: the program, the source tree, and the maker of small image files where there is one.
set -eu
program=$1
source=$2
make_images=${3-}
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
for file in problem.yaml run.json metrics.jsonl weights.safetensors last.safetensors previous.safetensors field.npz; do
    cp -r run broken
    rm -f "broken/$file"
    mkfifo "broken/$file"
    for command in 'train --resume --quiet --set training.steps=12' 'report' 'eval' 'list'; do
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

# Numbers that no machine has room for are refused with an estimate, before memory is taken; those beyond all sense by
# their bound.
heat=$source/problems/heat.yaml
expect 1 check "$heat" --set inputs.random.count=100000000000
says err 'parameters needs 3.4e+05 GB; this machine has'
expect 1 train "$heat" --set network.hidden='256 x 65000' --out large
says err 'GB; this machine has'
[ ! -e large ] || fail "a run that cannot begin leaves its folder"
expect 1 eval run --grid 4000000000x4000
says err '3 columns of 1.6e+13 points needs 3.84e+05 GB; this machine has'
expect 2 check "$heat" --set network.hidden='4 x 1000000000'
says err 'a width in network.hidden is at most 65536, not 4 x 1000000000'
expect 2 check "$heat" --set network.hidden='1000000000 x 4'
says err 'the number of layers in network.hidden is at most'
expect 2 check "$heat" --set evaluation.grid=1000000000
says err 'a size in evaluation.grid is at most 1000000, not 1000000000'
expect 2 check "$heat" --set points=1e18
says err 'points must be at most 1000000000, not 1e18'
expect 0 check "$heat" --set points=1e9
says out 'of the points takes'

# Images: a pipe in place of the file of a data set, or of one image in a folder, and batches without bound.
[ -n "$make_images" ] || exit 0
"$make_images" train.bin 40 1
"$make_images" test.bin 20 2
cat >small.yaml <<'END'
name: small
data: {kind: cifar10, train: train.bin, test: test.bin, size: 8, zoom: 1}
network: {model: mlp, hidden: 2 x 8, activation: relu, norm: none}
training: {epochs: 1, batch: 8}
END
expect 2 check small.yaml --set data.train=pipe.bin
says err 'pipe.bin: is a pipe, not a file'
expect 2 check small.yaml --set training.batch=1000000
says err '40 training images do not fill one batch of 1000000'
expect 1 check small.yaml --set data.ahead=1024 --set data.size=16384 --set training.batch=40
says err 'batches of 40 images ready needs 2.64e+05 GB; this machine has'
expect 2 check small.yaml --set training.batch=1e9
says err 'training.batch must lie between 1 and 1048576, not 1e9'

# oneDNN's sums depend on the number of threads: a run that goes on with another number says so.
expect 0 train small.yaml --threads 1 --out threads --quiet
expect 0 train threads --resume --threads 2 --set training.epochs=2 --quiet
says err 'warning: the run was on 1 threads so far and goes on with 2'
expect 0 train threads --resume --threads 2 --set training.epochs=3 --quiet
! grep -q warning err || fail "a warning about the same number of threads"
