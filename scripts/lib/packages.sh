# SPDX-License-Identifier: Apache-2.0
# Debian packages that the scripts need; installed where that is possible.

build_packages=(ccache g++ cmake ninja-build python3 libexpected-dev libfmt-dev rapidjson-dev zlib1g-dev libzstd-dev libsqlite3-dev libcurl4-openssl-dev libyaml-cpp-dev libgtest-dev librapidcheck-dev)
environment_packages=(python3 python3-venv)
test_packages=(git clang clang-format clang-tidy binutils)

have_package() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# The privileged way to run a command, as words; fails when there is none.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# need_packages NAME...: does nothing when all are there.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "no Debian here: the equivalents of these packages are needed: $*"
    return 0
  fi
  local missing=() package
  for package in "$@"; do have_package "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  if ! as_root true 2>/dev/null; then
    die "these packages are missing, and installing them needs root: apt-get install ${missing[*]}"
  fi
  { as_root apt-get update && as_root apt-get install -y --no-install-recommends "${missing[@]}"; } >build/apt.log 2>&1 ||
    { tail -20 build/apt.log >&2; die "apt-get install ${missing[*]} failed"; }
}

# The runtime of clang's sanitizers and of libFuzzer has clang's version in its name.
need_clang_runtime() {
  local major
  major=$(clang -dumpversion | cut -d. -f1)
  need_packages "libclang-rt-$major-dev"
}
