#!/usr/bin/env bash
# Probes of the Prometheus blackbox exporter, compared with checks.
source "$(dirname "$0")/common.sh"
from_go github.com/prometheus/blackbox_exporter v0.26.0 github.com/prometheus/blackbox_exporter
measure
