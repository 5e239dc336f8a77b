# SPDX-License-Identifier: Apache-2.0
# What every script shares. Source it: `. scripts/lib/common.sh` sets `root` and goes there.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
jobs=${ULLAGE_JOBS:-$(nproc)}

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$(basename "$0"): $*"
  exit 1
}

# seconds SINCE: whole seconds since a value of $SECONDS.
seconds() { echo $((SECONDS - $1)); }

# Runs one command at a time for the whole build folder: two scripts at once would disturb each other.
lock_build_folder() {
  mkdir -p build
  exec 9>build/.lock
  flock -n 9 || {
    say "waiting for another script that uses $root/build"
    flock 9
  }
}
