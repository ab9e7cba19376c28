#!/usr/bin/env bash
# GoatCounter, which counts visits.
source "$(dirname "$0")/common.sh"
from_go zgo.at/goatcounter/v2 v2.6.0 zgo.at/goatcounter/v2/cmd/goatcounter
skip "v2.6.0 builds here, but bench/peers_test.go does not measure it"
