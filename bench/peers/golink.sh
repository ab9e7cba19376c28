#!/usr/bin/env bash
# golink, a URL shortener.
source "$(dirname "$0")/common.sh"
from_go github.com/tailscale/golink v1.0.0 github.com/tailscale/golink/cmd/golink
skip "v1.0.0 builds here, but bench/peers_test.go does not measure it"
