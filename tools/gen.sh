#!/usr/bin/env bash
# Writes what is generated: the Go of the pages, and the OpenAPI document from the running code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go tool -modfile=tools/go.mod templ generate

# By way of a file elsewhere, so that a program that fails leaves the document as it was.
document=$(mktemp)
trap 'rm -f "$document"' EXIT
go run . openapi >"$document"
cat "$document" >handlers/api/openapi.json
