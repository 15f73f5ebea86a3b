# Each target makes its own .venv when it is missing; nothing else has to be installed but Python 3.11 to 3.14, git and make.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null && { echo $$p; break; }; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
ARGS ?=
# Bytecode is kept: most of what a test process does at its start, and every process that a test starts, is compiling.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test long check bench coverage mutation chaos soak pictures lock clean venv

demo: venv ## the whole loop on this machine
	@$(BIN)/assay demo $(ARGS)

test: venv ## every test, on a few processes: whole runs mostly wait
	@$(BIN)/python -m pytest -n 4 -m "not long" $(ARGS)

long: venv ## tests that take more than a minute each, and more of a kind
	@$(BIN)/python -m pytest -m long $(ARGS)

check: venv ## lint, format, types, security, architecture
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/bandit --quiet --recursive --configfile pyproject.toml bot scoring goldens
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/test_architecture.py tests/test_repository.py

bench: venv ## benchmarks: ratios in one run, printed as a table
	@$(BIN)/python -m tests.bench $(ARGS)

chaos: venv ## kills, outages, full disks and the like, a run each: an hour and more, goes on where it was stopped (var/chaos.jsonl)
	@$(BIN)/python -m tests.chaos $(ARGS)

soak: venv ## runs one after another on one data directory, and what grows (var/soak.jsonl)
	@$(BIN)/python -m tests.chaos.soak $(ARGS)

# The tests of the rules of `bot`; the others wait for processes and servers, and cover little else of the rules.
RULES := answers bundle commands installed model neutral pacing plan registry render scrape settle webhooks

coverage: venv ## branches of `scoring` and of the rules of `bot` that do no I/O; fails under the figure in pyproject.toml
	@$(BIN)/coverage run -m pytest -q -m "not long" tests/scoring \
		$(foreach rule,$(RULES),$(wildcard tests/bot/test_$(rule)*.py)) $(ARGS)
	@$(BIN)/coverage report --skip-covered

mutation: venv ## mutants of the rules that no test notices; goes on where it stopped; ARGS="bot.settle*" for some
	@$(BIN)/mutmut run $(ARGS)
	@$(BIN)/python -m tests.mutation.again

venv: $(VENV)/installed

$(VENV)/installed: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 to 3.14 is needed: install it, or say PYTHON=/path/to/python3.11" >&2; exit 3; }
	@echo "Making $(VENV) with $(PYTHON): about a minute, once" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --no-compile --only-binary :all: --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

pictures: venv ## the pictures in the README, made of the demo (needs Chromium)
	@$(BIN)/python -m tests.pictures

lock: ## resolve requirements.lock anew (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url \
		--all-extras --custom-compile-command "make lock" pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
