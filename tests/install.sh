#!/bin/sh
# After an install, a project outside the tree builds the example through find_package and through
# pkg-config, static and shared, and the results run. Arguments: the build tree, the source tree.
set -eu
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix" # an installed tree can be moved
cp -r "$source/examples" "$work/outside"
cd "$work/outside"

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
    "$work/prefix/bin/stablegrad" check burgers --threads 1 >check.out
    grep -q 'fits' check.out
    [ -s "$work/prefix/share/man/man1/stablegrad.1" ]
    printf 'project(a C)\nfind_package(stablegrad REQUIRED)\nadd_executable(a ../jet.c)\ntarget_link_libraries(a stablegrad::stablegrad-pinn_shared)\n' >CMakeLists.txt
    mkdir -p engine && mv CMakeLists.txt engine/
    cmake -G Ninja -S engine -B engine-build -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null 2>&1
    cmake --build engine-build >/dev/null
    [ "$(engine-build/a)" = "12673 parameters" ]
fi

cmp cmake.out shared.out
cmp shared.out static.out
grep -q 'final loss' static.out
[ "$(find "$work/prefix" -name '*.h' | wc -l)" -ge 9 ]
