# Loadwatch. The two commands that matter: `make up` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

PIP := $(BIN)/pip --disable-pip-version-check

MARIADB_PACKAGES := mariadb-server
TEST_PACKAGES := $(MARIADB_PACKAGES) postgresql pgbouncer redis-server chromium chromium-headless-shell nginx-light fonts-noto-cjk victoria-metrics prometheus prometheus-alertmanager prometheus-node-exporter \
  prometheus-mysqld-exporter prometheus-process-exporter hey wrk iproute2 procps

PROMETHEUS_VERSION := v0.316.0
PROMETHEUS := build/peers/$(PROMETHEUS_VERSION)/prometheus

UI_SOURCES := $(shell find frontend/src frontend/index.html frontend/vite.config.ts frontend/package.json -type f \
  -not -name '*.test.ts*' -not -path '*/testing/*' 2>/dev/null)
GO_SOURCES := $(shell find examples/measuring-server -name '*.go' -o -name 'go.*' 2>/dev/null)

.PHONY: help
help: ## Lists the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-24s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- the product ---------------------------------------------------------------------------------------------------

.PHONY: up
up: install-server build-ui ## Installs all that is needed and serves http://127.0.0.1:8000, with an agent on this host.
	@exec $(BIN)/loadwatch up

.PHONY: demo
demo: install-server build-ui install-mariadb build-measuring-server ## The same with a real Go server and MariaDB under load, stage by stage.
	@exec $(BIN)/python -m examples.demo $(DEMO_ARGS)

.PHONY: scenarios
scenarios: install-dev build-ui install-mariadb build-measuring-server ## Plays labelled cases of systems that run out of something, and records them (SCENARIO_ARGS=--list).
	@exec $(BIN)/python -m scenarios $(SCENARIO_ARGS)

.PHONY: live-cases
live-cases: install-dev build-ui install-mariadb build-measuring-server ## Plays thirteen cases of the measuring server at 5, 15 and 60 s of load (LIVE_ARGS="--rounds 5 --write live_cases").
	@exec $(BIN)/python -m scenarios.live $(LIVE_ARGS)

.PHONY: healthy-hours
healthy-hours: install-dev build-ui install-mariadb build-measuring-server ## Two hours in which nothing is wrong: what findings accuse meanwhile goes to bench/results.
	@exec $(BIN)/python -m scenarios.hours

.PHONY: pictures
pictures: install-dev install-ui-dev install-test-packages build-ui build-measuring-server ## Takes the README's pictures and its film from the demo, into docs/pictures.
	@scripts/apt-install.sh webp
	@exec $(BIN)/python -m examples.demo.pictures

# ---- tests and gates -----------------------------------------------------------------------------------------------

.PHONY: test
test: install-dev install-ui-dev install-test-packages build-ui build-measuring-server ## Runs the tests (but `make test-long`) and ends with the counts; CHANGED=1: those that your changes touch.
	@exec $(BIN)/python scripts/run_tests.py $(if $(CHANGED),--changed) $(TEST_ARGS)

.PHONY: test-long
test-long: install-dev install-test-packages build-ui build-measuring-server ## Before a release: what `make test` leaves out, 50 kills of the server, 100 rounds of kills and of full disks in each place of the store, and kills in all moments of all migrations.
	$(BIN)/pytest -q -m long
	FAULT_CYCLES=50 $(BIN)/pytest -q tests/test_kill_server.py
	FAULT_CYCLES=100 $(BIN)/pytest -q backend/tests/store/faults
	LOADWATCH_EVERY_KILL=1 $(BIN)/pytest -q -s backend/tests/store/test_migration_kills.py

FUZZ_SECONDS ?= 3600
.PHONY: fuzz
fuzz: install-dev ## Bytes by chance through every parser, for FUZZ_SECONDS; the result goes to bench/results/fuzz.md.
	@exec $(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS) --report

.PHONY: check
check: install-dev install-ui-dev ## Lint, types, import contracts, generated files in step.
	@$(BIN)/python scripts/run_checks.py $(CHECK_ARGS)

.PHONY: fix
fix: install-dev install-ui-dev ## Formats, and mends what the linters can mend.
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	node_modules/.bin/biome check --write

.PHONY: generate
generate: install-dev install-ui-dev ## Writes every generated file again: API document and client, protobuf, reference pages.
	@$(BIN)/python scripts/generate.py

.PHONY: reference
reference: install-dev ## Writes the golden files of PromQL and templates again, with Prometheus' own code (needs Go; the first build takes minutes).
	$(BIN)/python -m backend.tests.promql.reference.cases | (cd backend/tests/promql/reference && go run -buildvcs=false . -out ../golden)
	$(BIN)/python -m backend.tests.promql.reference.scripts "$$(cd backend/tests/promql/reference && go list -m -f '{{.Dir}}' github.com/prometheus/prometheus)/promql/promqltest/testdata" backend/tests/promql/golden/promqltest.zip
	$(BIN)/python -m backend.tests.notify.reference.cases | (cd backend/tests/notify/reference && go run -buildvcs=false . -out ../golden)
	$(BIN)/python -m backend.tests.notify.reference.payloads | (cd backend/tests/notify/reference && go run -buildvcs=false ./consumer -out ../golden/consumer.json)
	$(BIN)/python -m backend.tests.rules.reference.templates | (cd backend/tests/promql/reference && go run -buildvcs=false ./templates -out ../../rules/golden/templates.json)

DIFFERENTIAL_ARGS ?= 7 3000
.PHONY: differential
differential: install-dev ## Random expressions (seed and number in DIFFERENTIAL_ARGS) to Prometheus' engine and to ours: what differs (needs Go).
	$(BIN)/python -m backend.tests.promql.reference.differential $(DIFFERENTIAL_ARGS)

.PHONY: bench
bench: install-dev install-ui-dev install-test-packages build-ui build-measuring-server $(PROMETHEUS) ## Runs the benchmarks beside their peers; results go to bench/results.
	@PATH="$(CURDIR)/$(dir $(PROMETHEUS)):$$PATH" $(BIN)/python -m bench $(BENCH_ARGS)

# The peer is today's Prometheus (3.16), not Debian's of years ago; without its service discoveries, which nothing asks.
$(PROMETHEUS):
	@command -v go >/dev/null || { echo "go is missing: the Prometheus of the benchmarks is built from its source" >&2; exit 1; }
	@echo "==> Prometheus $(PROMETHEUS_VERSION), the benchmarks' peer"
	@GOBIN="$(CURDIR)/$(@D)" go install -tags remove_all_sd github.com/prometheus/prometheus/cmd/prometheus@$(PROMETHEUS_VERSION)

# ---- steps, also used by the Dockerfiles ---------------------------------------------------------------------------

$(BIN)/python:
	@echo "==> virtual environment in $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit("Loadwatch needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; set PYTHON=...") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || scripts/apt-install.sh python3-venv
	@$(PYTHON) -m venv $(VENV)

# $(call install-python,NAME): the hashed requirements of NAME, which name every library that is needed (--no-deps:
# requirements/overrides.txt leaves out what is not), then this project itself, and its bytecode: images and machines that
# forbid Python to write it would compile 800 modules at each start.
define install-python
	@echo "==> Python packages ($(1))"
	@$(PIP) install --no-deps --require-hashes --only-binary :all: -q --progress-bar on -r requirements/$(1).txt
	@$(PIP) install -q --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q $(wildcard */loadwatch_*)
endef

$(VENV)/.installed-agent: requirements/agent.txt pyproject.toml | $(BIN)/python
	$(call install-python,agent)
	@touch $@

$(VENV)/.installed-agent-aws: requirements/agent-aws.txt pyproject.toml | $(BIN)/python
	$(call install-python,agent-aws)
	@touch $(VENV)/.installed-agent $@

$(VENV)/.installed-server: requirements/server.txt pyproject.toml | $(BIN)/python
	$(call install-python,server)
	@touch $(VENV)/.installed-agent $(VENV)/.installed-agent-aws $@

$(VENV)/.installed-dev: requirements/dev.txt pyproject.toml | $(BIN)/python
	$(call install-python,dev)
	@touch $(VENV)/.installed-agent $(VENV)/.installed-agent-aws $(VENV)/.installed-server $@

.PHONY: install-agent install-agent-aws install-server install-dev
install-agent: $(VENV)/.installed-agent ## The lean agent and command line, in .venv.
install-agent-aws: $(VENV)/.installed-agent-aws ## The same with boto3, for the collector cloudwatch.
install-server: $(VENV)/.installed-server ## The server too.
install-dev: $(VENV)/.installed-dev ## And what tests and checks need.

node_modules/.installed-ui: package-lock.json package.json frontend/package.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer" >&2; exit 1; }
	@echo "==> npm packages (dashboard)"
	@npm ci --workspace frontend --loglevel=error
	@touch $@

node_modules/.installed-dev: package-lock.json package.json frontend/package.json tools/api-types/package.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer" >&2; exit 1; }
	@echo "==> npm packages (dashboard, tests and checks)"
	@npm ci --loglevel=error
	@touch node_modules/.installed-ui $@

.PHONY: install-ui install-ui-dev
install-ui: node_modules/.installed-ui
install-ui-dev: node_modules/.installed-dev

backend/loadwatch_backend/ui/index.html: $(UI_SOURCES)
	@$(MAKE) --no-print-directory install-ui
	@echo "==> dashboard"
	@npm run --silent build --workspace frontend -- --logLevel warn
	@touch $@

.PHONY: build-ui
build-ui: backend/loadwatch_backend/ui/index.html ## The dashboard's files, into backend/loadwatch_backend/ui.

build/measuring-server: $(GO_SOURCES)
	@command -v go >/dev/null || { echo "go is missing: the measuring server needs Go 1.24 or newer" >&2; exit 1; }
	@echo "==> measuring server"
	@mkdir -p build
	cd examples/measuring-server && go build -buildvcs=false -trimpath -o ../../build/ . ./measuring-load
	@touch $@

.PHONY: build-measuring-server
build-measuring-server: build/measuring-server ## The example Go server and its load generator, into build/.

.PHONY: install-mariadb install-test-packages
install-mariadb:
	@command -v mariadbd >/dev/null || [ -x /usr/sbin/mariadbd ] || scripts/apt-install.sh $(MARIADB_PACKAGES)
install-test-packages:
	@scripts/apt-install.sh $(TEST_PACKAGES)

# ---- care ----------------------------------------------------------------------------------------------------------

UV_COMPILE = .cache/lock/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
  --no-emit-index-url --no-emit-find-links --override requirements/overrides.txt $(LOCK_ARGS) pyproject.toml requirements/build.in

.PHONY: lock
lock: ## Compiles requirements/*.txt again (LOCK_ARGS=--upgrade takes newer versions).
	@[ -x .cache/lock/bin/uv ] || { $(PYTHON) -m venv .cache/lock && .cache/lock/bin/pip install -q uv; }
	$(UV_COMPILE) -o requirements/agent.txt
	$(UV_COMPILE) --extra aws -o requirements/agent-aws.txt
	$(UV_COMPILE) --extra aws --extra server -o requirements/server.txt
	$(UV_COMPILE) --extra aws --extra server requirements/dev.in -o requirements/dev.txt

.PHONY: clean
clean: ## Removes everything that was installed or built here; keeps ./data.
	rm -rf $(VENV) node_modules frontend/node_modules tools/*/node_modules .cache build backend/loadwatch_backend/ui
