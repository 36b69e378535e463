# Two commands are enough: `make demo` shows what the middleware does, `make test` shows that it holds.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Installed again whenever pyproject.toml changes.
STAMP  := $(VENV)/.installed

.PHONY: demo test check bench clean

demo: $(STAMP)  ## a LangGraph agent does one job with and without the middleware
	$(BIN)/accp demo

test: check  ## everything that CI runs
	$(BIN)/pytest -n auto --cov --cov-report=term:skip-covered

check: $(STAMP)  ## format, lint, types, import directions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## tokens and speed, as tables
	$(BIN)/python -m tests.bench

clean:
	rm -rf $(VENV)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@
