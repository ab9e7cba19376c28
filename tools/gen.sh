#!/usr/bin/env bash
# Generates the Go code of the pages, the OpenAPI document and docs/settings.md. If TEST_BINARY names a program that is current,
# it is used instead of go run. With the argument pages, it generates only the code of the pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go tool -modfile=tools/go.mod templ generate
# A component is a closure with the whole template. Inlining would copy it into each caller: a tenth of the program.
find views -name '*_templ.go' -exec sed -i 's|^func .*) templ\.Component {$|//go:noinline\n&|' {} + -exec gofmt -w {} +
[ "${1:-}" != pages ] || exit 0

# Write to a temporary file first: if the program fails, the old document stays.
document=$(mktemp)
trap 'rm -f "$document"' EXIT
program=(${TEST_BINARY:-go run .})
"${program[@]}" openapi >"$document"
cat "$document" >handlers/api/openapi.json
"${program[@]}" config -markdown >"$document"
cat "$document" >docs/settings.md
