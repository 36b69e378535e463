"""A library of an extra that is not installed: each import and each command names the extra that has it."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = "import sys; sys.modules[{module!r}] = None; {then}"


def run(module: str, then: str) -> subprocess.CompletedProcess[str]:
    program = WITHOUT.format(module=module, then=then)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("module", "imported", "extra"),
    [
        ("langchain", "accp_adapters.langgraph", "langgraph"),
        ("a2a", "accp_adapters.a2a", "a2a"),
        ("websockets", "accp_adapters.bindings", "bindings"),
        ("agents", "accp_adapters.frameworks.openai_agents", "openai-agents"),
        ("pydantic_ai", "accp_adapters.frameworks.pydantic_ai", "pydantic-ai"),
        ("redis", "accp_adapters.stores.redis", "redis"),
    ],
)
def test_an_import_names_the_extra(module: str, imported: str, extra: str) -> None:
    done = run(module, f"import {imported}")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: ")
    assert last.endswith(f" is not installed: pip install 'accp-middleware[{extra}]'")


@pytest.mark.parametrize(
    ("module", "arguments", "extra"),
    [
        ("typer", "--help", "cli"),
        ("rich", "replay --example", "cli"),
        ("langchain", "demo", "langgraph"),
        ("redis", "serve asyncio:sleep --http 127.0.0.1:0 --store redis://127.0.0.1:1", "redis"),
        ("websockets", "serve asyncio:sleep --http 127.0.0.1:0", "bindings"),
        ("packaging", "doctor", "cli"),
    ],
)
def test_a_command_names_the_extra_without_a_traceback(module: str, arguments: str, extra: str) -> None:
    done = run(module, f"sys.argv = {['accp', *arguments.split()]!r}; from accp_adapters.cli import main; main()")
    assert done.returncode == 2
    assert f"pip install 'accp-middleware[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broken_installation_of_ours_is_no_missing_extra() -> None:
    done = run("accp_adapters.langgraph.node", "import accp_adapters.langgraph")
    assert "pip install" not in done.stderr
