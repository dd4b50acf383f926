#!/bin/sh
# Every allocation of `check` and `train` fails in turn, those of the libraries included: see support/failing_malloc.c.
# Arguments: the program, the library that fails, the maker of small image files or "", and how many allocations to go
# on by: 1 for the whole campaign, which takes minutes; a larger number for a sample.
set -eu
program=$1
failing=$2
make_images=$3
every=${4:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "allocations.sh: $*" >&2
    exit 1
}

cat >pde.yaml <<'END'
name: pde
coordinates: {x: [0, 1], t: [0, 1]}
fields: [u]
equations: {heat: u_t = 0.1*u_xx}
conditions:
  initial: {at: t = 0, u: sin(pi*x), points: 8}
  ends: {at: x = 0 | x = 1, u: 0, points: 8}
points: 16
reference: {u: exp(-0.1*pi^2*t)*sin(pi*x)}
network: {hidden: 2 x 8}
training: {steps: 6, evaluate_every: 3, checkpoint_every: 3}
evaluation: {grid: 5, points: 16, condition_points: 8}
END
cat >windows.yaml <<'END'
name: windows
coordinates: {x: [0, 1], t: [0, 1]}
fields: [u]
equations: {heat: u_t = 0.1*u_xx}
conditions:
  initial: {at: t = 0, u: sin(pi*x), points: 8}
  ends: {at: x = 0 | x = 1, u: 0, points: 8}
points: 16
reference: {u: exp(-0.1*pi^2*t)*sin(pi*x)}
network: {hidden: 1 x 6}
training: {stages: [{optimizer: adamw}, {optimizer: levenberg}], steps: 6, evaluate_every: 9, checkpoint_every: 9, points: {start: 12, every: 2}}
evaluation: {grid: 5, points: 16, condition_points: 8}
windows: 2
END
cat >images.yaml <<'END'
name: images
data: {kind: cifar10, train: train.bin, test: test.bin, size: 8, zoom: 1}
network: {model: mlp, hidden: 2 x 8, activation: relu, norm: none}
training: {epochs: 1, batch: 8}
END
tasks='pde windows'
[ -z "$make_images" ] || {
    tasks='pde windows images'
    "$make_images" train.bin 24 1
    "$make_images" test.bin 16 2
}

# Metrics and the record without times, the process, the machine (which may be "unknown") and the seals over these: all
# else must be the same to the letter.
without_times() {
    sed -E '/"seals": /,$d; s/"(seconds|cpu_seconds|images_per_second|waited|started|process|machine)": ?("[^"]*"|[-+.eE0-9]+)//g' "$1"
}

# same_run RUN: a run that did without the memory has all the files of the undisturbed one, and the same in them.
same_run() {
    for file in "$whole"/*; do
        name=${file##*/}
        [ -e "$1/$name" ] || fail "$1 lacks $name"
        case $name in
        *.safetensors | *.npz | *.vti | *.yaml)
            [ "$name" = last.safetensors ] || [ "$name" = previous.safetensors ] || # these hold the time
                cmp "$1/$name" "$file" || fail "other content: $1/$name"
            ;;
        *.json | *.jsonl)
            without_times "$file" >expected
            without_times "$1/$name" | cmp - expected || fail "other content: $1/$name"
            ;;
        esac
    done
}

# libgomp says that memory ran out and ends the program, whatever it holds.
# OMP_WAIT_POLICY: without it the program starts itself anew, and its parent with it.
# The guard against memory that runs out in libjansson is tried where it is asked: see failing_malloc.c.
guard=$(nm -S "$program" 2>/dev/null | awk '$4 == "memory_for_json" { print $1, $2 }')
faults=0
try() {
    rm -rf tries
    mkdir tries
    printf '%s %s: ' "$1" "$task"
    SG_FAIL_EVERY=$every SG_FAIL_WORK=$work/tries SG_FAIL_ENDS=libgomp SG_FAIL_GUARD="$guard" OMP_WAIT_POLICY=passive \
        LD_PRELOAD=$failing "$program" "$@" --threads 1 || faults=1
}

for task in $tasks; do
    try check "$work/$task.yaml"
    try train "$work/$task.yaml"
    whole=tries/ok-0/runs/$task-0001
    [ -d "$whole" ] || fail "$task does not train"
    for run in tries/ok-*/runs/*; do
        same_run "$run"
    done
    # And from half of it on.
    rm -rf half
    mkdir half
    (cd half && "$program" train "../$task.yaml" --set training.steps=3 --threads 1 --quiet --out run >/dev/null) ||
        fail "half of $task does not train"
    export SG_FAIL_BEGIN="$work/half"
    more=training.steps=6
    [ "$task" != windows ] || more=training.stages.2.steps=6 # in the run's file each stage says its own
    try train run --resume --set "$more"
    unset SG_FAIL_BEGIN
    whole=tries/ok-0/run
    for run in tries/ok-*/run; do
        same_run "$run"
    done
done
[ $faults = 0 ] || fail "an allocation that fails was not taken well"
