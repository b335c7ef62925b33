# make help prints the targets. Go, gcc and git are all that is needed.

export CGO_CFLAGS ?= -O2 -g -Wno-deprecated-declarations
export CGO_ENABLED = 1

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
LDFLAGS := -X main.version=$(VERSION) -X main.commit=$(COMMIT)
GOFILES := $(shell find . -name '*.go' -not -path './.*' 2>/dev/null)

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0

.DEFAULT_GOAL := help
.PHONY: help up build test check race bench bench-index bench-routing bench-cache live accept clients families sdk engines real fuzz completions

help: ## print this
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: build ## build and run the main job; ARGS="--workers 3" adds flags
	./dyn up $(ARGS)

build: dyn ## build ./dyn

dyn: $(GOFILES) go.mod go.sum $(wildcard recipes/*.yaml ledger/schema/*) Makefile
	go build -trimpath -ldflags '$(LDFLAGS)' -o dyn ./cmd/dyn

test: ## all tests
	go test -timeout 10m ./...

check: ## vet, staticcheck, gofumpt, the shape of the house
	go vet ./...
	go run $(STATICCHECK) ./...
	@out=$$(go run $(GOFUMPT) -l $(GOFILES)) && [ -z "$$out" ] || { echo "gofumpt would change:"; echo "$$out"; exit 1; }
	go test ./internal/shape

race: ## all tests with the race detector (slow)
	go test -race -timeout 40m ./...

bench: build bench-index ## measure, and write docs/bench.md and docs/index.md
	scripts/bench.sh

bench-index: ## the index of blocks: its bars, and beside it that of dynamo-kv-router; writes docs/index.md
	scripts/index.sh

bench-routing: ## all routing strategies on recorded sessions, in simulated time; writes docs/routing.md. N=5 seeds a cell, MEASURE=45m, BUDGET=1h, JOBS runs at a time; resumable
	@mkdir -p "$${BENCH_WORK:-$${XDG_CACHE_HOME:-$$HOME/.cache}/dyn-bench}"
	go run ./scripts/routing -n $${N:-5} -measure $${MEASURE:-45m} -budget $${BUDGET:-0s} -jobs $${JOBS:-0} -commit $(COMMIT) -doc docs/routing.md \
		-trace "$${DYN_TRACES:-../shared/traces}/claude-code-weka/claude_code_710.compact.jsonl.gz" \
		-conversations "$${DYN_TRACES:-../shared/traces}/mooncake-fast25/conversation_trace.jsonl" \
		-state "$${BENCH_WORK:-$${XDG_CACHE_HOME:-$$HOME/.cache}/dyn-bench}/routing-$(COMMIT).jsonl"

bench-cache: ## what stays cached: evictors, and what a router gets from an engine that evicts by LRU; writes docs/cache.md. SEEDS=1,2,3 BUDGET=1h; resumable
	@mkdir -p "$${BENCH_WORK:-$${XDG_CACHE_HOME:-$$HOME/.cache}/dyn-bench}"
	go run ./scripts/cachebench -seeds $${SEEDS:-1,2,3} -budget $${BUDGET:-0s} -commit $(COMMIT) -doc docs/cache.md \
		-trace "$${DYN_TRACES:-../shared/traces}/claude-code-weka/claude_code_710.compact.jsonl.gz" \
		-state "$${BENCH_WORK:-$${XDG_CACHE_HOME:-$$HOME/.cache}/dyn-bench}/cache-$(COMMIT).jsonl"

live: build ## the router that runs against the one that is simulated: four engines, three runs, 8 min on a quiet machine; writes a part of docs/routing.md
	go run ./scripts/live -commit $(COMMIT) -doc docs/routing.md -trace "$${DYN_TRACES:-../shared/traces}/claude-code-weka/claude_code_710.compact.jsonl.gz"

accept: build ## the acceptance test: real processes, sockets and clients
	scripts/acceptance.sh

clients: build ## real agents and the vendors' SDKs; writes docs/clients.md
	scripts/clients.sh

families: build ## Claude Code and Codex on models of ten families; writes docs/families.md
	scripts/clients.sh families

sdk: build ## the vendors' SDKs alone
	scripts/clients.sh sdk

engines: build ## real vLLM and llama.cpp servers behind dyn; writes docs/engines.md
	go run ./scripts/engines -work "$${ENGINES_WORK:-$${XDG_CACHE_HOME:-$$HOME/.cache}/dyn-engines}" \
		-fixtures "$${DYN_FIXTURES:-../shared/fixtures}" -doc docs/engines.md -routing docs/routing.md -commit $(COMMIT)

real: build ## the part of the acceptance test with a real model, which has to be installed: make engines does that
	scripts/acceptance.sh real

fuzz: ## a million broken requests through the decoders, 20,000 end to end; every fuzz target
	scripts/fuzz.sh

completions: ## write completions/ anew
	go test ./cmd/dyn -run TestCompletionsAreFresh -update
