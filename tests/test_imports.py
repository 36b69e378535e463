"""What importing a module loads: the core nothing but the standard library, an adapter its own framework only."""

from __future__ import annotations

import functools
import pkgutil
import subprocess
import sys

import pytest

import accp_adapters
import accp_core

CORE = sorted(["accp_core", *(module.name for module in pkgutil.walk_packages(accp_core.__path__, "accp_core."))])
ADAPTERS = sorted(module.name for module in pkgutil.iter_modules(accp_adapters.__path__, "accp_adapters."))
FRAMEWORKS = {
    "backoff": set(),
    "extras": set(),
    "langgraph": {"langgraph", "langchain", "langchain_core", "langsmith"},
    "langchain": {"langchain_core", "langsmith"},
    "mcp": {"mcp"},
    "a2a": {"a2a"},
    "bindings": {"starlette", "uvicorn", "httpx", "httpx2", "websockets"},
    "frameworks": {"agents", "pydantic_ai"},
    "gateway": {"starlette"},
    "instructions": {"langchain_core", "langsmith"},
    "evaluation": set(),
    "messages": set(),
    "policy": set(),
    "remote": set(),
    "replay": set(),
    "inspector": {"jinja2", "rich"},
    "fetching": set(),
    "serving": set(),
    "tokens": {"tiktoken"},
    "stores": {"redis", "sqlite3"},
    "statistics": set(),
    "telemetry": set(),
    "wire_log": set(),
    "cli": {"typer", "rich"},
}
COMPANIONS = {
    "langchain": {"httpx", "httpx2", "websockets", "tiktoken", "sqlite3", "rich"},
    "langgraph": {"httpx", "httpx2", "websockets", "starlette", "uvicorn", "tiktoken", "sqlite3", "rich"},
    "mcp": {"httpx", "httpx2", "starlette", "uvicorn", "websockets", "rich", "typer", "tiktoken", "sqlite3"},
    "a2a": {"httpx", "starlette", "uvicorn", "websockets", "rich", "tiktoken", "sqlite3"},
    "bindings": {"tiktoken", "sqlite3", "rich"},
    "gateway": {"httpx", "uvicorn", "websockets", "tiktoken", "sqlite3", "rich"},
    "instructions": {"httpx", "httpx2", "websockets", "rich"},
    "evaluation": {"tiktoken", "sqlite3"},
    "messages": {"tiktoken", "sqlite3"},
    "policy": {"tiktoken", "sqlite3"},
    "remote": {"tiktoken", "sqlite3"},
    "replay": {"tiktoken", "sqlite3"},
    "fetching": {"sqlite3"},
    "cli": {"tiktoken", "sqlite3"},
}
"""What a framework, or the tokens and stores that an adapter stands on, may bring along."""


PROGRAM = """
import os, sys
before = set(sys.modules)
__import__(sys.argv[1].partition('.')[0])
for module in sys.argv[1:]:
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        __import__(module)
        print(module, *{name.partition('.')[0] for name in set(sys.modules) - before}, flush=True)
        os._exit(0)
"""
"""Imports modules of one package, each in a fork of an interpreter that has imported the package's root only."""


@functools.cache
def loaded_by_each(*modules: str) -> dict[str, frozenset[str]]:
    """Return the same for several modules of one package; a module that cannot be imported is not in it."""
    run = subprocess.run([sys.executable, "-I", "-c", PROGRAM, *modules], stdout=subprocess.PIPE, text=True, check=True)
    lines = [line.split() for line in run.stdout.splitlines()]
    return {module: frozenset(loaded) for module, *loaded in lines}


def loaded_by(module: str) -> frozenset[str]:
    """Return the names of the top-level packages that a fresh interpreter has after importing `module`."""
    loaded = loaded_by_each(*(CORE if module in CORE else [module]))
    assert module in loaded, f"{module} cannot be imported"
    return loaded[module]


def test_there_are_modules_and_adapters() -> None:
    assert {"accp_core.accp.parser", "accp_core.packing.columns", "accp_core.view.read_value"} <= set(CORE)
    assert {"accp_adapters.tokens", "accp_adapters.langgraph"} <= set(ADAPTERS)


# One test for all modules names all that are wrong: a test for each took longer to start and to report than to run.
@pytest.mark.slow
def test_a_module_of_the_core_loads_the_standard_library_and_the_core() -> None:
    foreign = {module: loaded_by(module) - sys.stdlib_module_names - {"accp_core"} for module in CORE}
    assert {module: found for module, found in foreign.items() if found} == {}


def test_a_module_of_the_core_loads_nothing_that_waits_or_connects() -> None:
    # Debug mode writes to the standard library's log, which locks what it writes to.
    waiting = {"asyncio", "socket", "selectors", "ssl", "sqlite3", "subprocess", "threading"} - loaded_by("logging")
    found = {module: loaded_by(module) & waiting for module in CORE}
    assert {module: names for module, names in found.items() if names} == {}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_loads_no_framework_but_its_own(adapter: str) -> None:
    name = adapter.rpartition(".")[2]
    pytest.importorskip(adapter)
    others = set().union(*(FRAMEWORKS[other] for other in FRAMEWORKS if other != name))
    assert not loaded_by(adapter) & (others - FRAMEWORKS[name] - COMPANIONS.get(name, set()))


@pytest.mark.slow
@pytest.mark.parametrize(("module", "other"), [("openai_agents", "pydantic_ai"), ("pydantic_ai", "agents")])
def test_a_module_of_the_frameworks_loads_its_own_only(module: str, other: str) -> None:
    assert other not in loaded_by(f"accp_adapters.frameworks.{module}")


def test_the_root_of_the_adapters_loads_none_of_them() -> None:
    assert loaded_by("accp_adapters") - sys.stdlib_module_names == {"accp_adapters"}


@pytest.mark.parametrize(
    "adapter", ["accp_adapters.tokens", "accp_adapters.stores", "accp_adapters.fetching", "accp_adapters.serving"]
)
def test_what_frameworks_stand_on_loads_none_of_them(adapter: str) -> None:
    assert not loaded_by(adapter) & {"langgraph", "langchain", "langchain_core", "mcp", "a2a", "typer", "rich"}
