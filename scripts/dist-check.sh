#!/usr/bin/env bash
# Makes the archives of the commit that is checked out twice, each time in a clone in another folder
# and with an empty build cache, and fails unless all bytes are equal.
#
#   scripts/dist-check.sh [PLATFORMS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in first a-second-with-a-longer-name; do
	git clone --quiet . "$work/$name"
	echo "dist-check: building in $work/$name" >&2
	(cd "$work/$name" && GOCACHE="$work/cache-$name" go run ./scripts/dist --out dist --platforms "${1:-}" >&2)
	chmod -R u+w "$work/cache-$name" && rm -rf "$work/cache-$name"
done
diff -r "$work/first/dist" "$work/a-second-with-a-longer-name/dist"
(cd "$work/first/dist" && sha256sum --check --quiet ./*-checksums.txt && cat ./*-checksums.txt)
echo "dist-check: the same bytes twice" >&2
