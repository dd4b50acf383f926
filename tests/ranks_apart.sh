#!/bin/sh
# Ranks on hosts of their own, which are network namespaces with their own addresses: they train together, and when the
# line between them is cut the run ends with a reason, with a whole checkpoint. Needs root, iproute2 and mpirun.
# Arguments: the program and the source tree.
set -eu
program=$1
source=$2
work=$(mktemp -d)
cd "$work"
. "$source/tests/support/program.sh"

# Whether something can be run in a namespace: in a chroot one can be made, and no more.
has_namespaces() {
    ip netns add sg-probe-$$ 2>/dev/null || return 1
    works=0
    ip netns exec sg-probe-$$ true 2>/dev/null || works=1
    ip netns delete sg-probe-$$
    return $works
}

if [ "$(id -u)" != 0 ] || ! command -v ip >/dev/null 2>&1 || ! command -v mpirun >/dev/null 2>&1 ||
    ! [ -e "$(dirname "$program")/stablegrad-mpi.so" ] || ! has_namespaces; then
    rm -rf "$work"
    echo "ranks_apart.sh: needs root, network namespaces, mpirun and a build with MPI" >&2
    exit 77
fi

a=sg-a-$$ b=sg-b-$$
cleanup() {
    for host in $a $b; do
        ip netns pids "$host" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
        ip netns delete "$host" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap cleanup EXIT
ip netns add $a
ip netns add $b
ip link add veth0 netns $a type veth peer name veth0 netns $b
ip -n $a address add 10.77.0.1/24 dev veth0
ip -n $b address add 10.77.0.2/24 dev veth0
for host in $a $b; do
    ip -n "$host" link set lo up
    ip -n "$host" link set veth0 up
done

# What mpirun calls in place of ssh: HOST COMMAND...
cat >agent <<END
#!/bin/sh
shift
exec ip netns exec $b unshare --uts sh -c 'hostname host-b; exec "\$@"' agent /bin/sh -c "\$*"
END
chmod +x agent

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" # MPI keeps what it has
export OMPI_MCA_plm_rsh_agent="$work/agent" OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=veth0
export OMPI_MCA_oob_tcp_if_include=veth0 OMPI_MCA_orte_keep_fqdn_hostnames=1
together() {
    ip netns exec $a unshare --uts sh -c 'hostname host-a; exec "$@"' mpi \
        mpirun --host 10.77.0.1,10.77.0.2 -n 2 --bind-to none "$program" "$@"
}

small='--set network.hidden=2x8 --set points=64 --set evaluation.grid=11 --threads 1'
heat=$source/problems/heat.yaml
# shellcheck disable=SC2086 # a list of words
{
    expect 0 train "$heat" $small --quiet --set training.steps=20 --set network.precision=double --out alone
    together train "$heat" $small --quiet --set training.steps=20 --set network.precision=double --out together >out 2>err || {
        cat out err >&2
        fail "ranks on two hosts do not train"
    }
}
says together/run.json '"ranks": 2'
for run in alone together; do
    "$program" eval $run --grid 5x5 --precision double >$run.csv
done
paste -d, alone.csv together.csv | awk -F, 'NR > 1 { d = $3 - $6; if (d < 0) d = -d; if (!(d < 1e-9)) bad = 1 } END { exit bad }' ||
    fail "two hosts and one differ"

# Whether a rank runs on a host; mpirun itself may still wait for its helper there.
trains() {
    for process in $(ip netns pids "$1"); do
        [ "$(cat "/proc/$process/comm" 2>/dev/null)" = stablegrad ] && return 0
    done
    return 1
}

# cut RUN ARGUMENT...: trains, cuts the line after the second checkpoint, and waits until no rank is left.
cut_line() {
    run=$1
    shift
    # shellcheck disable=SC2086
    together train "$heat" $small --quiet --set training.steps=100000000 --set training.checkpoint_every=10 --out "$run" \
        "$@" >"$run.out" 2>"$run.err" &
    launcher=$!
    for _ in $(seq 300); do
        [ -e "$run/previous.safetensors" ] && break
        sleep 0.1
    done
    [ -e "$run/previous.safetensors" ] || {
        cat "$run.out" "$run.err" >&2
        fail "no checkpoint came"
    }
    ip -n $b link set veth0 down
    began=$(date +%s)
    for host in $a $b; do
        while trains "$host"; do
            [ $(($(date +%s) - began)) -lt 120 ] || fail "a rank goes on without the other"
            sleep 0.2
        done
    done
    echo "$run: both ranks had ended $(($(date +%s) - began)) s after the line was cut"
    kill $launcher 2>/dev/null || true
    ip -n $b link set veth0 up
    steps=$(sed -n 's/.*"steps_done": \([0-9]*\).*/\1/p' "$run/run.json")
    expect 0 train "$run" --resume --quiet --threads 1 --set training.steps=$((steps + 20))
}

# Found out by the ranks themselves.
cut_line waited --patience 8
says waited.err 'rank 0 of 2 on host-a: the other ranks have not answered for 8 s'
says waited.err 'to go on: stablegrad train waited --resume'
# Found out by mpirun, when it is told to look: it ends the ranks long before they lose their own patience. What it says
# depends on which end of the line looks first: the connection of its helper is lost, or the helper has failed.
export OMPI_MCA_oob_tcp_keepalive_time=2 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=3
cut_line looked
if grep -qF 'have not answered' looked.err; then
    cat looked.err >&2
    fail "mpirun did not notice that the line was cut"
fi
