#!/usr/bin/env bash
# fuzz.sh DURATION [FOLDER]: runs every fuzz target of the module for DURATION, after its corpus. It runs one target per CPU,
# with one worker each, because half of a short run is startup. Inputs that reach new code are stored in FOLDER and are part of
# the corpus of the next run. Default: where go test stores them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export duration=$1 work
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
inputs=${2:-$(go env GOCACHE)/fuzz/linkwatch}
export inputs

targets=$(grep -rHo --include='*_test.go' -E '^func Fuzz[A-Za-z0-9_]*' . | sed -E 's|/[^/]*:func | |' | sort -u)
if [ -z "$targets" ]; then
  echo "there are no fuzz targets"
  exit 1
fi
# go test would link the same program for each target.
cut -d' ' -f1 <<<"$targets" | sort -u | xargs -P "$(nproc)" -I{} go test -c -fuzz . -o "$work/{}/fuzz" {}

# fuzz PACKAGE TARGET DURATION
fuzz() {
  local log=$work/$1/$2.log
  if (cd "$1" && "$work/$1/fuzz" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$3" -test.parallel 1 \
    -test.fuzzcachedir "$inputs/$1") >"$log" 2>&1; then
    if grep -q 'now fuzzing' "$log"; then
      printf '%s %s\n%s\n' "$1" "$2" "$(tail -n 2 "$log")"
    elif [ "$3" != 10s ]; then
      fuzz "$1" "$2" 10s # the corpus took all the time
    else
      printf '%s %s\nthe corpus takes more than %s\n' "$1" "$2" "$3"
      return 255
    fi
  elif grep -qx '    context deadline exceeded' "$log" && ! grep -q 'Failing input written' "$log"; then
    # Go before 1.27 sometimes fails a target when its time is up: go.dev/issue/75804.
    printf '%s %s\nnothing found when time was up\n' "$1" "$2"
  else
    printf '%s %s\n%s\n' "$1" "$2" "$(cat "$log")"
    return 255 # ends xargs
  fi
}
export -f fuzz
xargs -P "$(nproc)" -L 1 bash -c 'fuzz "$@" "$duration"' fuzz <<<"$targets"
