#!/usr/bin/env bash
# Monit, compared with checks.
source "$(dirname "$0")/common.sh"
from_debian monit 1:5.33.0-1 /usr/bin/monit
measure
