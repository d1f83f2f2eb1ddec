#!/usr/bin/env bash
# Runs the network's published clients (scripts/clients) against a new `ledgerlake up` on a simulated
# network, and prints a table of their steps. It fails if a step does not work that works according to
# docs/compatibility.md; a step that works and is not in the table as such is named, to be put there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

expected=docs/compatibility.md
work=$(mktemp -d)
server=""
stop() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	rm -rf "$work"
}
trap stop EXIT

port() { node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }
scan=http://127.0.0.1:$(port)
ledger=http://127.0.0.1:$(port)
bin/ledgerlake up --data "$work/data" --updates 3000 --live-clock --naming network \
	--listen "${scan#http://}" --ledger-listen "${ledger#http://}" >"$work/log" 2>&1 &
server=$!
for _ in $(seq 120); do
	if grep -q "stream has caught up" "$work/log" && curl -fs "$ledger/readyz" >/dev/null && curl -fs "$scan/readyz" >/dev/null; then break; fi
	if ! kill -0 "$server" 2>/dev/null; then
		cat "$work/log" >&2
		exit 1
	fi
	sleep 1
done

client() { timeout 600 node --experimental-websocket --no-warnings "scripts/clients/$1" "${@:2}" 2>"$work/errors" | grep -P '^(ok|FAIL)\t' || true; }
{
	client ledger.mjs "$ledger"
	client splice.mjs "$scan/api/scan"
	client wallet.mjs "$ledger" "$scan"
} >"$work/steps"

awk -F '\t' '{ printf "%-20s %-32s %-5s %s\n", $2, $3, $1, $4; n[$2]++; ok[$2] += $1 == "ok" }
	END { print ""; for (c in n) printf "%-20s %d of %d steps\n", c, ok[c], n[c] }' "$work/steps"

# What the page says, as client, step and whether it works.
sed -nE 's/^\| `([a-z-]+)` \| ([^|]*) \| (yes|no)[^|]* \|.*/\1\t\2\t\3/p' "$expected" >"$work/expected"
awk -F '\t' -v page="$expected" '
	NR == FNR { said[$1 FS $2] = $3; next }
	{ seen[$2 FS $3] = 1 }
	$1 == "ok" && said[$2 FS $3] != "yes" { printf "works and is not said to: %s, %s: put it into %s\n", $2, $3, page }
	$1 != "ok" && said[$2 FS $3] == "yes" { printf "worked before: %s, %s: %s\n", $2, $3, $4; broken = 1 }
	END {
		for (step in said) if (!seen[step]) { split(step, at, FS); printf "was not reached: %s, %s\n", at[1], at[2]; if (said[step] == "yes") broken = 1 }
		exit broken
	}' "$work/expected" "$work/steps"
