#!/usr/bin/env bash
# Shiori, a bookmark manager.
source "$(dirname "$0")/common.sh"
from_go github.com/go-shiori/shiori v1.7.4 github.com/go-shiori/shiori
skip "v1.7.4 builds here, but bench/peers_test.go does not measure it"
