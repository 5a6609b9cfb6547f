# `make` lists the targets. Each does whatever set-up is still missing, and nothing twice.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MIAI := $(BIN)/miai
ARGS ?=
# What pip is asked for where there is no PyTorch yet. Elsewhere than on a CPU machine another build may be wanted; one that is
# in the virtual environment already is left alone.
TORCH ?= torch==2.13.0

# Tests of which some are skipped where PyTorch or OpenVINO are missing.
NEED_TORCH := tests/alphago tests/networks tests/players tests/docs/test_metrics.py tests/contract/test_experiments.py \
  tests/runner/test_sl_policy_task.py tests/runner/test_rl_policy_task.py tests/runner/test_value_tasks.py

.PHONY: help sweep alphago report ui play test test-alphago test-services test-launchers test-slow chaos lint bench audit lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

# What the chosen Python says of itself: ok, old, or nothing where there is none.
IS_IT_NEW := import sys; print("ok" if sys.version_info >= (3, 11) else "old")
VERDICT = $(shell $(PYTHON) -c '$(IS_IT_NEW)' 2>/dev/null)
WHAT_IT_IS = $(if $(VERDICT),$(shell $(PYTHON) --version 2>&1),not there)

$(VENV)/.created:
	$(if $(filter ok,$(VERDICT)),,$(error Miai needs Python 3.11 or newer; $(PYTHON) is $(WHAT_IT_IS). Try: make PYTHON=python3.12))
	@echo "Creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.runtime: requirements/runtime.lock pyproject.toml setup.py | $(VENV)/.created
	@echo "Installing the pinned dependencies (about a minute, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/runtime.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.runtime
	@echo "Installing the pinned tools for tests and checks"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@touch $@

$(VENV)/.alphago: requirements/alphago.lock $(VENV)/.runtime
	@$(BIN)/python -c 'import torch' 2>/dev/null || { echo "Installing PyTorch (some minutes, once)"; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH); }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/alphago.lock
	@touch $@

$(VENV)/.services: requirements/services.lock $(VENV)/.dev
	@echo "Installing the driver of PostgreSQL, and what MLflow's authentication needs"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/services.lock
	@touch $@

$(VENV)/.cluster: requirements/cluster.lock $(VENV)/.dev
	@echo "Installing Ray, and what submits jobs to Slurm"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/cluster.lock
	@touch $@

sweep: $(VENV)/.runtime  ## run the main study, td_comparison, and draw its report (ARGS='…' are overrides)
	@$(MIAI) sweep td_comparison $(ARGS)
	@$(MIAI) report td_comparison $(ARGS)

alphago: $(VENV)/.alphago  ## run AlphaGo's pipeline on 9×9, quick size, and draw its report (at most 20 minutes on two idle cores)
	@$(MIAI) sweep alphago_quick $(ARGS)
	@$(MIAI) report alphago_quick $(ARGS)

report: $(VENV)/.runtime  ## draw the report of a study again (STUDY=td_comparison)
	@$(MIAI) report $(or $(STUDY),td_comparison) $(ARGS)

ui: $(VENV)/.runtime  ## open MLflow's UI on the project's store
	@$(MIAI) ui $(ARGS)

play: $(VENV)/.runtime  ## play against a trained table in the terminal
	@$(MIAI) play $(ARGS)

test: lint  ## run the linters and the tests
	@$(BIN)/python -m pytest -n 2 -m "not slow and not services and not cluster" $(ARGS)

test-alphago: $(VENV)/.alphago lint  ## run the tests that need PyTorch and OpenVINO too
	@$(BIN)/python -m pytest -n 2 -m "not slow" $(NEED_TORCH) $(ARGS)

# PostgreSQL itself comes from the system; Debian's is installed where we may.
test-services: $(VENV)/.services  ## run the tests on a real PostgreSQL and real MLflow servers, started on loopback
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || [ "$$(id -u)" != 0 ] || \
	  ! command -v apt-get >/dev/null || { apt-get update -qq && apt-get install -y -qq postgresql; } >/dev/null 2>&1 || \
	  echo "PostgreSQL could not be installed; its tests will skip."
	@$(BIN)/python -m pytest -m services -rs tests/services $(ARGS)

# Slurm itself comes from the system; Debian's is installed where we may.
test-launchers: $(VENV)/.cluster  ## run the tests of launchers on a real Ray and a real Slurm of one node, started on loopback
	@command -v sbatch >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
	  { apt-get update -qq && apt-get install -y -qq slurm-wlm munge; } >/dev/null 2>&1 || \
	  echo "Slurm could not be installed; its tests will skip."
	@$(BIN)/python -m pytest -rs tests/contract/test_launchers.py $(ARGS)

test-slow: $(VENV)/.dev  ## run the long checks too (minutes)
	@$(BIN)/python -m pytest -m slow $(ARGS)

chaos: $(VENV)/.dev  ## kill, starve and damage everything on purpose, for about 20 minutes (ARGS='--minutes 5 --only fuzz')
	@cd tests && ../$(BIN)/python -m chaos.campaign $(ARGS)

lint: $(VENV)/.dev  ## check style (ruff) and types (mypy)
	@$(BIN)/ruff check src tests benchmarks requirements setup.py
	@$(BIN)/ruff format --check src tests benchmarks requirements setup.py
	@$(BIN)/mypy

bench: $(VENV)/.dev  ## measure speed against peers; writes benchmarks/results.json
	@$(BIN)/python -m benchmarks.run $(ARGS)

$(VENV)/audit/.made: requirements/audit.lock | $(VENV)/.created
	@$(BIN)/python -m venv --clear $(VENV)/audit
	@$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/audit.lock
	@touch $@

audit: $(VENV)/.dev $(VENV)/audit/.made  ## look up known vulnerabilities of the pinned dependencies, and list their licences
	@$(BIN)/python requirements/licences.py $(VENV)/audit/lib/python3*/site-packages
	@$(VENV)/audit/bin/python requirements/audit.py $(ARGS)

lock: $(VENV)/.dev  ## pin the dependencies anew
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header -o requirements/runtime.lock pyproject.toml requirements/build.in
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --extra dev -c requirements/runtime.lock -o requirements/dev.lock pyproject.toml requirements/build.in
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header -c requirements/runtime.lock -o requirements/alphago.lock requirements/alphago.in
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header -c requirements/runtime.lock -o requirements/services.lock requirements/services.in
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header -o requirements/audit.lock requirements/audit.in
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header -c requirements/runtime.lock -c requirements/dev.lock -o requirements/cluster.lock requirements/cluster.in

clean:  ## remove the virtual environment and caches; runs and reports stay
	@rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
