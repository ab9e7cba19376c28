#!/usr/bin/env bash
# Runs all scripts of this folder, one after the other, and prints one table.
set -euo pipefail
cd "$(dirname "$0")"
printf '| measurement, median of three runs | other program | Linkwatch | baseline |\n|---|---|---|---|\n'
for script in blackbox_exporter monit gatus buku shiori katana golink goatcounter; do
  bash "$script.sh"
done
