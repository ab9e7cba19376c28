# The scripts in this folder source this file: it gets a pinned version of a program and measures it.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
name=$(basename "$0" .sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() { # to standard error, so that it is not in the table
  echo "skipped: $name: $*" >&2
  exit 0
}

# from_go MODULE VERSION PACKAGE builds a Go program outside of this module. Not by go install, which fails if the module proxy has the
# version but no list of versions.
from_go() {
  mkdir "$work/module"
  (
    cd "$work/module"
    go mod init peer
    go mod edit -require="$1@$2"
    export GOFLAGS=-mod=mod
    go mod download "$1"
    go build -trimpath -ldflags='-s -w' -o "$work/" "$3"
  ) >"$work/log" 2>&1 || skip "cannot build $1 $2: $(tail -n 1 "$work/log" | xargs)"
  program="$work/$(basename "$3")"
  version=$2
}

# from_debian PACKAGE VERSION FILE installs a Debian package. The package does not start its server.
from_debian() {
  if [ "$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null)" != "$2" ]; then
    { apt-get update && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1=$2"; } \
      >"$work/log" 2>&1 || skip "cannot install the Debian package $1 $2: $(tail -n 1 "$work/log")"
  fi
  program=$3
  version=$2
}

# measure prints rows of the table: measurement, other program, Linkwatch, baseline. Linkwatch is built as in deploy/Dockerfile.
measure() {
  CGO_ENABLED=0 GOFLAGS="-buildvcs=false -trimpath -tags=nomsgpack '-ldflags=-s -w'" \
    go test ./bench -run "^TestPeerFigures\$/^$name\$" -figures -peer "$program" -v -count=1 -timeout 30m >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
  }
  printf '| **%s %s** | | | |\n' "$name" "$version"
  grep '^| ' "$work/log"
}
