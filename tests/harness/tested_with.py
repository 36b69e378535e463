"""docs/tested-with.md: the versions that each run of the tests had, written by the run itself.

`make test ACCP_TESTED_WITH=1` writes the column of `make test` once every test has passed, and so do the other targets.
"""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

__all__ = ["COLUMNS", "PACKAGES", "PAGE", "write_column"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "tested-with.md"
COLUMNS: Final = ("test-lowest", "test", "test-mcp1", "test-others")
PACKAGES: Final = (
    "langgraph",
    "langchain",
    "langchain-core",
    "langgraph-supervisor",
    "langgraph-swarm",
    "deepagents",
    "langchain-openai",
    "langchain-anthropic",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
    "mcp",
    "fastmcp",
    "langchain-mcp-adapters",
    "a2a-sdk",
    "openai-agents",
    "pydantic-ai-slim",
    "redis",
    "nats-py",
    "opentelemetry-api",
    "tiktoken",
    "tokenizers",
    "quicktok-v1",
)
_HEAD: Final = """# Tested with

A column is written by the run of the tests that its title names, once all of them have passed
(`make test ACCP_TESTED_WITH=1`).

"""


def write_column(column: str, page: Path = PAGE) -> None:
    """Write the versions that are installed here into a column of the page; the others stay."""
    rows = _rows(page)
    for name in ("Python", *PACKAGES):
        rows.setdefault(name, dict.fromkeys(COLUMNS, ""))[column] = _version(name)
    head = " | ".join(f"`make {each}`" for each in COLUMNS)
    lines = [f"| | {head} |", "|---" * (len(COLUMNS) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(row.values())} |" for name, row in rows.items()]
    page.write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def _rows(page: Path) -> dict[str, dict[str, str]]:
    """Return the versions in the page, by package and column."""
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {name: dict(zip(COLUMNS, row, strict=True)) for name, *row in cells if name in ("Python", *PACKAGES)}


def _version(name: str) -> str:
    try:
        return platform.python_version() if name == "Python" else version(name)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    write_column(sys.argv[1])
