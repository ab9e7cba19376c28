#!/usr/bin/env bash
# buku, compared with links.
source "$(dirname "$0")/common.sh"
from_debian buku 4.7+ds-1 /usr/bin/buku
measure
