#!/usr/bin/env bash
# Compares the Go code of the console's pages with what their templates give: make generate writes it.
#
#   scripts/check-generated.sh MODULE@VERSION   of the generator
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
cp -r query/console "$before/console"
go run "$1" generate -path query/console >"$before/log" 2>&1 || { cat "$before/log" >&2; exit 1; }
if ! diff -r "$before/console" query/console >"$before/difference"; then
	cat "$before/difference" >&2
	echo "the code of the pages was not generated again: it is now, commit it (make generate)" >&2
	exit 1
fi
