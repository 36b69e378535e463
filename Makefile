# Two commands are enough: `make demo` shows what the middleware does, `make test` shows that it holds.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Installed again whenever pyproject.toml changes: what `make test` needs, and what all tests need.
STAMP  := $(VENV)/.installed
ALL    := $(VENV)/.installed-all

# The lowest versions that pyproject.toml names, in an environment of their own.
LOWEST := .venv-lowest
# The first generation of the MCP SDK, which langchain-mcp-adapters needs and which cannot stand beside the second.
MCP1   := .venv-mcp1

# What `accp demo` needs, and no more.
DEMO       := .venv-demo
DEMO_NEEDS := .[cli,langgraph]

# Whether there is a C compiler, and the headers of Python.
CAN_COMPILE := $(PYTHON) -c 'import os, shutil, sys, sysconfig as s; sys.exit(not (shutil.which("cc") and os.path.exists(s.get_path("include") + "/Python.h")))'
# A wheel with what Cython compiles, unpacked.
COMPILED := .venv-compiled
# All tests on it: make test-compiled TESTS_COMPILED=tests
TESTS_COMPILED := tests/compiled tests/core/view tests/core/packing tests/core/previews tests/core/test_compression.py \
	tests/conformance/test_view_vectors.py tests/properties/test_view.py

# What covers the core: its own tests, and the vectors.
TESTS_CORE := tests/core tests/conformance/test_vectors.py tests/conformance/test_stories.py \
	$(foreach kind,aci codec reading view,tests/conformance/test_$(kind)_vectors.py)

# Tests start hundreds of interpreters: without compiled modules each would compile ours again.
unexport PYTHONDONTWRITEBYTECODE
# uv takes a fraction of pip's time. Where it cannot be installed, or does not know the package index that pip is
# configured for, pip does the same; 25.1 is the first version with dependency groups.
define install
	$(PYTHON) -m venv $(1)
	$(1)/bin/pip install --quiet --upgrade 'pip>=25.1'
	{ $(1)/bin/pip install --quiet uv && VIRTUAL_ENV=$(1) $(1)/bin/uv pip install --quiet $(2); } || \
		$(1)/bin/pip install --quiet $(2)
	touch $@
endef

# What shows that the bench runs, in seconds.
SMOKE := ordinary payloads patterns requests
# A worker that has nothing left takes tests from another one, so that no long test runs alone at the end.
XDIST := -n auto --dist worksteal

.PHONY: demo test test-all coverage coverage-core test-lowest test-mcp1 test-compiled check bench conformance conformance-mcp fuzz soak chaos mutants fresh pictures release bench-compiled clean

demo: $(DEMO)/.installed  ## a LangGraph agent does one job with and without the middleware
	$(DEMO)/bin/accp demo

test: $(STAMP)  ## the whole behaviour, in minutes
	$(MAKE) check
	$(BIN)/pytest $(XDIST) -m 'not slow'

test-all: $(ALL)  ## what `make test` leaves out: slow cases, peers, attacks, servers, more examples, other versions
	$(BIN)/python -W ignore -m tests.harness.bench $(SMOKE)
	$(MAKE) test-mcp1
	if $(CAN_COMPILE); then $(MAKE) test-compiled; else echo 'no C compiler with Python.h: compiled modules are not tested'; fi
	ACCP_EXAMPLES=200 $(BIN)/pytest $(XDIST) -m 'slow or hypothesis'

coverage-core: $(STAMP)  ## the branches of the core, covered by its own tests
	$(BIN)/pytest $(XDIST) --cov=accp_core --cov-report= $(TESTS_CORE)
	$(BIN)/coverage report --skip-covered --include='accp_core/*' --fail-under=100

coverage: $(ALL)  ## all tests with coverage: the branches of the core, and at least 90 % in all
	$(BIN)/pytest $(XDIST) --cov --cov-report=
	$(BIN)/coverage report --skip-covered --fail-under=90
	$(BIN)/coverage report --skip-covered --include='accp_core/*' --fail-under=100

test-lowest: $(LOWEST)/.installed  ## adapters and package with the lowest supported versions
	$(LOWEST)/bin/pytest $(XDIST) -m 'not slow' tests/adapters $(wildcard tests/test_*.py)

test-mcp1: $(MCP1)/.installed  ## the MCP adapter with mcp 1.x and langchain-mcp-adapters
	$(MCP1)/bin/pytest -q --confcutdir=tests/adapters/mcp \
		tests/adapters/mcp/test_sdk1.py tests/adapters/mcp/test_langchain.py

# Appended, so that the tests import what was compiled rather than the modules of this folder.
test-compiled: $(COMPILED)/.installed  ## rendering and reading as Cython compiles them, against the same in Python
	ACCP_COMPILED=1 PYTHONPATH=$(COMPILED) $(BIN)/pytest -q --import-mode=append $(XDIST) $(TESTS_COMPILED)

check: $(STAMP)  ## format, lint, types, import directions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

conformance: $(STAMP)  ## which requirements hold, and ACP_REFERENCE=, A2A_TCK=, MCP_SUITE= where they are given
	$(BIN)/python -m tests.conformance

conformance-mcp: $(ALL)  ## MCP's own suite against a server alone and behind us; needs npm
	$(BIN)/python -W ignore -m tests.harness.mcp_suite.suite

fuzz: $(STAMP)  ## each fuzzer for FUZZ_SECONDS (30), until FUZZ_INPUTS ran; skipped where atheris cannot be installed
	-$(BIN)/pip install --quiet --only-binary :all: --group fuzz
	$(BIN)/python -m tests.harness.fuzz

soak: $(ALL)  ## a mixed load for SOAK_SECONDS (3600): a curve of memory, descriptors and threads, which must be flat
	$(BIN)/python -m tests.harness.soak

chaos: $(ALL)  ## CHAOS_KILLS (1000) deaths at accesses of the stores, and all deaths of the workers
	ACCP_DEATHS=all $(BIN)/pytest $(XDIST) tests/adapters/langgraph/test_workers.py
	$(BIN)/python -m tests.harness.chaos

mutants: $(ALL)  ## changes of the code that no test notices: each must be explained in tests/harness/mutants/explained.json
	$(BIN)/pip install --quiet --group mutants
	$(BIN)/python -m tests.harness.mutants

fresh: $(ALL)  ## README and docs followed outside the checkout with the wheel; FRESH='python3.12 python3.13': with these
	$(BIN)/python -m tests.harness.fresh $(FRESH)

pictures: $(ALL)  ## the pictures in docs/, as Chromium shows the pages
	$(BIN)/python -m tests.harness.pictures

release: $(ALL)  ## the wheel twice, byte for byte the same; SBOM and known weaknesses of what it needs
	$(BIN)/pip install --quiet --group release
	$(BIN)/python -m tests.harness.release

bench: $(ALL)  ## tokens and speed, as tables; SECTIONS="latency payloads" for these only
	$(BIN)/python -m tests.harness.bench $(SECTIONS)

bench-compiled: $(COMPILED)/.installed  ## the same with what Cython compiles
	PYTHONPATH=$(COMPILED):. $(BIN)/python -P -m tests.harness.bench $(SECTIONS)

clean:
	rm -rf $(VENV) $(DEMO) $(LOWEST) $(MCP1) $(COMPILED)

$(STAMP): pyproject.toml
	$(call install,$(VENV),--group test --group check --editable '.[all]')

$(ALL): $(STAMP)
	$(call install,$(VENV),--group all-tests)

$(DEMO)/.installed: pyproject.toml
	$(call install,$(DEMO),--editable '$(DEMO_NEEDS)')

$(LOWEST)/.installed: pyproject.toml
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet uv
	VIRTUAL_ENV=$(LOWEST) $(LOWEST)/bin/uv pip install --quiet --resolution lowest-direct --group test --editable '.[all]'
	touch $@

$(COMPILED)/.installed: $(ALL) hatch_build.py $(shell find accp_core accp_adapters -name '*.py')
	rm -rf $(COMPILED)
	ACCP_COMPILED=1 $(BIN)/python -m hatchling build -t wheel -d $(COMPILED)
	cd $(COMPILED) && ../$(BIN)/python -m zipfile -e *.whl .
	touch $@

$(MCP1)/.installed: pyproject.toml
	$(call install,$(MCP1),--group mcp1 --editable .)
