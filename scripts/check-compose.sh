#!/usr/bin/env bash
# Validates the compose files with every profile. Needs no running daemon.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if docker compose version >/dev/null 2>&1; then
	compose=(docker compose)
elif command -v docker-compose >/dev/null; then
	compose=(docker-compose)
elif [ -n "${CI:-}" ]; then
	echo "docker-compose is not installed: the compose files cannot be validated" >&2
	exit 1
else
	echo "docker-compose is not installed: the compose files are left unchecked"
	exit 0
fi
"${compose[@]}" -f docker-compose.yml --profile devnet config -q
"${compose[@]}" --env-file deploy/cluster/.env.example -f deploy/cluster/docker-compose.yml --profile devnet config -q
