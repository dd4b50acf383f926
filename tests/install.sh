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
cmake-build/deep_mlp >cmake.out

pc=$(find "$work/prefix" -name stablegrad.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
library=$(pkg-config --variable=libdir stablegrad)
# shellcheck disable=SC2046
cc -O2 deep_mlp.c -o shared $(pkg-config --cflags --libs stablegrad) -lm
LD_LIBRARY_PATH=$library ./shared >shared.out
# shellcheck disable=SC2046
cc -O2 deep_mlp.c -o static $(pkg-config --cflags stablegrad) "$library/libstablegrad.a" -lm -pthread
./static >static.out

cmp cmake.out shared.out
cmp shared.out static.out
grep -q 'final loss' static.out
[ "$(find "$work/prefix" -name '*.h' | wc -l)" -ge 9 ]
