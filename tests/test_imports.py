"""What importing a module loads: the core nothing but the standard library, an adapter its own framework only."""

import functools
import pkgutil
import subprocess
import sys
from pathlib import Path

import accp_adapters
import accp_core

ROOT = Path(__file__).parents[1]
CORE = sorted(["accp_core", *(module.name for module in pkgutil.walk_packages(accp_core.__path__, "accp_core."))])
ADAPTERS = sorted(module.name for module in pkgutil.iter_modules(accp_adapters.__path__, "accp_adapters."))
FRAMEWORKS = {"a2a", "agents", "langchain", "langgraph", "mcp", "pydantic_ai", "typer"}
OWN = {
    "a2a": {"a2a", "starlette"},
    "bindings": {"starlette"},
    "cli": {"typer"},
    # langgraph's own client of its platform imports starlette, and mcp's SDK typer.
    "langgraph": {"langchain", "langgraph", "starlette"},
    "mcp": {"mcp", "typer"},
}
"""What an adapter may load of the frameworks; the others load none."""

PROGRAM = """
import os, sys
before = set(sys.modules)
for module in sys.argv[1:]:
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        try:
            __import__(module)
        except ModuleNotFoundError:
            os._exit(0)
        print(module, *{name.partition('.')[0] for name in set(sys.modules) - before}, flush=True)
        os._exit(0)
"""
"""Imports each module in a fork of one interpreter; a module whose framework is missing is left out."""


@functools.cache
def loaded_by(*modules: str) -> dict[str, frozenset[str]]:
    """Return the top-level packages that a fresh interpreter has after importing each of `modules`."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *modules], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    lines = [line.split() for line in run.stdout.splitlines()]
    return {module: frozenset(loaded) for module, *loaded in lines}


def test_the_core_loads_the_standard_library_and_nothing_that_waits_or_connects() -> None:
    program = f"import sys\nfor name in {CORE}: __import__(name)\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert loaded - sys.stdlib_module_names - {"accp_core", "__main__"} <= installed_at_start()
    # Debug mode writes to the standard library's log, which locks what it writes to.
    waiting = {"asyncio", "socket", "selectors", "ssl", "sqlite3", "subprocess", "threading"}
    assert loaded & (waiting - loaded_by("logging")["logging"]) == set()


def installed_at_start() -> set[str]:
    """Return what `.pth` files of this environment load before any program."""
    run = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in run.stdout.split()}


# One test for all: each worker that has a case would import them all.
def test_an_adapter_loads_no_framework_but_its_own() -> None:
    loaded = loaded_by(*ADAPTERS)
    own = {adapter: OWN.get(adapter.rpartition(".")[2], set()) for adapter in loaded}
    assert {adapter: found for adapter in loaded if (found := loaded[adapter] & FRAMEWORKS - own[adapter])} == {}
    assert {"accp_adapters.langgraph", "accp_adapters.mcp", "accp_adapters.a2a"} <= loaded.keys()


def test_the_root_of_the_adapters_loads_none_of_them() -> None:
    assert loaded_by("accp_adapters")["accp_adapters"] - sys.stdlib_module_names == {"accp_adapters"}
