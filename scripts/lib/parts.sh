# SPDX-License-Identifier: Apache-2.0
# The parts of a test run: each is timed, its tests are counted, and the next part runs whatever it gave.

passed=0
failed=0
skipped=0
times=()

# number PATTERN FILE: the last number before a word in a runner's summary, or 0.
number() { grep -oE "[0-9]+ $1" "$2" | tail -1 | grep -oE '^[0-9]+' || echo 0; }

# ctest says "100% tests passed, 0 tests failed out of 12"; pytest "3 passed, 1 skipped in 2.1s"; others count as one test.
count_tests() {
  local log=$1 status=$2 ctest_line pytest_line total
  ctest_line=$(grep -E 'tests passed, [0-9]+ tests? failed out of' "$log" | tail -1 || true)
  pytest_line=$(grep -E '^=* ?[0-9]+ (passed|failed|skipped|error).* in [0-9.]+s' "$log" | tail -1 || true)
  if [ -n "$ctest_line" ]; then
    local bad
    bad=$(sed -E 's/.* ([0-9]+) tests? failed.*/\1/' <<<"$ctest_line")
    total=$(sed -E 's/.* out of ([0-9]+).*/\1/' <<<"$ctest_line")
    passed=$((passed + total - bad)) failed=$((failed + bad))
  elif [ -n "$pytest_line" ]; then
    printf '%s\n' "$pytest_line" >"$log.line"
    passed=$((passed + $(number passed "$log.line")))
    failed=$((failed + $(number failed "$log.line") + $(number error "$log.line")))
    skipped=$((skipped + $(number skipped "$log.line")))
  elif [ "$status" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
  # A runner that failed without naming a test has failed all the same.
  if [ "$status" != 0 ] && [ "$failed" = "$failed_before" ]; then failed=$((failed + 1)); fi
}

# part NAME COMMAND...: runs it in a shell of its own; shows its last lines, or more when it failed.
part() {
  local name=$1 since=$SECONDS status=0 log failed_before=$failed
  shift
  mkdir -p build/logs
  log=build/logs/${name// /_}.log
  printf '== %s\n' "$name"
  set +e  # in a condition, bash would ignore -e inside the part as well
  (set -e; "$@") >"$log" 2>&1
  status=$?
  set -e
  if [ $status = 0 ]; then tail -n 3 "$log"; else tail -n 80 "$log"; fi
  count_tests "$log" $status
  times+=("$(printf '%5d s  %s%s' "$(seconds "$since")" "$name" "$([ $status = 0 ] || echo '  FAILED')")")
}

# The closing lines; ends with 1 when anything failed.
closing() {
  printf '\ntime per part\n'
  printf '%s\n' "${times[@]}" "$(printf '%5d s  all' "$SECONDS")"
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" = 0 ]
}
