"""The tools of the tasks: plain functions over the made world, as an API gives them, with indented or compact JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from langchain_core.tools import BaseTool, StructuredTool

from accp_core.strict_json import compact_json
from integrations.agent_tasks.world import Row, World

__all__ = ["OWN_TOOLS", "world_functions", "world_tools"]

_MAX_MATCHES: Final = 50


class _Api:
    """The functions behind the tools; each docstring is what a model reads."""

    def __init__(self, world: World, write: Callable[[Any], str]) -> None:
        self._world = world
        self._write = write

    def list_orders(self, customer_id: str = "") -> str:
        """List all orders, or those of one customer."""
        return self._write(_of(self._world.orders, customer_id))

    def list_customers(self) -> str:
        """List all customers."""
        return self._write(self._world.customers)

    def get_customer(self, customer_id: str) -> str:
        """Get one customer."""
        found = [row for row in self._world.customers if row["id"] == customer_id]
        return self._write(found[0] if found else {"error": f"no customer {customer_id}"})

    def list_tickets(self, customer_id: str = "") -> str:
        """List all support tickets, or those of one customer."""
        return self._write(_of(self._world.tickets, customer_id))

    def list_deployments(self, service: str = "") -> str:
        """List all deployments, or those of one service."""
        return self._write([row for row in self._world.deployments if service in ("", row["service"])])

    def read_log(self, service: str) -> str:
        """Read the log of a service: checkout, inventory, payments or search."""
        return self._world.logs.get(service, f"no service {service}")

    def list_sources(self) -> str:
        """List the source files with their numbers of lines."""
        return self._write([{"path": path, "lines": text.count("\n")} for path, text in self._world.sources.items()])

    def read_source(self, path: str) -> str:
        """Read a source file."""
        return self._world.sources.get(path, f"no file {path}")

    def edit_source(self, path: str, old: str, new: str) -> str:
        """Replace `old`, which must occur once in a source file, by `new`."""
        text = self._world.sources.get(path, "")
        if text.count(old) != 1:
            return f"expected {old!r} once in {path}, found it {text.count(old)} times"
        self._world.sources[path] = text.replace(old, new)
        return f"replaced in {path}"

    def search_sources(self, words: str) -> str:
        """Find the lines of all source files that contain some words."""
        matches = [
            {"path": path, "line": number, "text": line}
            for path, text in self._world.sources.items()
            for number, line in enumerate(text.splitlines(), 1)
            if words in line
        ]
        return self._write(matches[:_MAX_MATCHES])


_AREAS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "sales": ("list_orders", "list_customers", "get_customer"),
        "support": ("list_tickets", "get_customer"),
        "operations": ("list_deployments", "read_log"),
        "sources": ("list_sources", "read_source", "edit_source", "search_sources"),
    }
)

OWN_TOOLS: Final = frozenset(
    {name for names in _AREAS.values() for name in names}
    | {"ask_sales", "ask_support", "ask_operations", "transfer_to_sales"}
)
"""What an agent calls for its task; any other tool reads what an arm has hidden."""


def world_functions(
    world: World, areas: Iterable[str] = tuple(_AREAS), *, compact: bool = False
) -> list[Callable[..., str]]:
    """Return the tools over a world as plain functions; their docstrings are what a model reads of them.

    Args:
        world: What they read; `edit_source` changes its sources.
        areas: Of "sales", "support", "operations" and "sources".
        compact: Whether they write JSON without blanks; else it is indented, as most APIs and MCP servers write it.
    """
    api = _Api(world, compact_json if compact else partial(json.dumps, indent=2, ensure_ascii=False))
    return [getattr(api, name) for name in dict.fromkeys(name for area in areas for name in _AREAS[area])]


def world_tools(world: World, areas: Iterable[str] = tuple(_AREAS), *, compact: bool = False) -> list[BaseTool]:
    """Return the same as tools of LangChain."""
    return [StructuredTool.from_function(each) for each in world_functions(world, areas, compact=compact)]


def _of(rows: Sequence[Row], customer_id: str) -> list[Row]:
    return [row for row in rows if customer_id in ("", row["customer_id"])]
