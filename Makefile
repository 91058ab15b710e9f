# `make` lists what there is. Every target sets up what it needs: a clone needs Python 3.11 or newer, and make.

PYTHON ?= python3
BIN := .venv/bin
SETUP := $(PYTHON) scripts/setup.py
DEMO_SPEC ?= specs/rag-prefix-aware.yaml
DOCKER ?= docker
ENGINE ?= auto
KEEP ?=

# Synthesis and tests need no account: do not look for one on the network.
export AWS_EC2_METADATA_DISABLED := true
# The templates are validated by scripts/check_templates.py, once, and not again in each synthesis (5 s each).
export CDK_VALIDATION ?= false

# A value as one word of the shell, whatever is in it.
quoted = '$(subst ','\'',$(1))'
# NO, No and no are the same answer.
lower = $(shell printf %s $(call quoted,$(1)) | tr '[:upper:]' '[:lower:]')

# Only what is written behind make: many machines have a PORT in their environment that means something else.
demo_port = $(if $(filter command,$(origin PORT)),--port $(call quoted,$(PORT)))

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-engine test-image test-browser test-clients test-deploy image-login lint check synth diff bench docs lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install everything into .venv and node_modules (a second run does nothing)
	@$(SETUP) dev

demo: ## Plan, deploy to an AWS on this machine, and see the cache get warm (ENGINE=vllm|simulated, PORT=8790, KEEP=1)
	@$(SETUP) dev
	@$(BIN)/python scripts/demo_loop.py --check --engine $(call quoted,$(ENGINE)) $(demo_port)
	@$(BIN)/python scripts/demo.py $(call quoted,$(DEMO_SPEC))
	@$(BIN)/python scripts/demo_loop.py --engine $(call quoted,$(ENGINE)) $(demo_port) $(if $(filter-out 0 no false off,$(call lower,$(KEEP))),--keep)

test: ## Run the tests that need no engine, image build, browser or clients (ARGS="-k name")
	@$(SETUP) dev
	$(BIN)/pytest -n 2 $(ARGS)

test-engine: ## Run the tests that need a real engine: installs vLLM for the CPU (2.5 GB, x86-64 Linux, Python 3.11)
	@$(SETUP) dev
	@$(PYTHON) scripts/engine.py
	$(BIN)/pytest -m engine $(ARGS)

test-image: ## Build and run the container images without Docker: installs buildah by apt (root, x86-64 Debian)
	@$(SETUP) dev
	@$(PYTHON) scripts/image_tools.py
	$(BIN)/pytest -m image $(ARGS) tests/image

test-browser: ## Run the tests of the status page in Chromium: installs it by apt where it is missing (root)
	@$(SETUP) dev
	@$(PYTHON) scripts/browser_tools.py
	$(BIN)/pytest -m browser $(ARGS) tests/browser

test-clients: ## Capture what real clients send: installs openai, LangChain, LiteLLM, Strands and others (0.4 GB)
	@$(SETUP) dev
	@$(PYTHON) scripts/clients.py
	$(BIN)/pytest -m clients $(ARGS) tests/clients

test-deploy: ## Deploy, edit and destroy stacks with the real CDK CLI, against the local AWS: needs no account
	@$(SETUP) dev
	$(BIN)/pytest -m deploy $(ARGS) tests/deploy

lint: ## Lint, format, types, boundaries and the synthesized templates: what a change has to pass besides its tests
	@$(SETUP) dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(wildcard src stacks container scripts app.py)
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_templates.py

check: lint ## What a change has to pass: lint, and the tests with their coverage
	$(BIN)/pytest -n 2 -q --cov --cov-report=term

synth: ## Synthesize the CloudFormation templates to cdk.out (SPEC=specs/x.yaml for one)
	@$(SETUP) runtime
	@rm -rf cdk.out
	@$(BIN)/cdk synth --quiet $(if $(filter undefined,$(origin SPEC)),,-c spec=$(call quoted,$(SPEC))) '**'
	@ls cdk.out/*.template.json

image-login: ## Log Docker in to the registries of a spec's base images (SPEC=specs/x.yaml, DOCKER=podman)
	@$(SETUP) dev
	@env -u AWS_EC2_METADATA_DISABLED DOCKER=$(call quoted,$(DOCKER)) $(BIN)/python scripts/image_login.py $(call quoted,$(SPEC))

diff: ## Compare the templates with those of a revision (BASE=origin/main, ALLOW_DESTRUCTIVE=1 to only report)
	@$(SETUP) dev
	@$(BIN)/python scripts/diff.py $(call quoted,$(BASE)) $(if $(filter-out 0 no false off,$(call lower,$(ALLOW_DESTRUCTIVE))),--allow-destructive)

bench: ## Measure how long people wait, as ratios in one run (benchmarks/README.md)
	@$(SETUP) dev
	@$(BIN)/python benchmarks/speed.py
	@$(BIN)/python benchmarks/session_server.py
	@$(BIN)/python benchmarks/local_endpoint.py
	@$(BIN)/python benchmarks/client_streams.py
	@$(BIN)/python benchmarks/client_payload.py
	@$(BIN)/python benchmarks/client_bytes.py

docs: ## Regenerate the files that are generated from the code
	@$(SETUP) dev
	@$(BIN)/python scripts/docs.py

lock: ## Pin the newest allowed versions of every package again
	@$(SETUP) dev
	@$(BIN)/python scripts/lock.py

clean: ## Remove everything that the targets made
	rm -rf .venv .venv-engine .venv-clients node_modules cdk.out build dist htmlcov .coverage .coverage.* .hypothesis .*_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
