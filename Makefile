# Two commands are enough: `make demo` shows what the middleware does, `make test` shows that it holds.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Installed again whenever pyproject.toml changes.
STAMP  := $(VENV)/.installed

# The lowest versions that pyproject.toml names, in an environment of their own.
LOWEST := .venv-lowest

.PHONY: demo test test-lowest check bench conformance fuzz clean

demo: $(STAMP)  ## a LangGraph agent does one job with and without the middleware
	$(BIN)/accp demo

test: check  ## everything that CI runs
	$(BIN)/pytest -n auto --cov --cov-report=
	$(BIN)/coverage report --skip-covered --fail-under=90
	$(BIN)/coverage report --skip-covered --include='accp_core/*' --fail-under=100

test-lowest: $(LOWEST)/.installed  ## the tests with the lowest supported versions
	$(LOWEST)/bin/pytest -n auto

check: $(STAMP)  ## format, lint, types, import directions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

conformance: $(STAMP)  ## which requirements of the draft hold, level by level
	$(BIN)/python -m tests.conformance

fuzz: $(STAMP)  ## each fuzzer for FUZZ_SECONDS (30); skipped where atheris cannot be installed
	-$(BIN)/pip install --quiet --only-binary :all: --editable '.[fuzz]'
	$(BIN)/python -m tests.fuzz

bench: $(STAMP)  ## tokens and speed, as tables
	$(BIN)/python -m tests.bench

clean:
	rm -rf $(VENV) $(LOWEST)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

$(LOWEST)/.installed: pyproject.toml
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet uv
	VIRTUAL_ENV=$(LOWEST) $(LOWEST)/bin/uv pip install --quiet --resolution lowest-direct --editable '.[dev]'
	touch $@
