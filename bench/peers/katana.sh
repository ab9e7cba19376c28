#!/usr/bin/env bash
# katana, compared with crawls. Its parser of JavaScript needs a C compiler.
source "$(dirname "$0")/common.sh"
command -v gcc >/dev/null || from_debian gcc 4:12.2.0-3 gcc
from_go github.com/projectdiscovery/katana v1.1.2 github.com/projectdiscovery/katana/cmd/katana
measure
