#!/usr/bin/env bash
# Takes the pictures of the console that the documentation shows: makes a simulated network of a week in a
# temporary folder, serves it, and looks at its pages. The network is the same each time. Build
# bin/ledgerlake first; make screenshots does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
served=""
finish() {
	if [ -n "$served" ]; then kill "$served" && wait "$served" || true; fi
	rm -rf "$work"
}
trap finish EXIT

bin/ledgerlake demo --updates 5000 --seed 42 --days 7 --keep --data "$work/data" >"$work/log"
bin/ledgerlake serve --data "$work/data" --listen 127.0.0.1:0 --ledger-listen off >"$work/out" 2>"$work/log" &
served=$!
url=""
for _ in $(seq 300); do
	url=$(sed -n 's/^in a browser: *\(http[^ ]*\).*/\1/p' "$work/out")
	if [ -n "$url" ] && curl -sf -o /dev/null "${url%/}/readyz"; then break; fi
	kill -0 "$served" || { cat "$work/log" >&2; exit 1; }
	sleep 0.2
done
go run ./scripts/screenshots --url "$url" --out docs/pictures
