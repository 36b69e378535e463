"""The table of what is covered has a column for each framework, and names tests that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TABLE = Path(__file__).parents[3] / "docs" / "frameworks.md"
MODULES = ("test_openai_agents", "test_pydantic_ai", "test_google_adk")


def rows() -> list[list[str]]:
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return [line.split("|")[2:-1] for line in lines]


def names_in(module: str) -> set[str]:
    """Return the names of the tests in a module, which need not be importable here."""
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {each.name for each in functions if each.name.startswith("test_")}


def test_the_table_has_a_column_for_each_framework() -> None:
    assert {len(row) for row in rows()} == {len(MODULES)} and len(rows()) > 10


@pytest.mark.parametrize("module", MODULES)
def test_each_test_that_the_table_names_is_there(module: str) -> None:
    named = {name for row in rows() for name in re.findall(r"`(test_\w+)`", row[MODULES.index(module)])}
    assert named and named <= names_in(module)


@pytest.mark.parametrize("module", MODULES)
def test_no_cell_is_empty(module: str) -> None:
    assert all(row[MODULES.index(module)].strip() for row in rows())


def test_each_module_of_an_adapter_has_at_most_80_lines() -> None:
    folder = TABLE.parents[1] / "accp_adapters" / "frameworks"
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in folder.glob("*.py")}
    assert len(lengths) > len(MODULES) and {name for name, lines in lengths.items() if lines > 80} <= {"parts.py"}
