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
cat >images.yaml <<'END'
name: images
data: {kind: cifar10, train: train.bin, test: test.bin, size: 8, zoom: 1}
network: {model: mlp, hidden: 2 x 8, activation: relu, norm: none}
training: {epochs: 1, batch: 8}
END
tasks=pde
[ -z "$make_images" ] || {
    tasks='pde images'
    "$make_images" train.bin 24 1
    "$make_images" test.bin 16 2
}

# libdnnl does not look at what malloc returned everywhere; libgomp says so and ends the program, whatever it holds;
# libjansson fails an assertion when memory runs out while it reads a string with a backslash.
# OMP_WAIT_POLICY: without it the program starts itself anew, and its parent with it.
faults=0
for task in $tasks; do
    step=$every # oneDNN makes forty thousand allocations: a sample takes fewer of them
    [ "$task" = pde ] || [ "$every" = 1 ] || step=$((20 * every))
    for command in check train; do
        rm -rf tries
        mkdir tries
        printf '%s %s: ' "$command" "$task"
        SG_FAIL_EVERY=$step SG_FAIL_WORK=$work/tries SG_FAIL_FORGIVE=libdnnl,libgomp,libjansson OMP_WAIT_POLICY=passive \
            LD_PRELOAD=$failing "$program" $command "$work/$task.yaml" --threads 1 || faults=1
        # A run that did without the memory ends with the same weights and all its files.
        [ $command = train ] || continue
        [ -d tries/ok-0 ] || fail "$task does not train"
        for weights in tries/ok-*/runs/*/weights.safetensors; do
            cmp "$weights" "tries/ok-0/runs/$task-0001/weights.safetensors" || fail "other weights: $weights"
        done
        for run in tries/ok-*/runs/*/; do
            for file in "tries/ok-0/runs/$task-0001"/*; do
                [ -e "$run${file##*/}" ] || fail "$run lacks ${file##*/}"
            done
        done
    done
done
[ $faults = 0 ] || fail "an allocation that fails was not taken well"
