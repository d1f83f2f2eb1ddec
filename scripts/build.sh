#!/usr/bin/env bash
# Builds ledgerlake into the named file, stamped with its version and commit:
#
#   scripts/build.sh bin/ledgerlake
#
# VERSION, COMMIT and COMMIT_TIME (RFC 3339) are what the binary says of itself; git is asked for
# those that are not set. GOOS and GOARCH choose another platform. The same commit gives the same
# bytes with the same Go, wherever it is built: nothing of the machine goes in.
set -euo pipefail
case $1 in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Where git is missing or this is no repository, the binary says dev.
VERSION=${VERSION-$(git describe --tags --always --dirty 2>/dev/null || true)}
COMMIT=${COMMIT-$(git rev-parse HEAD 2>/dev/null || true)}
COMMIT_TIME=${COMMIT_TIME-$(git show -s --format=%cI HEAD 2>/dev/null || true)}

mkdir -p "$(dirname "$out")"
# No -buildvcs: it is in the stamps, and an image or a source archive has no repository to ask.
CGO_ENABLED=0 go build -trimpath -buildvcs=false \
	-ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT -X main.commitTime=$COMMIT_TIME" \
	-o "$out" ./cmd/ledgerlake
