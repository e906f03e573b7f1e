#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What takes too long for every change, after ./bootstrap test, in its build folder.
#   fuzz [SECONDS]  each fuzz target for SECONDS (600)
#   address         the tests that need no guest, under AddressSanitizer and UndefinedBehaviorSanitizer
set -euo pipefail
cd "$(dirname "$0")/../.."
kind=${1:?fuzz or address}
export CCACHE_DIR="${XDG_CACHE_HOME:-$HOME/.cache}/hopyard/ccache" CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
export CCACHE_COMPILERCHECK=content

build() { # folder, options
  cmake -S . -B "$1" -G Ninja -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DHOPYARD_BORINGSSL_ROOT="$PWD/build/boringssl" "${@:2}" >/dev/null
  ninja -C "$1"
}

case $kind in
  fuzz)
    build build/fuzz -DHOPYARD_FUZZ=ON -DHOPYARD_FUZZ_SECONDS="${2:-600}"
    ctest --test-dir build/fuzz -L fuzz -j "$(nproc)" --output-on-failure
    ;;
  address)
    build build/address -DHOPYARD_SANITIZE=address,undefined
    # A guest's process has no room for a sanitizer's shadow. A test that ends by SIGSEGV does so as it wants to.
    ASAN_OPTIONS=handle_segv=0 ctest --test-dir build/address -L unit -E 'second_kernel|execute_confined' --output-on-failure
    ;;
  *)
    sed -n '4,5p' "$0"
    exit 2
    ;;
esac
