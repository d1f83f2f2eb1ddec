#!/usr/bin/env bash
# Installs what the named parts need, and nothing that is there already:
#
#   modules   the Go modules of go.mod
#   engine    the embedded engine, an npm package, into deploy/engine/node_modules
#   duckdb    DuckDB, an npm package, into bench/duckdb/node_modules
#   compared  nginx and Postgres, which make bench compares with: installed only with APT=yes, by
#             apt-get as root or with sudo; otherwise the command is printed
#   redis     redis-server, for tests of the queue on a real Redis
#   compose   docker-compose, to validate docker-compose.yml
#   clients   the network's published clients, npm packages, into scripts/clients/node_modules
#   browser   chromium, and axe-core, an npm package, into scripts/browser/node_modules: tests look at the
#             console with them
#   examples  curl and zstd, which the commands in the documentation use
#
# What cannot be installed is named in one message at the end. That is an error only
# when CI is set: elsewhere the tests of that part skip, saying so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
apt_updated=""

# apt_install PACKAGE: installs a Debian package as root, or with the command in $as_root. Services
# of the package are neither started now (policy-rc.d) nor at the next start: tests run their own.
as_root=()
apt_install() {
	command -v apt-get >/dev/null || return 1
	[ "$(id -u)" = 0 ] || [ "${#as_root[@]}" -gt 0 ] || return 1
	if [ -z "$apt_updated" ]; then
		"${as_root[@]}" apt-get update -qq >&2 || return 1
		apt_updated=yes
	fi
	local policy=/usr/sbin/policy-rc.d placed="" status=0
	if [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
		"${as_root[@]}" chmod +x "$policy"
		placed=yes
	fi
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >&2 || status=1
	if [ -n "$placed" ]; then "${as_root[@]}" rm -f "$policy"; fi
	return "$status"
}

setup_modules() {
	go mod download || missing+=("Go modules (go mod download failed)")
}

# engine_present: the package is there, or an engine that takes its place.
engine_present() {
	[ -n "${LEDGERLAKE_ENGINE:-}" ] || command -v clickhouse >/dev/null || compgen -G 'deploy/engine/node_modules/@chdb/*/libchdb.so' >/dev/null
}

setup_engine() {
	engine_present && return
	if ! command -v npm >/dev/null; then
		missing+=("embedded engine (install npm and run make setup, or put a clickhouse binary on PATH)")
		return
	fi
	echo "setup: installing the embedded engine into deploy/engine" >&2
	if ! (cd deploy/engine && npm ci --no-audit --no-fund --loglevel=error >&2) || ! engine_present; then
		missing+=("embedded engine (npm ci in deploy/engine failed)")
	fi
}

# duckdb is for make bench, and for a test that reads published objects with it.
setup_duckdb() {
	[ -d bench/duckdb/node_modules/@duckdb/node-api ] && return
	if ! command -v npm >/dev/null; then
		missing+=("DuckDB (install npm and run make setup)")
		return
	fi
	echo "setup: installing DuckDB into bench/duckdb" >&2
	# Not npm ci: that wants the packages of all platforms in the lock file.
	(cd bench/duckdb && npm install --no-save --no-audit --no-fund --loglevel=error >&2) || missing+=("DuckDB (npm install in bench/duckdb failed)")
}

# compared_missing prints the packages of comparators that are not installed.
compared_missing() {
	command -v nginx >/dev/null || echo nginx-light
	compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || echo postgresql
}

setup_compared() {
	local package
	if [ "${APT:-}" != yes ]; then
		for package in $(compared_missing); do
			echo "setup: $package is not installed: apt-get install $package, or make bench APT=yes" >&2
		done
		return
	fi
	if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null; then as_root=(sudo); fi
	for package in $(compared_missing); do
		echo "setup: installing $package" >&2
		apt_install "$package" || missing+=("$package (as root: apt-get install $package)")
	done
	as_root=()
}

# clients are what make conformance runs.
setup_clients() {
	[ -d scripts/clients/node_modules/@canton-network/wallet-sdk ] && return
	if ! command -v npm >/dev/null; then
		missing+=("the network's clients (install npm and run scripts/setup.sh clients)")
		return
	fi
	echo "setup: installing the network's clients into scripts/clients" >&2
	(cd scripts/clients && npm ci --no-audit --no-fund --loglevel=error >&2) || missing+=("the network's clients (npm ci in scripts/clients failed)")
}

# browser_present: a Chromium is there, whoever installed it.
browser_present() {
	local program
	for program in chromium chromium-browser google-chrome-stable google-chrome; do
		if command -v "$program" >/dev/null; then return 0; fi
	done
	return 1
}

setup_browser() {
	if ! browser_present; then
		echo "setup: installing chromium" >&2
		apt_install chromium || missing+=("chromium (as root: apt-get install chromium)")
	fi
	[ -f scripts/browser/node_modules/axe-core/axe.min.js ] && return
	if ! command -v npm >/dev/null; then
		missing+=("axe-core (install npm and run scripts/setup.sh browser)")
		return
	fi
	echo "setup: installing axe-core into scripts/browser" >&2
	(cd scripts/browser && npm ci --no-audit --no-fund --loglevel=error >&2) || missing+=("axe-core (npm ci in scripts/browser failed)")
}

setup_redis() {
	command -v redis-server >/dev/null && return
	echo "setup: installing redis-server" >&2
	if ! apt_install redis-server; then
		missing+=("redis-server (as root: apt-get install redis-server)")
		return
	fi
	if [ -d /run/systemd/system ]; then systemctl disable --quiet redis-server >&2; fi
}

setup_compose() {
	docker compose version >/dev/null 2>&1 && return
	command -v docker-compose >/dev/null && return
	echo "setup: installing docker-compose" >&2
	apt_install docker-compose || missing+=("docker-compose (as root: apt-get install docker-compose)")
}

setup_examples() {
	for tool in curl zstd; do
		command -v "$tool" >/dev/null && continue
		echo "setup: installing $tool" >&2
		apt_install "$tool" || missing+=("$tool (as root: apt-get install $tool)")
	done
}

if ! command -v go >/dev/null; then
	echo "setup: Go is not installed; go.mod names the version that is needed" >&2
	exit 1
fi
for part in "$@"; do
	case "$part" in
	modules | engine | duckdb | compared | redis | compose | clients | browser | examples) "setup_$part" ;;
	*)
		echo "setup: unknown part \"$part\"" >&2
		exit 2
		;;
	esac
done
if [ "${#missing[@]}" -gt 0 ]; then
	list=$(printf '; %s' "${missing[@]}")
	echo "setup: not installed: ${list#; }" >&2
	if [ -n "${CI:-}" ]; then exit 1; fi
fi
