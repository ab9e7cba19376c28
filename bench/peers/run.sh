#!/usr/bin/env bash
# Runs all scripts of this folder, or those of the names given, one after the other, and prints one table.
set -euo pipefail
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- blackbox_exporter monit buku katana gatus shiori golink goatcounter
printf '| measurement | other program | Linkwatch | baseline |\n|---|---|---|---|\n'
for name; do
  bash "$name.sh"
done
