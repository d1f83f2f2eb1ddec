#!/usr/bin/env bash
# House rules on the text of the repository:
#   - no path of somebody's machine: such a file works for its author only
#   - no host of a package registry: the clients know theirs, and mirrors differ
#   - no download address in lock files of npm, for the same reason
# The patterns are written so that they do not match this file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=""

# refuse WHAT PATTERN FILE...: prints the lines that match the extended pattern.
refuse() {
	local what="$1" pattern="$2" found status=0
	shift 2
	found=$(grep -nIE -e "$pattern" -- "$@" /dev/null) || status=$?
	if [ "$status" -gt 1 ]; then exit "$status"; fi # grep itself failed
	if [ -n "$found" ]; then
		printf '%s:\n%s\n' "$what" "$found" >&2
		failed=yes
	fi
}

files=()
while IFS= read -r -d '' file; do
	if [ -f "$file" ]; then files+=("$file"); fi
done < <(git ls-files -z --cached --others --exclude-standard)

refuse "path of one machine" '(^|[^A-Za-z0-9_.})-])/(work|root|home|Users|tmp/brief)/[A-Za-z0-9_.]' "${files[@]}"
refuse "host of a package registry" '(registry|proxy|sum|deb|index)\.[a-z]*(npm|yarn|golang|debian|pypi|docker)[a-z]*\.(org|com|io)' "${files[@]}"
refuse "download address in a lock file" '"resolved"[[:space:]]*:' deploy/engine/package-lock.json scripts/clients/package-lock.json scripts/browser/package-lock.json
if [ -n "$failed" ]; then exit 1; fi
