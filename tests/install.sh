#!/bin/sh
# After an install, projects outside the tree build the examples and small programs through
# find_package and through pkg-config, static and shared, and the results run. Arguments: the build
# tree, the source tree.
set -eu
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix" # an installed tree can be moved
cp -r "$source/examples" "$work/outside"
cd "$work/outside"
headers=$work/prefix/include/stablegrad

# exports LIBRARY HEADER...: the shared library shows exactly the functions that these public headers
# declare: names before a parenthesis, outside comments. Types of callbacks end in _function.
exports() {
    name=$1
    shift
    nm -D --defined-only "$library/lib$name.so" | awk '{print $3}' | sort >symbols
    (cd "$headers" && cat "$@") | cc -fpreprocessed -dD -E -P -x c - 2>/dev/null |
        grep -v '^ *#' | grep -oE '\bsg_[a-z0-9_]+\(' | tr -d '(' | grep -v '_function$' | sort -u >declared
    cmp -s symbols declared || fail "lib$name.so and $*: $(diff symbols declared | tr '\n' ' ')"
}

# outside TARGET SOURCE: builds ./TARGET/a from SOURCE, through find_package.
outside() {
    mkdir "$1"
    printf 'cmake_minimum_required(VERSION 3.25)\nproject(a C)\nfind_package(stablegrad REQUIRED)\n' >"$1/CMakeLists.txt"
    printf 'add_executable(a ../%s)\ntarget_link_libraries(a stablegrad::%s)\n' "$2" "$1" >>"$1/CMakeLists.txt"
    cmake -G Ninja -S "$1" -B "$1" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
    cmake --build "$1" >/dev/null
}

cmake -G Ninja -S . -B cmake-build -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build cmake-build >/dev/null
cmake-build/deep_mlp 100 >cmake.out

pc=$(find "$work/prefix" -name stablegrad.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
library=$(pkg-config --variable=libdir stablegrad)
# shellcheck disable=SC2046
cc -O2 deep_mlp.c -o shared $(pkg-config --cflags --libs stablegrad) -lm
LD_LIBRARY_PATH=$library ./shared 100 >shared.out
# shellcheck disable=SC2046
cc -O2 deep_mlp.c -o static $(pkg-config --cflags stablegrad) "$library/libstablegrad.a" -lm -pthread
./static 100 >static.out
cmp cmake.out shared.out
cmp shared.out static.out
grep -q 'final loss' static.out
exports stablegrad cpu.h diagnostic.h optim.h params.h pool.h ranks.h scale.h schedule.h status.h version.h

# The engine, where it was built.
if pkg-config --exists stablegrad-pinn; then
    cat >jet.c <<'END'
#include <stdio.h>
#include <stablegrad/jet.h>
int main(void)
{
    sg_jet_network_config config = sg_jet_network_defaults();
    sg_jet_network *network;
    if (sg_jet_network_create(&network, &config, NULL) != SG_OK)
        return 1;
    printf("%zu parameters\n", sg_jet_network_parameters(network));
    sg_jet_network_destroy(network);
    return 0;
}
END
    # shellcheck disable=SC2046
    cc jet.c -o jet $(pkg-config --cflags --libs stablegrad-pinn)
    [ "$(LD_LIBRARY_PATH=$library ./jet)" = "12673 parameters" ]
    # shellcheck disable=SC2046
    cc jet_poisson.c -o poisson $(pkg-config --cflags --libs stablegrad-pinn) -lm
    LD_LIBRARY_PATH=$library ./poisson >poisson.out
    cmake-build/jet_poisson >poisson-cmake.out
    cmp poisson.out poisson-cmake.out
    "$work/prefix/bin/stablegrad" check burgers --threads 1 >check.out
    grep -q 'fits' check.out
    [ -s "$work/prefix/share/man/man1/stablegrad.1" ]
    outside stablegrad-pinn_shared jet.c
    [ "$(stablegrad-pinn_shared/a)" = "12673 parameters" ]
    problems=
    [ ! -e "$headers/pinn.h" ] || problems=pinn.h
    # shellcheck disable=SC2086 # a header or none
    exports stablegrad-pinn activation.h jet.h $problems
fi

# A prefix with static libraries only: the linker has no choice.
cp -r "$work/prefix" "$work/static"
find "$work/static" -name 'libstablegrad*.so*' -delete
static_pc=$work/static${PKG_CONFIG_PATH#"$work/prefix"}

# Problems, where they were built: the same lines whichever way the example is built.
if [ -e "$headers/pinn.h" ]; then
    cmake-build/solve_pde >solve.out
    grep -q 'relative L2 error' solve.out
    rm -rf stablegrad-pinn stablegrad-pinn_shared
    outside stablegrad-pinn solve_pde.c
    outside stablegrad-pinn_shared solve_pde.c
    stablegrad-pinn/a >solve-static-cmake.out
    stablegrad-pinn_shared/a >solve-shared-cmake.out
    # shellcheck disable=SC2046
    cc solve_pde.c -o solve $(pkg-config --cflags --libs stablegrad-pinn)
    LD_LIBRARY_PATH=$library ./solve >solve-shared.out
    # shellcheck disable=SC2046
    cc solve_pde.c -o solve-static $(PKG_CONFIG_PATH=$static_pc pkg-config --static --cflags --libs stablegrad-pinn)
    ./solve-static >solve-static.out
    # The program in the tour.
    # shellcheck disable=SC2016 # the marks of a block of code
    sed -n '/^```c$/,/^```$/p' "$source/docs/pinn.md" | sed '/^```/d' >tour.c
    # shellcheck disable=SC2046
    cc -Wall -Werror tour.c -o tour $(pkg-config --cflags --libs stablegrad-pinn) -lm
    LD_LIBRARY_PATH=$library ./tour >tour.out || fail "the tour's program: $(cat tour.out)"
    for result in solve-static-cmake solve-shared-cmake solve-shared solve-static; do
        cmp solve.out $result.out
    done
fi

# The networks, where they were built: a training step of an MLP on 16 x 16 images.
if [ -e "$build/src/libstablegrad-graph.a" ]; then
    cat >net.c <<'END'
#include <math.h>
#include <stdio.h>
#include <stablegrad/graph.h>
#include <stablegrad/images.h>
#include <stablegrad/optim.h>
static float images[4 * 3 * 16 * 16];
int main(void)
{
    const int labels[4] = {0, 1, 2, 3};
    sg_net_config config = sg_net_defaults();
    sg_model_options options = sg_model_defaults();
    sg_optim_config adamw = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_init_config start = {.kind = SG_INIT_DEFAULT, .seed = 1};
    sg_loss_result before, after;
    sg_net *net;
    sg_scaler *scaler;
    sg_optim *optim;
    config.batch = 4;
    config.height = config.width = 16;
    config.threads = 1;
    options.classes = 10;
    for (int i = 0; i < 4 * 3 * 16 * 16; i++)
        images[i] = sinf((float)(i % 97));
    if (sg_net_create(&net, &config, NULL) || sg_net_model(net, "mlp", &options) ||
        sg_net_init(net, &start) ||
        sg_scaler_create(&scaler, sg_net_params(net), NULL, NULL, NULL) ||
        sg_optim_create(&optim, sg_net_params(net), &adamw, NULL, NULL) ||
        sg_net_forward(net, images, SG_MODE_TRAIN, 0) || sg_net_loss(net, labels, 4, 0, &before) ||
        sg_net_backward(net) ||
        sg_scaler_observe(scaler, sg_net_signal(net), SG_FLOAT32, 40, 1) ||
        sg_scaler_measure(scaler, 0) || sg_optim_step(optim, scaler, NULL) ||
        sg_net_forward(net, images, SG_MODE_EVAL, 1) || sg_net_loss(net, labels, 4, 0, &after))
        return 1;
    printf("%zu parameters, loss %.6f, then %.6f\n", sg_net_information(net).parameters,
           before.loss, after.loss);
    sg_optim_destroy(optim);
    sg_scaler_destroy(scaler);
    sg_net_destroy(net);
    sg_dataset_close(NULL); /* of the part that decodes images */
    return isfinite(before.loss) && after.loss < before.loss ? 0 : 1;
}
END
    outside stablegrad-graph net.c
    outside stablegrad-graph_shared net.c
    stablegrad-graph/a >net.out
    stablegrad-graph_shared/a >net-shared.out
    # shellcheck disable=SC2046
    cc net.c -o net $(pkg-config --cflags --libs stablegrad-graph) -lm
    LD_LIBRARY_PATH=$library ./net >net-pkg.out
    # shellcheck disable=SC2046
    cc net.c -o net-static $(PKG_CONFIG_PATH=$static_pc pkg-config --static --cflags --libs stablegrad-graph)
    ./net-static >net-static.out
    for result in net-shared net-pkg net-static; do
        cmp net.out $result.out
    done
    cmake-build/image_classifier 2 >classifier.out || true # too short to learn
    grep -q 'test accuracy' classifier.out
    exports stablegrad-graph graph.h images.h
else
    [ ! -e "$headers/graph.h" ] || fail "graph.h is installed without its library"
fi

# Nothing installed for other builds names a place of this one.
if grep -rnF -e "$build" -e "$source" -e "$work" -e /usr/ "$PKG_CONFIG_PATH" "$library/cmake"; then
    fail "installed files name places of this machine"
fi
[ "$(find "$work/prefix" -name '*.h' | wc -l)" -ge 9 ]
