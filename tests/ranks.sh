#!/bin/sh
# The program on several ranks, as mpirun starts it: the same results as alone, the same bits twice, ranks that fail or are
# killed, and going on with another number of them. Arguments: the program, the source tree, a maker of small image files
# where there is one. Without mpirun, or where it does not run, it is skipped.
set -eu
program=$1
source=$2
make_images=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

limit=120
. "$source/tests/support/program.sh"

# What a launcher says that has not connected its processes, or that this program cannot answer. The copy has no module.
mkdir alone
cp "$program" alone/stablegrad
program=$work/alone/stablegrad
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 expect 2 train "$source/problems/heat.yaml"
says err 'mpirun started this as one of 2 processes, but this build has no MPI'
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 expect 2 train "$source/problems/heat.yaml"
[ ! -s err ] || fail "a rank that is not the first complains as well"
SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 expect 2 train "$source/problems/heat.yaml"
says err 'srun --mpi=pmix'
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 expect 0 check "$source/problems/heat.yaml"
[ ! -s out ] || fail "check is the first rank's alone"
[ ! -e runs ] || fail "something was trained"
program=$1

# Several ranks on the processors of one machine: they may be more than these.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl=self,vader,tcp
export OMPI_MCA_plm_rsh_agent=false
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" # MPI keeps what it has
if ! [ -e "$(dirname "$program")/stablegrad-mpi.so" ] || ! command -v mpirun >/dev/null 2>&1 ||
    ! timeout 60 mpirun -n 2 true >/dev/null 2>&1; then
    echo "ranks.sh: no MPI in this build, or no mpirun that runs here" >&2
    exit 77
fi

# ranks CODE N ARGUMENT...: the program on N ranks. Any code but 0 may become another one of mpirun's.
ranks() {
    code=$1
    count=$2
    shift 2
    got=0
    timeout "$limit" mpirun -n "$count" "$program" "$@" >out 2>err || got=$?
    { [ "$code" = 0 ] && [ "$got" = 0 ]; } || { [ "$code" != 0 ] && [ "$got" != 0 ] && [ "$got" -lt 124 ]; } || {
        cat out err >&2
        fail "stablegrad $* on $count ranks ended with $got, not $code"
    }
}

# alike A B TOLERANCE: two runs have the same field, up to the tolerance.
alike() {
    "$program" eval "$1" --grid 7x5 --precision double >a.csv
    "$program" eval "$2" --grid 7x5 --precision double >b.csv
    [ "$(wc -l <a.csv)" = 36 ] || fail "$1 has no field of 7 x 5 points"
    paste -d, a.csv b.csv | awk -F, -v most="$3" '
        NR > 1 { d = $3 - $6; if (d < 0) d = -d; if (!(d <= most)) bad = 1 } END { exit bad }' ||
        fail "$1 and $2 differ by more than $3"
}

small='--set network.hidden=2x8 --set network.precision=double --set points=64 --set conditions.initial.points=16'
small="$small --set conditions.ends.points=16 --set evaluation.grid=11 --quiet"
heat=$source/problems/heat.yaml
first="--threads 1 $small --set training.steps=30 --set training.stablegrad.until=10 --set training.schedule=constant"
second="--threads 1 $small --set training.optimizer=levenberg --set training.steps=6"

# The same as alone, to rounding, whatever the number of ranks; and the same bits twice.
# shellcheck disable=SC2086 # lists of words
{
    expect 0 train "$heat" $first --out one
    expect 0 train "$heat" $second --out one-second
    ranks 0 2 train "$heat" $first --out two
    ranks 0 2 train "$heat" $first --out again
    ranks 0 4 train "$heat" $first --out four
    ranks 0 2 train "$heat" $second --out two-second
}
alike one two 1e-9
alike one four 1e-9
alike one-second two-second 1e-6
cmp two/weights.safetensors again/weights.safetensors || fail "two runs on two ranks have different bits"
says two/run.json '"ranks": 2'
[ -e two/report.html ] || fail "no report"
[ "$(find runs -mindepth 1 2>/dev/null | wc -l)" = 0 ] || fail "another rank has made a folder"
"$program" train two --resume >out # a complete run, alone
says out 'is complete'

# Going on with another number of ranks.
# shellcheck disable=SC2086
ranks 0 2 train "$heat" $first --set training.steps=20 --out resumed
ranks 0 4 train resumed --resume --quiet --threads 1 --set training.steps=25
expect 0 train resumed --resume --quiet --threads 1 --set training.steps=30
alike one resumed 1e-9

# A comparison of fewer runs than ranks is one run after the other, and all ranks take part.
# shellcheck disable=SC2086
ranks 0 4 compare "$heat" $first --set training.steps=10 --out both
says both/adamw/run.json '"ranks": 4'
says both/stablegrad/run.json '"ranks": 4'

# What is refused is said once.
ranks 2 2 train nosuch
[ "$(grep -c 'nosuch: No such file' err)" = 1 ] || fail "not said once"
# A rank that cannot read the file, or reads another one, ends all of them, with its reason.
mkdir here there
printf '%s\n' 'coordinates: {x: [0, 1], t: [0, 1]}' 'fields: [u]' 'equations: {heat: u_t = 0.1*u_xx}' \
    'conditions: {start: {at: t = 0, u: 1}}' 'points: 64' 'training: {steps: 5}' >here/p.yaml
apart() {
    got=0
    timeout "$limit" mpirun -n 1 --wdir "$work/here" "$program" train p.yaml --out ../apart --quiet : \
        -n 1 --wdir "$work/there" "$program" train p.yaml --out ../apart --quiet >out 2>err || got=$?
    case $got in 0 | 124) fail "ranks with different files ended with $got" ;; esac
    rm -rf apart
}
apart
says err 'rank 1 of 2 on '
says err 'p.yaml: No such file'
sed 's/0\.1/0.2/' here/p.yaml >there/p.yaml
apart
says err 'the ranks do not have the same file and weights'

# A rank that is killed ends the others within seconds; the run goes on from its checkpoint.
# shellcheck disable=SC2086
timeout 60 mpirun -n 2 "$program" train "$heat" $small --set training.steps=100000000 --set training.checkpoint_every=10 \
    --out killed >out 2>err &
mpirun=$!
for _ in $(seq 200); do
    [ -e killed/previous.safetensors ] && break
    sleep 0.1
done
[ -e killed/previous.safetensors ] || fail "no checkpoint came"
for process in $(pgrep -P "$(pgrep -P $mpirun -x mpirun || echo $mpirun)" -f 'out killed'); do
    tr '\0' '\n' <"/proc/$process/environ" | grep -qx OMPI_COMM_WORLD_RANK=1 && victim=$process
done
kill -9 "${victim:?no second rank was found}"
began=$(date +%s)
got=0
wait $mpirun || got=$?
case $got in 0 | 124) fail "a killed rank: ended with $got" ;; esac
[ $(($(date +%s) - began)) -lt 30 ] || fail "the others went on without the killed rank"
says err 'signal 9'
expect 0 train killed --resume --quiet --threads 1 --set training.steps="$(($(sed -n 's/.*"steps_done": \([0-9]*\).*/\1/p' killed/run.json) + 20))"

# Several runs are spread whole over ranks, or over processors: the bits are those of one after the other.
# shellcheck disable=SC2086
{
    expect 0 compare "$heat" $first --seeds 2 --set training.steps=8 --out in-turn
    ranks 0 2 compare "$heat" $first --seeds 2 --set training.steps=8 --out by-ranks
    expect 0 compare "$heat" ${first#--threads 1} --threads 2 --seeds 2 --set training.steps=8 --out by-lanes
}
for run in adamw-0 adamw-1 stablegrad-0 stablegrad-1; do
    for way in by-ranks by-lanes; do
        cmp in-turn/$run/weights.safetensors $way/$run/weights.safetensors || fail "$way has other bits"
        says $way/$run/run.json '"ranks": 1'
    done
done

# Runs side by side that are stopped, or whose first process is killed, go on with the same bits.
long="${first#--threads 1} --threads 2 --set training.steps=1500 --set training.checkpoint_every=50"
# shellcheck disable=SC2086
expect 0 compare "$heat" $long --out whole
for signal in TERM KILL; do
    # shellcheck disable=SC2086
    "$program" compare "$heat" $long --out stopped-$signal >stopped.out 2>stopped.err &
    process=$!
    for _ in $(seq 300); do
        [ -e stopped-$signal/stablegrad/last.safetensors ] && [ -e stopped-$signal/adamw/last.safetensors ] && break
        sleep 0.02
    done
    kill -$signal $process
    got=0
    wait $process 2>/dev/null || got=$?
    case $signal-$got in TERM-130 | KILL-137) ;; *) fail "$signal: ended with $got" ;; esac
    if [ $signal = TERM ]; then
        [ "$(grep -c 'stops after this step' stopped.err)" = 1 ] || fail "that it stops is not said once"
    fi
    for _ in $(seq 100); do # until the others have noticed
        got=0
        "$program" compare stopped-$signal --resume --quiet --threads 2 >out 2>err || got=$?
        [ $got = 0 ] && break
        grep -q 'is training' err || break
        sleep 0.1
    done
    [ $got = 0 ] || {
        cat err >&2
        fail "after $signal it does not go on"
    }
    for run in adamw stablegrad; do
        cmp whole/$run/weights.safetensors stopped-$signal/$run/weights.safetensors || fail "$signal: other bits"
    done
done

# A network on images, with BatchNorm and with StableGrad instead.
[ -n "$make_images" ] || exit 0
"$make_images" train.bin 96 1
"$make_images" test.bin 42 2
cat >quarters.yaml <<'END'
name: quarters
data: {kind: cifar10, train: train.bin, test: test.bin, size: 16, zoom: 1}
network: {model: mlp, hidden: 4 x 24, activation: tanh}
training: {epochs: 2, batch: 12, optimizer: {name: adamw, rate: 1e-3}}
END
last_loss() {
    sed -n 's/.*"validation":{"loss":\([0-9.e+-]*\).*/\1/p' "$1/metrics.jsonl" | tail -n 1
}
for norm in batch none; do
    images="--set network.norm=$norm --threads 1 --quiet"
    # shellcheck disable=SC2086
    {
        expect 0 train quarters.yaml $images --out one-$norm
        ranks 0 2 train quarters.yaml $images --out two-$norm
        ranks 0 2 train quarters.yaml $images --out again-$norm
    }
    cmp two-$norm/weights.safetensors again-$norm/weights.safetensors || fail "images: other bits the second time"
    echo "$(last_loss one-$norm) $(last_loss two-$norm)" | awk '{ d = $1 - $2; if (d < 0) d = -d; exit !($1 > 0 && d < 1e-3 * $1) }' ||
        fail "images: $(last_loss one-$norm) alone, $(last_loss two-$norm) on two ranks"
done
ranks 2 2 train quarters.yaml --set training.batch=13
says err '2 ranks cannot share batches of 13 images equally'
