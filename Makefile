# Two commands do everything: `make run` and `make test`. `make help` lists the rest.
export GOFLAGS := -tags=nolibopusfile
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X hovor/gateway/telemetry.Version=$(VERSION)

.DEFAULT_GOAL := help
.PHONY: help run test unit real browser bench build check generate setup models clean

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  make %-10s %s\n", $$1, $$2}'

run: setup models build ## set up, build and start the quickstart on http://127.0.0.1:8080
	@exec bin/hovor serve

test: ## everything that is a test, on a bare machine too
	@deploy/setup.sh test
	@$(MAKE) --no-print-directory models build check unit real browser

unit: ## Go tests with the race detector, in virtual time where they can
	go test -race -short -timeout 10m ./...

real: ## all Go tests with real sockets, voices and processes, and the ear's measurements
	go test -timeout 10m ./...

browser: build ## Chromium and the stock clients against the built binary
	@gateway/web/test/run.sh

bench: build ## ours against a bare Pion relay, in one run
	bin/hovor-load bench

build: ## bin/hovor and bin/hovor-load
	@test -x bin/hovor || echo "building; the first time takes a few minutes"
	@go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

check: ## formatting and vet
	@test -z "$$(gofmt -l .)" || { echo "gofmt these files:"; gofmt -l .; exit 1; }
	go vet ./...

generate: ## make the committed generated files again
	go generate ./...

setup:
	@deploy/setup.sh run

models: ## fetch the pinned model weights
	@vad/silero/fetch.sh

clean: ## delete what was built and what a run left behind
	rm -rf bin var .models
