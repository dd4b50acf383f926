#!/bin/sh
# The program as a user meets it: every command, its files, its messages and exit codes.
# Arguments: the program, the source tree, and the maker of small image files where there is one.
set -eu
program=$1
source=$2
make_images=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

. "$source/tests/support/program.sh"

# Help, versions, mistakes on the command line.
expect 2
says err 'stablegrad COMMAND'
expect 0 --help
says out 'compare'
expect 0 --version
says out 'stablegrad 0.'
expect 0 train --help
says out '--set KEY=VALUE'
expect 0 help eval
says out '--grid'
expect 0 help man
says out '.TH STABLEGRAD 1'
says out 'fBtraining.optimizer.rate'
expect 0 help completion
bash -n out 2>/dev/null || ! command -v bash >/dev/null || fail "the completion is not shell"
if command -v bash >/dev/null; then
    cp out completion
    cat >try <<'END'
stablegrad() { "$program" "$@"; }
. ./completion
ask() { # WORD...: the replies to the last word, in brackets
    COMP_WORDS=(stablegrad "$@") COMP_CWORD=$# COMPREPLY=()
    _stablegrad
    printf '[%s]' "${COMPREPLY[@]}"
    echo
}
touch 'two words.yaml'
ask train burg
ask compare heat --variants sta
ask compare heat --variants adamw,si
ask check two
ask train heat --thr
ask train heat --set training.st
rm 'two words.yaml'
END
    program=$program bash ./try >out
    says out '[burgers][burgers3d]'
    says out '[stablegrad]'
    says out '[adamw,sign]'
    says out '[two words.yaml]'
    says out '[--threads]'
    says out '[training.steps=]'
    rm try completion
fi
expect 2 trian heat
says err "did you mean 'train'?"
expect 2 train heat --sede 3
says err "did you mean '--seed'?"
expect 2 train heat --seed many
says err "takes a whole number, not 'many'"
expect 2 train heat --seed
says err '--seed needs a value'
expect 2 train heat --quiet=yes
says err 'takes no value'
expect 2 train
says err 'usage: stablegrad train FILE'
expect 2 train heat --isa mmx
says err 'auto, generic, avx2 or avx512'
expect 2 compare heat --variants adamw,stabelgrad
says err "did you mean 'stablegrad'?"
expect 2 compare heat --seeds 0
expect 2 help nothing

# What is not a problem file, and what to type instead.
expect 2 train burger
says err 'burger: No such file or directory'
says err "did you mean 'burgers'?"
expect 2 check burgres.yaml
says err "did you mean 'burgers'?"
expect 2 compare nothing-like-it
says err "'stablegrad list' shows"
mkdir empty
expect 2 train empty
says err 'empty: is a folder, not a problem file'
expect 2 eval empty
says err 'empty is not the folder of a run'
expect 2 eval nowhere
says err 'nowhere: No such file or directory'
rmdir empty
echo 'name: own' >own.yaml
expect 2 train own
says err "did you mean 'own.yaml'?"
touch wave.yaml
expect 0 check wave --set points=64 --set network.hidden=1x4
says err 'wave is the problem that comes with the program, not the file wave.yaml here'
rm wave.yaml
expect 2 eval own.yaml
says err 'own.yaml is a problem file, not the folder of a run'
expect 2 report own.yaml
says err 'own.yaml is not the folder of a run or of a comparison'
rm own.yaml

# Mistakes in a problem.
expect 2 check missing.yaml
says err 'missing.yaml: No such file or directory'
printf 'name: a\ncoordinates: {x: [0, 1]}\nfields: [u]\nequations:\n  one: u_x - q\n' >bad.yaml
expect 2 train bad.yaml
says err "bad.yaml:5:14: error: unknown name 'q'"
says err '^'
expect 0 check heat --set training.seed=20250101123456 --set training.steps=1 --json
expect 2 check heat --set training.seed=1e17
says err 'training.seed must be at most 9007199254740992, not 1e17'
expect 2 check heat --set network.hiden=3x3
says err "did you mean 'hidden'?"
[ ! -d runs ] || fail "a mistake left a run folder"

# A problem of one's own, from start to files.
expect 0 new heat.yaml
expect 2 new heat.yaml
says err 'exists already'
expect 0 new heat.yaml --force
# What is not a file is left alone, whatever is said, and a link is not followed or replaced.
mkfifo pipe
ln -s nowhere-yet link
for name in pipe link; do
    expect 2 new $name --force
    says err "$name is not a regular file"
done
if [ ! -p pipe ] || [ ! -L link ] || [ -e nowhere-yet ]; then fail "new --force replaced what is not a file"; fi
rm pipe link
# Each of the ways to train that stand in it as comments is one.
grep '^# training: ' heat.yaml | sed 's/^# //' >ways
[ "$(wc -l <ways)" = 2 ] || fail "a new problem does not name second order and stages"
while read -r way; do
    sed '/^training:/,$d' heat.yaml >other.yaml
    echo "$way" >>other.yaml
    expect 0 check other.yaml
    says out levenberg
done <ways
rm ways other.yaml
expect 0 check heat.yaml
says out 'fits'
expect 0 check heat.yaml --json
says out '"seconds_per_step"'
says out '"warnings":[]'
says out '"reference":{"verdict":"fits"'
# Steps of second order take longer with their points: both are told.
expect 0 check heat.yaml --set training.optimizer=levenberg --set network.hidden=2x6 --set training.points.start=300
grep -qE '^time per step  [0-9.]+ m?s with 300 points, about [0-9.]+ m?s with [0-9,]+, on' out || fail "no time: $(cat out)"
grep -qE '^whole run      at most about .* for [0-9]+ steps' out || fail "no time of the run: $(cat out)"
expect 0 check heat.yaml --set training.optimizer=levenberg --set network.hidden=2x6 --json
says out '"seconds_per_step_most":'
expect 0 check heat.yaml --set training.optimizer=levenberg --set network.hidden=4x20 --set 'training.points={start: 40000, most: 40000}'
says out 'not estimated: a step takes seconds'
# Every stage is told with what ends it, and a step of the first; what ends the run is told by its numbers.
staged='training=[{optimizer: adamw, steps: 1200}, {optimizer: levenberg, steps: 500, seconds: 7200, tolerance: 1e-9}]'
expect 0 check heat.yaml --set network.hidden=2x6 --set network.precision=double --set "$staged"
says out 'stage 1        AdamW, 1,200 steps'
says out 'stage 2        Levenberg-Marquardt, 500 steps, or 7200 s, or until the loss is below 1e-09'
grep -qE '^time per step  [0-9.]+ m?s on .*, in stage 1$' out || fail "no time of the first stage: $(cat out)"
says out 'whole run      at most about 2 h'
expect 0 check heat.yaml --set network.hidden=2x6 --set network.precision=double --set "$staged" --json
says out '"stages":[{"optimizer":"adamw","steps":1200,"seconds":null,"tolerance":null},{"optimizer":"levenberg","steps":500,"seconds":7200.0,"tolerance":1e-9}]'
grep -qE '"seconds_per_step":[0-9]' out || fail "no time of the first stage: $(cat out)"
expect 0 check heat.yaml --set network.hidden=2x6 --set 'training={seconds: 3, tolerance: 1e-9}'
says out 'whole run      3 s, or until the loss is below 1e-09'
! grep -q '^stage' out || fail "one stage is none: $(cat out)"
expect 0 check heat.yaml --set network.hidden=2x6 --set 'training={optimizer: levenberg, tolerance: 1e-9}'
says out 'whole run      until the loss is below 1e-09'
says err 'warning: only its tolerance ends training'
# Sizes of a problem in units of its own, and a warning without them.
expect 0 check heat-mm --set network.hidden=1x4
says out "  T                    80         293  condition 'initial', condition 'ends', the reference"
says out '  heat                  8'
expect 0 check heat-mm --set network.hidden=1x4 --json
says out '"T":{"size":80.0,"offset":293.0,"from":"condition'
says out '"terms":{"heat":[8.0'
expect 2 check heat-mm --set scales.T=0
says err "the scale of 'T' must be a size above 0"
sed '/^scales/d' "$source/problems/heat-mm.yaml" >raw.yaml
expect 0 check raw.yaml --set network.hidden=1x4
says err "'scales: auto' would train it in units of its own"
rm raw.yaml
# An unknown constant: told beforehand, shown with its interval, the same bits after a break, and used by eval.
inverse="--set network.hidden=1x6 --set points=64 --set training.points.start=64 --set evaluation.grid=11x11
         --set evaluation.points=64 --threads 1"
# shellcheck disable=SC2086
expect 0 train heat-inverse $inverse --set training.steps=12 --out inverse
says out 'unknown  k, from 1, between 0.01 and 10'
says out '(95 %: 0.'
says inverse/run.json '"determined": true'
says inverse/report.html 'Unknown constants'
# shellcheck disable=SC2086
expect 0 train heat-inverse $inverse --set training.steps=6 --out broken
expect 0 train broken --resume --set training.steps=12 --threads 1
cmp -s inverse/weights.safetensors broken/weights.safetensors || fail "a break changed an unknown constant"
expect 0 eval inverse --grid 2x2 --fields k
says out 'x,t,k'
rm -r inverse broken
small="--set network.hidden=2x8 --set points=128 --set conditions.initial.points=32 --set conditions.ends.points=32
       --set evaluation.grid=21x11"
# shellcheck disable=SC2086
expect 0 train heat.yaml $small --set training.steps=60 --threads 1
says out 'relative L2 error'
for file in problem.yaml run.json metrics.jsonl last.safetensors best.safetensors weights.safetensors \
    field.npz field.vti report.html; do
    [ -s runs/heat-0001/$file ] || fail "runs/heat-0001/$file is missing"
done
expect 0 check runs/heat-0001/problem.yaml
expect 0 train runs/heat-0001 --resume
says out 'heat-0001 is complete (60 of 60 steps) and nothing is missing'
# What a complete run lacks is made again, with the same weights, and nothing is told twice.
cp -r runs/heat-0001 before
rm runs/heat-0001/report.html
expect 0 train runs/heat-0001 --resume
says out 'what is missing is made again: report.html'
cmp -s runs/heat-0001/metrics.jsonl before/metrics.jsonl || fail "a report alone changed the metrics"
rm runs/heat-0001/field.npz runs/heat-0001/field.vti runs/heat-0001/weights.safetensors runs/heat-0001/report.html
expect 0 train runs/heat-0001 --resume --threads 1
says out 'is made again: weights.safetensors, field.npz, field.vti, report.html'
says runs/heat-0001/run.json '"status": "complete"'
for file in weights.safetensors field.npz field.vti metrics.jsonl; do
    cmp -s runs/heat-0001/$file before/$file || fail "$file was made anew and differs"
done
[ -s runs/heat-0001/report.html ] || fail "report.html was not made again"
rm runs/heat-0001/last.safetensors runs/heat-0001/previous.safetensors runs/heat-0001/field.vti
expect 1 train runs/heat-0001 --resume
says err 'without a checkpoint they cannot be made'
rm -r runs/heat-0001
mv before runs/heat-0001
expect 2 train runs/heat-0001 --resume --set training.steps=80 --set constants.k=0.2
says err 'the checkpoint was saved by another problem'
[ ! -s out ] || fail "a refused --resume said more: $(cat out)"
expect 0 train heat.yaml --resume --set training.steps=80 --quiet
[ ! -s out ] || fail "--quiet was not quiet"
expect 0 diagnose runs/heat-0001 --set diagnose.residuals=100
says out 'heat  step 80, '
says out 'margin'
expect 0 diagnose runs/heat-0001 --step 60 --set diagnose.residuals=100 --json
says out '"step":60,'
says out '"r_std_scaled":1.0'
says out '"whole_spectrum":true'
# shellcheck disable=SC2086
expect 0 train heat.yaml $small --set training.steps=20 --set training.stablegrad.until=margin --set diagnose.every=5 \
    --set diagnose.residuals=100 --set training.evaluate_every=10 --out measured --json
[ "$(grep -c '"event":"diagnosis"' out)" = 4 ] || fail "4 diagnoses were to be told"
says err 'step 10: the margin is -'
says measured/report.html 'Effective dynamics'
cp -r runs/heat-0001 hurt
printf 'no header' >hurt/last.safetensors
expect 0 diagnose hurt --set diagnose.residuals=100
says err 'hurt/last.safetensors cannot be read and is passed over'
rm -r hurt
expect 2 diagnose runs/heat-0001 --step 61
says err 'it has those of step 60, 80'
expect 2 diagnose runs
says err 'runs is not the folder of a run'
expect 0 eval runs/heat-0001 --grid 5x3 --fields u,u_x,u_t-k*u_xx --residuals
[ "$(wc -l <out)" = 16 ] || fail "eval printed $(wc -l <out) lines"
says out 'x,t,u,u_x,u_t-k*u_xx,residual_heat'
# A coefficient that varies, alone in one channel, and from its derivatives.
expect 0 eval runs/heat-0001 --grid 5x3 --fields '(1+x)*u_xx-u_t' --precision double
mv out together
expect 0 eval runs/heat-0001 --grid 5x3 --fields u_t,u_xx --precision double
paste -d, together out | awk -F, 'NR > 1 { d = $3 - (1 + $1) * $7 + $6; if (d > 1e-9 || d < -1e-9 || $7 == 0) bad = 1 }
    END { exit bad || NR != 16 }' || fail "a varying coefficient is not what its derivatives give"
expect 0 eval runs/heat-0001 --grid 2x1 --fields u,1/x --json
says out '{"x":[0.0,1.0],"t":[0.5,0.5],"u":['
says out '"1/x":[null,1.0]}'
expect 2 eval runs/heat-0001 --isa generic
says err '--isa'
expect 2 eval runs/heat-0001 --fields u,uu
says err "unknown name 'uu'"
expect 2 eval runs/heat-0001 --grid 5x
expect 2 eval runs/heat-0001/weights.safetensors
says err '--problem FILE'
printf 'x,t\n0.5,0\n0.25,1\n' >points.csv
expect 0 eval runs/heat-0001/weights.safetensors --problem runs/heat-0001/problem.yaml --points points.csv \
    --precision double
[ "$(wc -l <out)" = 3 ] || fail "eval at points"
[ ! -s err ] || fail "eval by names had something to say: $(cat err)"
cp out by-name
printf 't, x\n0,0.5\n1,0.25\n' >points.csv
expect 0 eval runs/heat-0001 --points points.csv --precision double
cmp -s out by-name || fail "columns were not matched by name"
printf '0.5,0\n0.25,1\n' >points.csv
expect 0 eval runs/heat-0001 --points points.csv --precision double
cmp -s out by-name || fail "columns without names are not in the problem's order"
says err 'points.csv has no names: its columns are taken as x, t'
printf 'x,y\n0.5,0\n' >points.csv
expect 2 eval runs/heat-0001 --points points.csv
says err "'y' is not a coordinate of the problem (x, t)"
printf 'x\n0.5\n' >points.csv
expect 2 eval runs/heat-0001 --points points.csv
says err "the coordinate 't' is missing"
printf 'x,t,x\n0.5,0,1\n' >points.csv
expect 2 eval runs/heat-0001 --points points.csv
says err "two columns 'x'"
printf '1,2,3\n' >points.csv
expect 2 eval runs/heat-0001 --points points.csv
says err '3 columns'
printf 'x,t\n0.5,0\n1.5,0\n0.5,-1\n1,1\n' >points.csv
expect 0 eval runs/heat-0001 --points points.csv --out outside.npz
says err 'warning: 2 of 4 points of points.csv lie outside the domain (x in [0, 1], t in [0, 1])'
expect 2 eval runs/heat-0001 --points points.csv --out outside.npz
says err 'outside.npz exists already; --force overwrites it'
expect 0 eval runs/heat-0001 --points points.csv --out outside.npz --force
expect 2 eval runs/heat-0001 --points outside.npz
says err "'u' is not a coordinate of the problem (x, t)"
expect 2 eval runs/heat-0001 --points nowhere.csv
says err 'nowhere.csv'
expect 2 eval runs/heat-0001 --points nowhere.npz
python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! $candidate -c 'import numpy' 2>/dev/null || python=$candidate
done
if [ -n "$python" ]; then
    $python -c 'import numpy as np
np.savez("named.npz", t=np.array([0, 1.0]), x=np.array([0.5, 0.25]))
np.savez("table.npz", np.array([[0.5, 0], [0.25, 1]]))
np.savez("short.npz", t=np.array([0.0]), x=np.array([0.5, 0.25]))'
    expect 0 eval runs/heat-0001 --points named.npz --precision double
    cmp -s out by-name || fail "arrays were not matched by name"
    [ ! -s err ] || fail "eval of named arrays had something to say: $(cat err)"
    expect 0 eval runs/heat-0001 --points table.npz --precision double
    cmp -s out by-name || fail "a table of points was misread"
    says err 'table.npz has no names'
    expect 2 eval runs/heat-0001 --points short.npz
    says err "'t' has 1 values and 'x' has 2"
fi
for file in a.npz a.csv a.vti a.vtu; do
    expect 0 export runs/heat-0001 $file --grid 9x5 --residuals
    [ -s $file ] || fail "export $file"
done
says a.vtu '<Piece NumberOfPoints="45" NumberOfCells="64">'
expect 2 export runs/heat-0001 thin.vtu --grid 9x1
says err 'a mesh takes a grid of 2 points or more'
printf 'x,t\n0.5,0.5\n' > one.csv
expect 2 eval runs/heat-0001 --points one.csv --out one.vtu
says err 'a mesh is made from a grid, not from points'
if python3 -c 'import vtk' 2> /dev/null; then
    python3 - <<'END' || fail "VTK does not read what a.vtu holds"
import vtk
reader = vtk.vtkXMLUnstructuredGridReader()
reader.SetFileName("a.vtu")
reader.Update()
grid = reader.GetOutput()
names = {grid.GetPointData().GetArrayName(i) for i in range(grid.GetPointData().GetNumberOfArrays())}
sizes = vtk.vtkMeshQuality()
sizes.SetInputData(grid)
sizes.SetTriangleQualityMeasureToArea()
sizes.Update()
areas = sizes.GetOutput().GetCellData().GetArray("Quality")
total = sum(areas.GetValue(i) for i in range(areas.GetNumberOfTuples()))
assert (grid.GetNumberOfPoints(), grid.GetNumberOfCells()) == (45, 64), grid
assert {"u", "residual_heat"} <= names, names
assert abs(total - 1) < 1e-12, total
END
fi
expect 2 export runs/heat-0001 a.npz
says err 'exists already'
# Starting from a run: with no step taken since, its end is the beginning.
cp runs/heat-0001/problem.yaml small.yaml
cp small.yaml again.yaml
echo 'initial: {weights: runs/heat-0001}' >> again.yaml
expect 0 train again.yaml --out again --set training.optimizer.rate=0 --set training.steps=1 --quiet
cmp -s again/initial.safetensors runs/heat-0001/weights.safetensors || fail "the copy of the weights differs"
expect 0 eval runs/heat-0001 --grid 3x3
cp out from
expect 0 eval again --grid 3x3
cmp -s out from || fail "a run did not start from the weights of another"
says again/problem.yaml 'runs/heat-0001/weights.safetensors'
expect 0 train small.yaml --out again2 --set initial=again/weights.safetensors --set training.steps=1 --quiet
mv again/weights.safetensors away.safetensors
expect 0 train again2 --resume --set training.steps=2 --quiet
expect 2 train small.yaml --set initial=again/weights.safetensors
says err 'No such file'
expect 2 check again.yaml --set network.hidden='2 x 9'
says err "the tensor 'layers.0.weight' is"
says err 'there and 9 x 2 here'
expect 2 check small.yaml --set initial=nowhere
says err 'neither the folder of a run'
expect 2 check small.yaml --set initial=gone.safetensors
says err 'No such file'
printf 'no weights' > bad.safetensors
expect 2 check small.yaml --set initial=bad.safetensors
says err 'bad.safetensors: '
expect 0 check small.yaml --set initial=none
expect 2 check small.yaml --set initial.wieghts=x
cp away.safetensors again/weights.safetensors
# Windows in time: one run with one field, which is evaluated everywhere.
expect 0 check small.yaml --set windows=3
says out 'windows  3, with the budget of training each; they end at t = 0.333333, 0.666667, 1'
expect 0 train small.yaml --set windows=3 --set training.steps=5 --out windows
says out 'window 3 of 3, t from 0.666667 to 1'
says out 'train      15/15'
says windows/run.json '"windows"'
says windows/metrics.jsonl '"window":3'
expect 0 eval windows --grid 3x7 --fields u,u_t --residuals
[ "$(wc -l < out)" = 22 ] || fail "eval of windows has other rows"
for file in windows.npz windows.onnx windows.c; do
    expect 0 export windows $file
done
says windows.c 'NETWORKS = 3'
expect 0 train windows --resume
says out 'is complete (15 of 15 steps)'
# A run that its tolerance ended before its steps is complete, until it is asked for more.
expect 0 train small.yaml --set training.tolerance=1e9 --set training.steps=9 --out early
says early/run.json '"steps": 1,'
says out 'below the tolerance of 1e+09 that training was to end at'
expect 0 train early --resume
says out 'is complete (1 of 1 steps) and nothing is missing. To train further: --set training.tolerance=1e+08'
expect 0 train early --resume --set training.tolerance=0 --set training.steps=2 --quiet
says early/run.json '"steps_done": 2,'
expect 0 train small.yaml --set training.tolerance=1e-300 --set training.steps=2 --out missed
says out 'the tolerance was not reached: training ended by its steps with a loss of'
# The stage that runs is told, and what is left of it. Where a tolerance alone ends the run nobody knows what is left.
expect 0 train small.yaml --out stages --set network.precision=double --set 'training=[{optimizer: adamw, steps: 20}, {optimizer: levenberg, steps: 10}]'
says out 'stage 1 of 2, AdamW'
says out 'left of stage 1  loss'
says out 'stage 2 of 2, Levenberg-Marquardt'
grep -q '^train      28/30  .* left  loss' out || fail "what is left of the last stage is not told"
# Its file says everything of each stage: more of one is asked for by its number. A stage that has had more than its budget is over, and those behind it are trained.
expect 0 train stages --resume
says out '30 of 30 steps) and nothing is missing. To train further: --set training.stages.2.steps=16'
expect 2 train stages --resume --set training.steps=40
says err "every stage of training says its own 'steps', so this changes nothing"
says err 'for one stage: training.stages.1.steps=...'
expect 0 train stages --resume --set training.stages.1.steps=5 --set training.stages.2.steps=12 --quiet
says stages/run.json '"steps_done": 32,'
expect 0 train stages --resume --set 'training.stages=[{optimizer: adamw, steps: 5}, {optimizer: levenberg, steps: 12}, {optimizer: lbfgs, steps: 3}]'
says stages/run.json '"steps_done": 35,'
expect 0 train early --resume --set 'training.stages=[{optimizer: adamw, steps: 1}, {optimizer: sgd, steps: 4}]'
says early/run.json '"steps_done": 6,'
"$program" train small.yaml --out unbounded --set 'training={optimizer: adamw, tolerance: 1e-300}' >out 2>err &
pid=$!
for _ in $(seq 300); do
    grep -q '^train      40  ' out && break
    sleep 0.1
done
kill -INT $pid
got=0
wait $pid || got=$?
[ "$got" = 130 ] || fail "interrupted with $got"
says out 'train      10  '
says out 'train      20  '
! grep -q ' left' out || fail "the time left is told where nobody knows it"
expect 2 diagnose windows
says err 'windows'
expect 2 check small.yaml --set windows=[0.5,2]
says err 'ascend'
expect 2 export runs/heat-0001 a.xyz
says err '.npz, .csv, .vti, .vtu'
expect 0 export runs/heat-0001 heat.onnx
[ -s heat.onnx ] || fail "no heat.onnx"
expect 0 export runs/heat-0001 heat.onnx --precision double --best --force
expect 0 export runs/heat-0001 heat.c
says heat.c 'double heat_u_xx(double x, double t);'
says heat.c 'from runs/heat-0001'
expect 2 export runs/heat-0001 heat.c
says err 'exists already'
expect 2 export runs/heat-0001 heat.c --force --precision float
says err 'computes in double'
expect 2 export runs/heat-0001 heat.onnx --force --precision half
says err 'float or double'
expect 2 export runs/heat-0001 heat.onnx --force --grid 5x5
says err 'belong to values at points'
# In another runtime, where one is there.
if "${SG_ONNX_PYTHON:-python3}" -c 'import onnxruntime' 2> /dev/null; then
    expect 0 eval runs/heat-0001 --grid 9x5 --precision double --out onnx.csv --force
    expect 0 export runs/heat-0001 heat.onnx --force --precision double
    "${SG_ONNX_PYTHON:-python3}" - <<'END' || fail "another runtime computes something else"
import numpy as np, onnxruntime
x, t, u = np.loadtxt("onnx.csv", delimiter=",", skiprows=1).T
session = onnxruntime.InferenceSession("heat.onnx")
(other,) = session.run(["u"], {"x": x, "t": t})
assert np.abs(other - u).max() <= 1e-12 * np.abs(u).max(), np.abs(other - u).max()
END
fi
expect 0 report runs/heat-0001
expect 2 report runs
expect 0 list
says out 'burgers3d'
grep -q 'runs/heat-0001  *complete  *80/80  loss .*  error .*  AdamW' out || fail "list: $(grep heat-0001 out)"
expect 0 list --json
grep -q '"run":"runs/heat-0001","status":"complete","validation_loss":.*"relative_l2":' out || fail "list --json"
# What a file says does not reach the terminal as a command to it.
cp -r runs/heat-0001 runs/odd
sed -i 's/"label": "[^"]*"/"label": "\\u001b[31mred\\u009b"/; s/"status": "complete"/"status": "\\u0007"/' runs/odd/run.json
expect 0 list
says out '\x1b[31mred\xc2\x9b'
! LC_ALL=C grep -q "$(printf '[\033\007]')" out || fail "list writes control characters"
says err 'runs/odd/run.json was changed after the run wrote it'
rm -r runs/odd
cp -r runs/heat-0001 changed
expect 0 train changed --resume
[ ! -s err ] || fail "a run that was not changed is said to be: $(cat err)"
sed -i '1s/"loss":[0-9]*/"loss":77/' changed/metrics.jsonl
sed -i 's/rate: .*/rate: 0.5/' changed/problem.yaml
expect 0 train changed --resume
says err 'changed/metrics.jsonl was changed after the run wrote it'
says err 'changed/problem.yaml was changed after the run wrote it'
expect 0 report changed
says changed/report.html 'metrics.jsonl was changed after the run wrote it'
rm -r changed
expect 2 train runs/heat-0001
says err 'is the folder of a run, not a problem file'
says err 'stablegrad train runs/heat-0001 --resume'

# What cannot be written is an exit code; the results are printed all the same, after resuming too.
# shellcheck disable=SC2086
expect 0 train heat.yaml $small --set training.steps=20 --quiet --out blocked
rm blocked/report.html
mkdir blocked/report.html
expect 1 report blocked
says err 'no report'
expect 1 train blocked --resume --set training.steps=40
says blocked/run.json '"status": "finishing"'
says err 'no report'
says out 'validation loss'
says out 'relative L2 error'
rmdir blocked/report.html
expect 0 report blocked
expect 0 train blocked --resume --set training.steps=60
says out 'relative L2 error'
says out 'report  blocked/report.html'
before=$(sed -n '$s/.*"seconds":\([0-9.e-]*\),.*/\1/p' blocked/metrics.jsonl)
expect 0 train blocked --resume --set training.steps=61 --json
awk -v before="$before" -F'"seconds":' '/"complete"/ { split($2, part, ","); found = part[1] > before }
    END { exit !found }' out || fail "the seconds of a resumed run leave out what came before: $before"
if [ -w /dev/full ]; then
    for words in '--help' '--version' 'list' 'help man' 'check heat.yaml' 'eval runs/heat-0001' 'eval runs/heat-0001 --json' \
        'report blocked' 'train blocked --resume' 'train blocked --resume --set training.steps=80'; do
        got=0
        # shellcheck disable=SC2086
        "$program" $words >/dev/full 2>err || got=$?
        [ "$got" = 1 ] || fail "stablegrad $words > /dev/full ended with $got"
        says err 'the output could not be written'
    done
fi

# A closed standard output does not lend its number to a file of the run; a reader that goes away ends
# the printing, not the training.
got=0
# shellcheck disable=SC2086
"$program" train heat.yaml $small --set training.steps=20 --out closed >&- 2>err || got=$?
[ "$got" = 1 ] || fail "train with a closed stdout ended with $got"
says err 'the output could not be written'
! grep -v '^{' closed/metrics.jsonl || fail "metrics.jsonl holds what was to be printed"
# shellcheck disable=SC2086
"$program" train heat.yaml $small --set training.steps=20 --json --out piped 2>err | true
says piped/run.json '"status": "complete"'

# What can be read and yet goes wrong: said by check, and before training.
cat >odd.yaml <<'END'
coordinates: {x: [0, 1], t: [0, 1]}
fields: [u, v]
equations:
  wave: u_tt = u_xx
  link: v = u_t
conditions:
  start: {at: t = 0, u: sin(pi*x), v: 0.3}
  ends: {at: x = 0 | x = 1, u: 0}
reference: {u: sin(pi*x)*cos(pi*t), v: -pi*sin(pi*x)*sin(pi*t)}
network: {hidden: 2 x 8}
points: 64
training: {steps: 40}
evaluation: {grid: 5}
END
expect 2 check odd.yaml
says err "warning: 'u' is of second order in t, and at t = 0 only u is given: add u_t there"
says err 'the reference does not satisfy the problem'
says out '  start        u, v         '
[ "$(grep -c '^  start' out)" = 1 ] || fail "a condition is listed more than once"
expect 2 check odd.yaml --json
says out '"verdict":"does not fit"'
says out '"fields":["u","v"]'
says out 'second order in t'
expect 2 check odd.yaml --set 'equations.mass/energy=v = u_t'
says err 'slash'
expect 0 train odd.yaml --quiet --threads 1 --out odd
says err "warning: the reference is off by"
says err "in condition 'start'"
says err 'second order in t'
says odd/run.json '"reference_misfit"'
says odd/report.html 'The reference does not solve the problem'
[ "$(grep -c '"evaluation"\|"validation"' odd/metrics.jsonl)" -ge 20 ] || fail "the default evaluates too rarely"
expect 2 train odd.yaml --set 'equations.link=v = u_t + log(x - 2)' --out nothing
says err "equation 'link' is not finite at x = "
says err ': log(-1.'
[ ! -e nothing ] || fail "a problem that is not finite left a folder"
expect 2 check odd.yaml --set 'equations.link=v = u_t + log(x - 2)'
says err "equation 'link' is not finite at x = "
expect 2 check odd.yaml --set 'equations.link=v = u_t + log(u - 5)'
says err "warning: with the weights that training starts from, equation 'link' is not finite at x = "
expect 1 train odd.yaml --set 'equations.link=v = u_t + log(u - 5)' --quiet --threads 1 --out log
says err "step 1: equation 'link' is not finite at x = "
[ "$(grep -c 'step skipped' err)" = 1 ] || fail "the same trouble was told more than once"

# A comparison, with seeds.
# shellcheck disable=SC2086
expect 0 compare heat.yaml $small --set training.steps=30 --seeds 2 --out both
says out 'stablegrad'
says out 'validation loss'
for file in report.html compare.json adamw-0/metrics.jsonl adamw-1/metrics.jsonl; do
    [ -s both/$file ] || fail "both/$file is missing"
done
[ ! -e both/adamw-2 ] || fail "folders are not named by their seeds"
for command in 'eval both' 'export both b.csv'; do
    # shellcheck disable=SC2086
    expect 2 $command
    says err 'both is a comparison: name one of its runs'
    says err '  both/stablegrad-1'
done
expect 2 train both
says err 'stablegrad compare both --resume'
mv both runs/both
expect 0 list
grep -q '^    stablegrad  *loss .*  error ' out || fail "list of a comparison: $(cat out)"
mv runs/both both
grep -q '"seed": 1' both/adamw-1/run.json || fail "adamw-1 is not of seed 1"
expect 2 train heat.yaml --out both
says err 'not empty'
# shellcheck disable=SC2086
expect 0 train heat.yaml $small --set training.steps=20 --json --out json
says out '"event":"complete"'

# Ctrl-C: a checkpoint, exit code 130, and the same weights after resuming. The program writes more events than a pipe
# holds, so it cannot end before this loop has read that of step 100, however slow the machine is.
long="--set training.steps=800 --set training.evaluate_every=1"
mkfifo events
# shellcheck disable=SC2086
"$program" train heat.yaml $small $long --json --out stopped --threads 1 >events 2>err &
pid=$!
while read -r line; do
    case $line in *'"evaluation"'*'"step":100,'*) kill -INT $pid ;; esac
    echo "$line" >out
done <events
got=0
wait $pid || got=$?
[ "$got" = 130 ] || fail "interrupted with $got"
says out '"event":"interrupted"'
expect 0 train stopped --resume --quiet
# shellcheck disable=SC2086
expect 0 train heat.yaml $small $long --quiet --out whole --threads 2
cmp stopped/weights.safetensors whole/weights.safetensors || fail "resumed weights differ"
# Points that follow the residual are part of a checkpoint: between two choices, and where the next step has one.
for method in rad rar-d r3; do
    refined="--set refinement.method=$method --set refinement.every=10 --set conditions.initial.refine=true --set sampling=sobol --set training.schedule=constant"
    # shellcheck disable=SC2086
    expect 0 train heat.yaml $small $refined --set training.steps=40 --set training.stablegrad.method=none --quiet \
        --out "$method-whole" --threads 2
    for stop in 17 20; do
        # shellcheck disable=SC2086
        expect 0 train heat.yaml $small $refined --set training.steps=$stop --set training.stablegrad.method=none --quiet \
            --out "$method-$stop" --threads 1
        expect 0 train "$method-$stop" --resume --set training.steps=40 --quiet --threads 1
        cmp "$method-$stop/weights.safetensors" "$method-whole/weights.safetensors" ||
            fail "$method: weights resumed at step $stop differ"
    done
    grep -q '"refinement_seconds":[0-9.e-]*,"points":[0-9]' "$method-whole/metrics.jsonl" || fail "$method: no cost in metrics"
    grep -q 'of that, choosing points' "$method-whole/report.html" || fail "$method: no cost in the report"
done
# A checkpoint from before there was such a thing, or without it, is one without chosen points.
expect 0 train whole --resume --set refinement=rad --set refinement.every=2 --set training.steps=3005 --quiet
# One of other points is refused.
expect 2 train rad-whole --resume --set points=77 --set training.steps=50 --insist --quiet
says err "was saved with other points, or another refinement"
expect 0 check heat.yaml --set refinement=r3 --set sampling=sobol
says out 'sobol, r3 every 100 steps'
says out 'refinement     r3: '
# Without events, a sentence says how to go on; this run would take hours.
# shellcheck disable=SC2086
"$program" train heat.yaml $small --set training.steps=100000000 --quiet --out endless --threads 1 2>err &
pid=$!
until grep -q '"step":100,' endless/metrics.jsonl 2>/dev/null; do sleep 0.05; done
expect 2 train endless --resume
says err "process $pid is training this run"
expect 2 train heat.yaml --out endless
says err "process $pid is training this run"
expect 0 list # reading goes on
expect 0 report endless
kill -INT $pid
got=0
wait $pid || got=$?
[ "$got" = 130 ] || fail "interrupted with $got"
says err 'stablegrad train endless --resume'

# A run that is killed before its first checkpoint is not said to be running, and begins anew.
mkdir -p runs
# shellcheck disable=SC2086
"$program" train heat.yaml $small --set training.steps=100000000 --quiet --out runs/killed --threads 1 &
pid=$!
until [ -s runs/killed/metrics.jsonl ]; do sleep 0.05; done
kill -KILL $pid
wait $pid 2>/dev/null || true
[ ! -e runs/killed/last.safetensors ] || fail "there was a checkpoint already"
expect 0 list
grep -q 'runs/killed  *killed' out || fail "list: $(grep runs/killed out)"
# Nor when its number has gone to a process that runs: this shell.
sed -i "s/\"process\": $pid/\"process\": $$/" runs/killed/run.json
sed -i "s/^$pid /$$ /" runs/killed/run.lock
expect 0 list
grep -q 'runs/killed  *killed' out || fail "list: $(grep runs/killed out)"
expect 0 train runs/killed --resume --set training.steps=20
says out 'there is no checkpoint yet: training starts from step 0'
says out 'relative L2 error'

# The hand-over from rescaled to raw gradients: chosen, refused, marked.
expect 2 train heat.yaml --set training.stablegrad.handover=drop
says err 'convert, keep, restart'
# shellcheck disable=SC2086
expect 0 train heat.yaml $small --set training.steps=20 --set training.stablegrad.handover=restart --quiet --out handed
says handed/metrics.jsonl '"handover":"raw"'
says handed/run.json '"handover": "restart"'
says handed/report.html 'At step 11 the gradients became raw ones'

# The paper's experiments, with everything small: each run is a run of a comparison, and the same command goes on.
tiny="--set training.steps=20 --set diagnose.every=10 --set diagnose.residuals=60 --set training.evaluate_every=2"
tiny="$tiny --set points=32 --set conditions.initial.points=16 --set conditions.periodic.points=16"
tiny="$tiny --set network.hidden=1x8 --set evaluation.grid=3x3x3x3 --set evaluation.points=32"
tiny="$tiny --set evaluation.condition_points=16 --threads 1"
expect 2 reproduce table2
says err "did you mean 'table1'?"
expect 2 reproduce table1 --budget days
says err "--budget takes quick, hours or full, not 'days'"
expect 2 reproduce table1 --only poisson
says err "table1 has no part or run 'poisson'"
says err 'parts: burgers-6'
says err 'runs of each: adamw, stablegrad'
for only in '' 'poisson-6,' poisson-6/ poisson-6/sgd /adamw poisson/adamw poisson-6,sgd; do
    expect 2 reproduce table1 --only "$only" --out nowhere
    says err 'has no part or run'
done
expect 2 reproduce figure1 --only adamw --out nowhere
expect 2 reproduce lr-control --seeds 0
expect 2 reproduce lr-control --set points=many --out nowhere
expect 2 reproduce lr-control --resume --out nowhere
says err 'nowhere is not the folder of a reproduction'
[ ! -e nowhere ] || fail "a refused reproduction left a folder"
# shellcheck disable=SC2086
expect 0 reproduce lr-control $tiny --out control
says out 'expected time'
says out 'quick: 1,000 of 5,000 epochs'
says out 'with training.steps=20'
says out 'Update geometry'
for file in report.html reproduce.json burgers3d/report.html burgers3d/compare.json burgers3d/schedule/weights.safetensors; do
    [ -s control/$file ] || fail "control/$file is missing"
done
grep -q 'pieces: \[{from: 0, until: 10, factor: .*{from: 10, until: 20, factor: ' control/burgers3d/schedule/problem.yaml ||
    fail "the multipliers: $(grep pieces control/burgers3d/schedule/problem.yaml)"
grep -q 'until: 500, factor: 5.114545}' control/burgers3d/paper-schedule/problem.yaml || fail "the paper's multipliers"
cp control/burgers3d/schedule/metrics.jsonl before
# shellcheck disable=SC2086
expect 0 reproduce lr-control $tiny --out control --resume
says out 'is complete'
cmp control/burgers3d/schedule/metrics.jsonl before || fail "a complete run was trained again"
expect 2 reproduce lr-control --out control
says err 'was begun with another --set'
# shellcheck disable=SC2086
expect 2 reproduce diagnostics $tiny --out control
says err 'was begun with another experiment'
expect 0 report control
says out 'Update geometry'
# shellcheck disable=SC2086
expect 0 reproduce diagnostics $tiny --out seeds --seeds 2 --json
says out '"event":"tables"'
grep -q '"seed": 1' seeds/burgers3d/adamw-1/run.json || fail "the second seed"

expect 2 train control
says err 'stablegrad report control'
mkdir -p runs
mv seeds runs/seeds
expect 0 list
says out 'reproduction of diagnostics, quick'
# A comparison that was made before can be a part; one with other settings is told.
mkdir -p taken
mv runs/seeds/burgers3d taken/burgers3d
rm -r runs/seeds
# shellcheck disable=SC2086
expect 0 reproduce diagnostics $tiny --out taken --seeds 2
says out 'adamw-1    is complete'
[ ! -s err ] || fail "a comparison that was taken over: $(cat err)"
rm taken/reproduce.json taken/report.html
# shellcheck disable=SC2086
expect 0 reproduce diagnostics $tiny --set training.optimizer.rate=2e-3 --out taken --seeds 2
says err 'the file of burgers3d/adamw is not the one that this experiment begins with'

# Runs that seconds end are complete, too.
short="--only heat --set network.hidden=1x3 --set points=64 --set training.seconds=0.01 --threads 1"
# shellcheck disable=SC2086
expect 0 reproduce accuracy $short --out accuracy --quiet
says accuracy/report.html 'Error against seconds'
# shellcheck disable=SC2086
expect 0 reproduce accuracy $short --out accuracy
[ "$(grep -c 'is complete' out)" = 7 ] || fail "runs of accuracy are trained again: $(cat out)"
says out 'Levenberg-Marquardt'
# Single runs: of one part, of all that have it; what is left is added later.
short="--set network.hidden=1x3 --set points=64 --set training.seconds=0.01 --threads 1"
# shellcheck disable=SC2086
expect 0 reproduce accuracy $short --only heat/lbfgs,wave/lbfgs,wave/soap --out single
says out '  heat         1 run, '
says out '  wave         2 runs, '
says out '1 x 3 tanh'
[ "$(echo single/*/*/)" = 'single/heat/lbfgs/ single/wave/lbfgs/ single/wave/soap/' ] || fail "runs: $(echo single/*/*/)"
# shellcheck disable=SC2086
expect 0 reproduce accuracy $short --only heat --out single
[ "$(grep -c 'is complete' out)" = 1 ] || fail "a single run is trained again: $(cat out)"
! grep -q 'Every seed' out || fail "one seed in two tables"
# shellcheck disable=SC2086
expect 0 reproduce accuracy $short --only heat/lbfgs --seeds 2 --out seeds
says out 'Every seed'
# shellcheck disable=SC2086
expect 0 reproduce metrics $short --set training.points.start=64 --only kernel-none --out single-metrics --quiet
[ "$(echo single-metrics/*/kernel-none/weights.safetensors | wc -w)" = 9 ] || fail "one run of each part"

# Interrupted, killed, and resumed: the same tables, but for the times.
tables() { "$program" report "$1" | sed '1,/^part/d; /^burgers3d/d; /^report/d; s/ *$//'; }
more="--set training.steps=2000 --set training.evaluate_every=2 --set diagnose.every=1000"
rm -f events
mkfifo events
# shellcheck disable=SC2086
"$program" reproduce diagnostics $tiny $more --json --out broken >events 2>err &
pid=$!
while read -r line; do
    case $line in *'"evaluation"'*'"stablegrad"'*'"step":100,'*) kill -INT $pid ;; esac
    echo "$line" >out
done <events
got=0
wait $pid || got=$?
[ "$got" = 130 ] || fail "interrupted with $got"
says err "reproduce diagnostics --budget quick --out broken --set 'training.steps=20'"
says out '"event":"tables"'
tables broken >part
# shellcheck disable=SC2086
"$program" reproduce diagnostics $tiny $more --json --out broken >events 2>err &
pid=$!
while read -r line; do
    case $line in *'"evaluation"'*'"stablegrad"'*'"step":600,'*) kill -KILL $pid ;; esac
done <events
wait $pid || true
# shellcheck disable=SC2086
expect 0 reproduce diagnostics $tiny $more --out broken --quiet
# shellcheck disable=SC2086
expect 0 reproduce diagnostics $tiny $more --out unbroken --quiet
tables broken >resumed
tables unbroken >whole_tables
cmp resumed whole_tables || fail "the tables of a resumed reproduction differ"
! cmp -s part whole_tables || fail "the tables of a part are those of the whole"
cmp broken/burgers3d/stablegrad/weights.safetensors unbroken/burgers3d/stablegrad/weights.safetensors ||
    fail "resumed weights differ"

# An interrupted comparison can be reported: the runs that are there, and which are not.
# shellcheck disable=SC2086
"$program" compare heat.yaml $small --set training.steps=800 --set training.evaluate_every=1 --json --out half --threads 1 \
    >events 2>err &
pid=$!
while read -r line; do
    case $line in
    *'"evaluation"'*'"step":50,'*)
        expect 2 compare half --resume
        says err "process $pid is training this run"
        expect 2 train half/stablegrad --resume
        says err "process $pid is training the comparison that this run is part of"
        ;;
    *'"evaluation"'*'"step":100,'*) kill -INT $pid ;;
    esac
done <events
got=0
wait $pid || got=$?
[ "$got" = 130 ] || fail "interrupted with $got"
[ -s half/report.html ] || fail "an interrupted comparison has no report"
says err 'stablegrad compare half --resume'
expect 0 report half
says half/report.html 'stablegrad'
[ ! -e half/stablegrad/run.json ] || fail "the comparison was not cut short"
# It goes on as a whole: the run that was interrupted, and the one that was not begun.
expect 2 train half --resume
says err 'half is a comparison; to go on with it: stablegrad compare half --resume'
expect 2 compare stopped --resume
says err 'stopped is a run; to go on with it: stablegrad train stopped --resume'
expect 2 compare half --resume --variants adamw
says err '--variants does not go with --resume'
# A method of second order has points of its own, and leaves nothing to rescale.
expect 0 check heat --set training.optimizer.name=levenberg --set network.hidden=1x4
says out 'levenberg             700  in the domain at first, 700 at most'
says out ', 700 points'
expect 2 compare heat --out twins --set training.optimizer.name=levenberg --set training.steps=1 --set network.hidden=1x4 --set points=32
says err "'adamw' and 'stablegrad' train the same thing here: Levenberg-Marquardt"
says err "'stablegrad train heat' trains it once"
expect 2 compare heat --out twins --variants adamw,stablegrad,output --set training.steps=1 --set network.hidden=1x4 --set points=32
says err "'stablegrad' and 'output' train the same thing here: AdamW + StableGrad (output)"
says err 'leave one of them out'
says err 'variants: adamw, stablegrad, margin, '
[ ! -e twins ] || fail "a comparison that was refused left a folder"
# Stages of second order beside one that is rescaled are something to compare, however late it comes.
long='{optimizer: levenberg, steps: 1}, {optimizer: ssbroyden, steps: 1}, {optimizer: kernel, steps: 1}, {optimizer: bfgs, steps: 1}'
expect 0 compare heat --out staged --set network.hidden=1x4 --set network.precision=double --set points=32 --set "training=[$long, {optimizer: adamw, steps: 1}]"
says staged/stablegrad/run.json '"stage": 5'
says staged/compare.json '"label": "stablegrad"'
expect 0 compare half --resume
says out 'adamw'
says out 'relative L2 error'
for variant in adamw stablegrad; do
    says half/$variant/run.json '"status": "complete"'
    says half/$variant/run.json '"steps_done": 800'
done
expect 0 compare half --resume
says out 'stablegrad is complete'
# Processes that train side by side do not wait for a thread that only the first one had.
limit=60
for _ in 1 2 3 4 5 6; do expect 0 compare half --resume --threads 16; done
limit=

# The command in run.json means the same to a shell.
cp heat.yaml "it's heat.yaml"
# shellcheck disable=SC2086
expect 0 train "it's heat.yaml" $small --set training.steps=1 --quiet --out 'a b'
sed -n 's/^ *"command": "\(.*\)",$/\1/p' 'a b/run.json' | sed 's/\\\\/\\/g' >'command'
says command "'it'\\''s heat.yaml'"
eval "printf '%s\\n' $(cat command)" >words
says words "it's heat.yaml"
says words 'a b'

# A path that is too long is called so.
long=$(printf '%01200d' 0)
expect 2 train "$long" --resume --out "$long"
says err 'too long'
expect 2 train heat.yaml --out "$long"
says err 'too long'
expect 2 compare heat.yaml --out "$long"
says err 'too long'
deep=$(printf 'abcdefghi/%.0s' $(seq 101))
expect 2 compare heat.yaml --out "${deep}abcdefgh"
says err 'too long'

# The README's problem in ten lines, as it stands there.
awk '/^Save as/ { on = 1; next } /^Then:/ { exit } on && /^    / { print substr($0, 5) }' "$source/README.md" >readme.yaml
[ "$(wc -l <readme.yaml)" = 10 ] || fail "the README's problem is not ten lines long"
expect 0 check readme.yaml
says out 'fits'
expect 0 train readme.yaml --set network.hidden=2x8 --set training.steps=20 --quiet --out readme

# A reference that is infinite in one corner is found, and errors are measured at the other points.
cat >corner.yaml <<'END'
coordinates: {x: [0, 1], y: [0, 1]}
fields: [u]
equations: {diagonal: u_x - u_y = 0}
conditions: {walls: {at: boundary, u: log(x + y)}}
reference: {u: log(x + y)}
evaluation: {grid: 11}
network: {hidden: 2 x 8}
points: 128
END
expect 0 check corner.yaml
says err 'the reference is not finite at 1 of 121 points of the evaluation grid, the first at x = 0, y = 0'
expect 0 train corner.yaml --set training.steps=5 --out corner
says err 'the reference is not finite at 1 of 121 points'
grep -q 'relative L2 error *[0-9]' out || fail "no error: $(cat out)"
says corner/report.html 'the reference is not finite at 1 of 121 points'

# A reference from a coarse table: its errors are those at its points, between them too.
awk 'BEGIN { print "x,y,u"; for (i = 0; i < 4; i++) for (j = 0; j < 4; j++) print i/3 "," j/3 "," sin(3*(i + j)) }' >coarse.csv
sed 's/^reference.*/reference: {file: coarse.csv}/; s/log(x + y)/sin(9*(x + y))/' corner.yaml >coarse.yaml
expect 0 train coarse.yaml --set training.steps=5 --out coarse
says coarse/report.html 'interpolated between them'
[ -z "$python" ] || $python - coarse/field.npz "$(sed -n 's/^largest error *//p' out)" <<'END' || fail "u_error is not the error at the points of the file"
import sys, numpy
field = numpy.load(sys.argv[1])
largest = abs(field["u_error"]).max()
assert 0.3 * float(sys.argv[2]) <= largest <= 1.01 * float(sys.argv[2]), largest
assert abs(field["u"] - field["u_reference"] - field["u_error"]).max() > 1e-6
END

# What goes to the output and what to stderr come in the order they were said, on lines of their own.
sed 's/^reference.*/reference: {u: x}/' corner.yaml >wrong.yaml
"$program" check wrong.yaml >mixed 2>&1 && fail "a wrong reference fits"
[ "$(tail -n 1 mixed)" = 'stablegrad: the reference does not satisfy the problem' ] || fail "out of order: $(cat mixed)"

# Definitions can be looked at: in the report, in field.npz, at points.
sed -e 's/^reference.*/definitions: {slope: u_x + u_y}/' -e 's/grid: 11/grid: 11, maps: [slope, slope_x]/' corner.yaml >maps.yaml
expect 0 train maps.yaml --set training.steps=2 --out maps
says maps/problem.yaml 'maps: [slope, slope_x]'
says maps/field.npz 'slope_x.npy'
says maps/field.vti 'Name="slope"'
says maps/report.html 'The quantity <em>slope_x</em>'
expect 0 eval maps --grid 2x2 --fields u,slope
says out 'x,y,u,slope'
expect 0 check maps/problem.yaml
expect 2 check maps.yaml --set evaluation.maps=slop
says err "unknown name 'slop' in evaluation.maps"
says err "did you mean 'slope'?"
expect 2 check maps.yaml --set 'evaluation.maps=[u]'
says err "'u' in evaluation.maps is the name of another array"
expect 2 check maps.yaml --set 'evaluation.maps=[u_x + u_y]'
says err 'evaluation.maps takes names, not expressions'
expect 2 check maps.yaml --set 'evaluation.maps=slope_xxxx'
says err 'order 5'

# Measured data: what was read is told, misfits are told apart, the report shows them, and eval goes on without the file.
cat >data.yaml <<'END'
coordinates: {x: [0, 1], t: [0, 1]}
fields: [u]
equations: {heat: u_t = 0.1*u_xx}
data: {probes: {file: probes.csv, columns: {t: time}, observe: {u + u_x: T}, std: 0.1, hold_out: 2}}
network: {hidden: 1 x 8}
points: 64
training: {steps: 12, evaluate_every: 4}
evaluation: {grid: 5}
END
printf 'x,time,T\n0.1,0.2,1\n0.2,0.3,\n0.3,0.9,2\n0.4,0.1,3\n0.5,0.5,4\n' >probes.csv
expect 0 check data.yaml --threads 1
says out '2 rows of probes.csv, 2 held out, 1 row without values'
expect 0 train data.yaml --threads 1 --out data-run
says out 'misfit of probes'
says out 'held out of probes'
cp data-run/metrics.jsonl out
says out '"misfit":{"probes":{"trained":'
cp data-run/report.html out
says out 'The measured data'
says out 'probes: measured: '
grep -q 'location.reload' data-run/report.html && fail "the page of a run that has ended reads itself again"
rm probes.csv
expect 0 eval data-run --grid 3x3
expect 2 check data.yaml
says err 'probes.csv: No such file or directory'
printf 'x,time,T\n0.1,0.2,1\n0.2,3,2\n0.3,0.9,2\n' >probes.csv
expect 2 check data.yaml
says err 'probes.csv: row 2, x = 0.2, t = 3, lies outside the domain'

# The shipped problems are whole.
for problem in "$source"/problems/*.yaml; do
    grep -q '^coordinates:' "$problem" || continue # an image task; its data are not shipped
    expect 0 check "$problem" --threads 1 --set points=512 --set network.hidden=2x8
done

# Tasks on images, in builds that have networks for them.
[ -n "$make_images" ] || exit 0
"$make_images" train.bin 100 1
"$make_images" test.bin 40 2
cat >quarters.yaml <<'END'
name: quarters
data: {kind: cifar10, train: train.bin, test: test.bin, size: 16, zoom: 1, flip: false, crop: {area: [0.8, 1]}}
network: {model: mlp, hidden: 6 x 24, activation: relu, norm: none}
training: {epochs: 3, batch: 16, optimizer: {name: adamw, rate: 3e-3}}
END
expect 0 help man
says out 'fBdata.train'
expect 0 help completion
says out ' data.train= '
expect 0 check quarters.yaml
says err 'timing step 1 of 4 of 16 images'
expect 0 check quarters.yaml --seconds 0
says err 'timing step 1 of 4 of 4 images'
says out 'estimated from steps of 4 images'
says out 'mlp 24-24-24-24-24-24 relu without norm'
says out 'layer outputs of std'
for command in "check quarters.yaml --seconds 0" "train quarters.yaml --set training.steps=1 --out momentum --quiet"; do
    # shellcheck disable=SC2086
    expect 0 $command --set training.optimizer.momentum=0.9
    says err "training.optimizer.momentum is not used by the optimizer 'adamw'"
done
expect 0 compare quarters.yaml
for variant in batchnorm plain stablegrad sign; do
    for file in run.json metrics.jsonl problem.yaml weights.safetensors best.safetensors last.safetensors; do
        [ -s runs/quarters-0001/$variant/$file ] || fail "runs/quarters-0001/$variant/$file is missing"
    done
done
says out 'test top-1'
says out 'guessing: 10.00 %'
says runs/quarters-0001/report.html 'What happened inside'
expect 0 eval runs/quarters-0001/stablegrad --best
says out 'top-1'
expect 2 eval runs/quarters-0001/stablegrad --grid 5x5
says err '--grid does not apply'
expect 0 eval runs/quarters-0001/stablegrad --json
says out '{"images":40,"top1":'
for file in a.npz a.onnx a.c; do
    expect 2 export runs/quarters-0001/stablegrad $file --force
    says err 'task on images'
done
expect 0 train runs/quarters-0001/plain --resume
says out 'is complete (18 of 18 steps)'
expect 0 train runs/quarters-0001/plain --resume --set training.epochs=4 --quiet
grep -q '"steps_done": 24' runs/quarters-0001/plain/run.json || fail "four epochs were not trained"

# A variant that collapses is a result, and the others are trained.
expect 1 compare quarters.yaml --variants plain,stablegrad --set training.optimizer.rate=1e6 \
    --set network.hidden=12x24 --set training.epochs=8 --out collapse
says out 'is the first layer whose output is not finite'
says err 'The network has collapsed'
says out 'collapsed at step'
[ -s collapse/stablegrad/run.json ] || fail "the comparison stopped at a collapse"
says collapse/plain/run.json '"kind": "not_finite"'

# The file to start from is whole but for its data.
expect 0 new images.yaml --images
expect 2 check images.yaml
says err 'data/train'
expect 0 train images.yaml --set data.kind=cifar10 --set data.train=train.bin --set data.test=test.bin \
    --set network.model=mlp --set training.batch=16 --set training.steps=2 --quiet --out started

# What is wrong with data is told, and leaves no folder behind.
expect 2 train quarters.yaml --set data.train=nowhere.bin --out missing
says err 'nowhere.bin'
says err '--set data.train='
[ ! -e missing ] || fail "a run that could not start left a folder"
mkdir mine
expect 2 train quarters.yaml --set data.train=nowhere.bin --out mine
expect 2 compare quarters.yaml --set data.train=nowhere.bin --out mine
[ -d mine ] || fail "a folder that was there before was removed"
rmdir mine || fail "a run that could not start left a file"
head -c 5000 train.bin >cut.bin
expect 2 train quarters.yaml --set data.train=cut.bin
says err 'cut.bin'
expect 2 compare quarters.yaml --variants batch
says err 'variants: batchnorm, plain, stablegrad, sign'
expect 2 train quarters.yaml --set network.nrom=none
says err "did you mean 'norm'?"
