#!/usr/bin/env bash
# fuzz.sh DURATION: runs every fuzz target of the module for that long, its seed corpus first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
inputs=$(go env GOCACHE)/fuzz/linkwatch # that found new paths, as go test keeps them

targets=$(grep -rHo --include='*_test.go' -E '^func Fuzz[A-Za-z0-9_]*' . | sed -E 's|/[^/]*:func | |' | sort -u)
if [ -z "$targets" ]; then
  echo "there are no fuzz targets"
  exit 1
fi
built=
while read -r package target; do
  if [ "$package" != "$built" ]; then # go test would link the same program for each target
    go test -c -fuzz . -o "$work/fuzz" "$package"
    built=$package
  fi
  echo "$package $target"
  if (cd "$package" && "$work/fuzz" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$1" \
    -test.fuzzcachedir "$inputs/$package") >"$log" 2>&1; then
    tail -n 2 "$log"
  elif grep -qx '    context deadline exceeded' "$log" && ! grep -q 'Failing input written' "$log"; then
    # Go before 1.27 now and then fails a target because its time is up: go.dev/issue/75804.
    echo "nothing found when time was up"
  else
    cat "$log"
    exit 1
  fi
done <<<"$targets"
