# SPDX-License-Identifier: Apache-2.0
# Configuring and building a preset of CMakePresets.json.

# With ccache, also for the wheel that a test builds. What one checkout has compiled, another finds: paths below it are relative.
use_ccache() {
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
  if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
}

# build PRESET TARGET...: quiet unless it fails.
build() {
  local preset=$1 log=build/$1.log
  shift
  mkdir -p build
  use_ccache
  if [ ! -f "build/$preset/build.ninja" ] || [ CMakePresets.json -nt "build/$preset/build.ninja" ]; then
    cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; die "cmake --preset $preset failed"; }
  fi
  cmake --build --preset "$preset" -j "$jobs" --target "$@" >"$log" 2>&1 ||
    { grep -v '^\[' "$log" | tail -60 >&2; die "building $preset failed; the whole log is $log"; }
}
