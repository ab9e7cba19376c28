#!/usr/bin/env bash
# Gatus, a status page with checks.
source "$(dirname "$0")/common.sh"
from_go github.com/TwiN/gatus/v5 v5.17.0 github.com/TwiN/gatus/v5
skip "v5.17.0 builds here, but bench/peers_test.go does not measure it"
