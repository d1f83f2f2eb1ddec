#!/usr/bin/env bash
# Fails when a Go file is not formatted as gofmt writes it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -d '' -t files < <(git ls-files -z --cached --others --exclude-standard -- '*.go')
existing=()
for file in "${files[@]}"; do
	if [ -f "$file" ]; then existing+=("$file"); fi
done
unformatted=$(gofmt -l "${existing[@]}")
if [ -n "$unformatted" ]; then
	printf 'not formatted, run gofmt -w:\n%s\n' "$unformatted" >&2
	exit 1
fi
