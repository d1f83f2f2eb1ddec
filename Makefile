# `make` alone lists the targets. Every target installs what it needs first.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Everything is built as what is shipped is: without C. The race detector needs it: CGO_ENABLED=1 TESTFLAGS=-race.
export CGO_ENABLED ?= 0

# Newer staticcheck releases may need a newer Go; raise both together.
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Writes Go from the pages of the console; the module of the same version is in go.mod.
TEMPL ?= github.com/a-h/templ/cmd/templ@v0.3.1100
# Extra arguments of the runs below, e.g. `make demo ARGS="--json"`.
ARGS ?=
# Extra arguments of `go test`, e.g. `make test TESTFLAGS="-run Lifetimes -v"`.
TESTFLAGS ?=
# The longest first: what runs last has all processors and cannot use them.
PACKAGES ?= ./cmd/ledgerlake ./query/validator ./indexer ./export ./internal/app ./internal/verify ./jobs/wallet \
	./internal/devnet ./ingest/scan ./internal/history/node ./bench ./...
# Of `make test-shards`: the packages whose tests read stores.
SHARDED ?= ./indexer/... ./internal/history/... ./internal/published ./internal/verify ./internal/wallet ./ingest/node \
	./export ./query/... ./jobs/wallet
# Tests that kill, damage or overload processes, take history back, or need several engines: `make test`
# leaves them to `make test-faults`. CI runs both.
FAULTS ?= TestSoak|TestFuzz|TestKillAtAnyMoment|TestStandbyTakesOver|TestServersBehindABalancer|TestDamagedStore|TestRepair|TestRestore|TestUpgrade|TestKilledMigration|TestTwoMigrateAtOnce|TestLaterStoreIsRefused|TestCommandsOnACluster|TestCluster|TestOddAnswers|TestSteadyWork|TestOnTheNetwork|TestDamageIsFound|TestDamageOfANodeStreamIsFound|TestUpOutlivesItsServices|TestKillUpstream|TestFullDisk|TestPeopleHangUp|TestOverloadIsServed|TestRestartToUseful|TestCrashBetweenSteps|TestScanIsTakenBack|TestNodeStreamIsTakenBack|TestStreamIsTakenBackAndReadAgain|TestOmissionsOfASoleUpstream
# Left to `make test-shards`: it copies stores between clusters again and again, for more than a minute.
LONGER = TestReshard
# Left to `make test-pages`: a browser opens all pages of the console, which takes three minutes.
PAGES = TestPages
# The packages that have any of them.
FAULT_PACKAGES = $(shell grep -rlwE 'func ($(FAULTS))' --include='*_test.go' cmd indexer internal jobs | xargs -n1 dirname | sort -u | sed 's,^,./,')
# Of `make soak`: over how many engines the stores of episodes are spread, which are killed, too.
SHARDS ?= 1
# How many packages make test and make test-faults test at once: many of their tests wait.
AT_ONCE ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# Of `make soak`: SEED is the first seed, VERBOSE=1 prints every plan and failed diary.
# (go test -v, or progress would show at the end only.)
EPISODES ?= 1000
SEED ?= $(shell date +%s)
VERBOSE ?=
# Of `make soak`: how long the interfaces are fuzzed.
FUZZTIME ?= 10m
# Of `make determinism`.
COMBINATIONS ?= 120
# Of `make dist`: such as linux/amd64,darwin/arm64; all when empty.
PLATFORMS ?=
# Of `make bench`: APT=yes installs what it compares with by apt-get, as root or with sudo.
APT ?=
# Of `make load`: how long clients send requests of all kinds.
LOAD ?= 30s

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' Makefile

.PHONY: setup
setup: ## install everything that building, testing and checking need
	@scripts/setup.sh modules engine duckdb redis compose browser examples

.PHONY: build
build: ## build bin/ledgerlake
	scripts/build.sh bin/ledgerlake

.PHONY: image
image: ## build the container image ledgerlake:dev, stamped with this commit
	docker build -t ledgerlake:dev --build-arg VERSION="$$(git describe --tags --always --dirty)" \
		--build-arg COMMIT="$$(git rev-parse HEAD)" --build-arg COMMIT_TIME="$$(git show -s --format=%cI HEAD)" .

.PHONY: dist
dist: ## the archives of a release into dist/, with checksums and lists of modules (PLATFORMS=linux/amd64)
	@scripts/setup.sh modules
	go run ./scripts/dist --out dist --platforms "$(PLATFORMS)"

.PHONY: dist-check
dist-check: ## make the archives twice, in two clones with a build cache each, and compare their bytes
	scripts/dist-check.sh "$(PLATFORMS)"

.PHONY: upgrade-fixture
upgrade-fixture: ## the store of an earlier version, which tests upgrade, made again (COMMIT=v0.1.0 NAME=0.1.0)
	@scripts/setup.sh modules engine
	go run ./scripts/upgradefixture --commit "$(COMMIT)" --name "$(NAME)"

.PHONY: demo
demo: setup-run build ## ingest, export, verify and query a simulated network, then print a summary
	bin/ledgerlake demo $(ARGS)

.PHONY: up
up: setup-run build ## start everything in one process tree and keep it running
	bin/ledgerlake up $(ARGS)

.PHONY: setup-run
setup-run:
	@scripts/setup.sh modules engine

.PHONY: test
test: ## vet and test every package, on real parts, and name the slowest
	@scripts/setup.sh modules engine duckdb redis browser examples
	go vet ./...
	go run ./scripts/gotest -vet=off -timeout 14m -p $(AT_ONCE) -skip '^($(FAULTS)|$(LONGER)|$(PAGES))$$' $(TESTFLAGS) $(PACKAGES)

.PHONY: test-faults
test-faults: ## the tests that kill, damage or overload processes, or need several engines
	@scripts/setup.sh modules engine duckdb redis examples
	go run ./scripts/gotest -vet=off -timeout 14m -p $(AT_ONCE) -run '^($(FAULTS))$$' $(TESTFLAGS) $(FAULT_PACKAGES)

.PHONY: test-long
test-long: ## make test with as many rounds of tests as are worth a night
	@scripts/setup.sh modules engine duckdb redis browser examples
	LEDGERLAKE_LONG=1 go run ./scripts/gotest -timeout 0 $(TESTFLAGS) $(PACKAGES)

.PHONY: test-shards
test-shards: ## moving stores into clusters, and the tests of what reads stores, spread over three engines
	@scripts/setup.sh modules engine
	go run ./scripts/gotest -vet=off -timeout 10m -run '^($(LONGER))$$' $(TESTFLAGS) ./indexer/reshard
	LEDGERLAKE_TEST_SHARDS=3 go run ./scripts/gotest -vet=off -timeout 60m $(TESTFLAGS) $(SHARDED)

.PHONY: test-pages
test-pages: ## every page of the console in Chromium: widths, themes, without scripts, barriers, weight
	@scripts/setup.sh modules engine browser
	go run ./scripts/gotest -vet=off -timeout 14m -run '^($(PAGES))$$' $(TESTFLAGS) ./query/console

.PHONY: check
check: ## formatting, static analysis, go.mod, who imports whom, sizes, compose file, house rules
	@scripts/setup.sh modules compose
	scripts/check-format.sh
	go vet ./...
	go run $(STATICCHECK) ./...
	go mod tidy -diff
	go test -count=1 ./internal/layering
	scripts/check-generated.sh "$(TEMPL)"
	scripts/check-files.sh
	scripts/check-compose.sh

.PHONY: generate
generate: ## write the Go code of the console's pages (query/console/**/*.templ) again
	go run $(TEMPL) generate -path query/console

.PHONY: lint
lint: ## golangci-lint, for those who have it; make check does without, to judge alike everywhere
	golangci-lint run ./...

.PHONY: bench
bench: setup-run ## the product side by side with what it is compared with (ARGS="--only size" APT=yes)
	@APT=$(APT) scripts/setup.sh duckdb compared
	go run ./bench $(ARGS)

.PHONY: notebook
notebook: build ## run the notebook of docs/analytics again (needs Debian's python3-nbclient, python3-ipykernel, python3-matplotlib)
	@scripts/setup.sh modules engine
	data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && \
	bin/ledgerlake demo --updates 400 --seed 3 --days 2 --keep --data "$$data/example" && \
	LEDGERLAKE=$(CURDIR)/bin/ledgerlake LEDGERLAKE_DATA="$$data/example" /usr/bin/python3 scripts/notebook.py docs/analytics/notebook/supply.ipynb

.PHONY: screenshots
screenshots: build ## take the pictures of the console in docs/pictures again, on a simulated network
	@scripts/setup.sh modules engine browser
	scripts/screenshots.sh

.PHONY: bench-packages
bench-packages: ## the Go benchmarks of every package
	@scripts/setup.sh modules engine redis
	go test -run '^$$' -bench . -benchmem $(TESTFLAGS) $(PACKAGES)

.PHONY: soak
soak: ## the product through faults, kills and lies (EPISODES=1000 SEED=n SHARDS=3 VERBOSE=1)
	@scripts/setup.sh modules engine redis
	@echo "soak: $(EPISODES) episodes from seed $(SEED) on" >&2
	LEDGERLAKE_SOAK_SHARDS=$(SHARDS) LEDGERLAKE_SOAK_EPISODES=$(EPISODES) LEDGERLAKE_SOAK_SEED=$(SEED) LEDGERLAKE_SOAK_VERBOSE=$(VERBOSE) \
		go test -v -count=1 -timeout 0 -run '^TestSoak$$' $(TESTFLAGS) ./cmd/ledgerlake
	LEDGERLAKE_FUZZ_TIME=$(FUZZTIME) LEDGERLAKE_FUZZ_SEED=$(SEED) go test -v -count=1 -timeout 0 -run '^TestFuzz$$' $(TESTFLAGS) ./cmd/ledgerlake

.PHONY: readme
readme: ## every command of the README in order in one folder, twice, and what may follow
	@scripts/setup.sh modules engine
	LEDGERLAKE_README=1 go test -v -count=1 -timeout 20m -run '^TestReadmeInOrder$$' $(TESTFLAGS) ./cmd/ledgerlake

.PHONY: determinism
determinism: ## the objects of one history made in many ways, with one digest (COMBINATIONS=120)
	@scripts/setup.sh modules engine
	LEDGERLAKE_DETERMINISM=$(COMBINATIONS) go test -v -count=1 -timeout 0 -run '^TestDeterminism$$' $(TESTFLAGS) ./export

.PHONY: conformance
conformance: setup-run build ## the network's published clients against `up`, step by step (docs/compatibility.md)
	@scripts/setup.sh clients examples
	scripts/conformance.sh

.PHONY: load
load: ## overload a server and look at its memory and waits (LOAD=30s; for figures, a quiet machine)
	@scripts/setup.sh modules engine
	LEDGERLAKE_LOAD=$(LOAD) go test -v -count=1 -timeout 0 -run '^TestLoad$$' $(TESTFLAGS) ./cmd/ledgerlake

.PHONY: clean
clean: ## remove what the build made; data folders and the installed engine stay
	rm -rf bin dist
	go clean -testcache
