"""Stores: SQLite in a file or in memory, which needs no server; Redis, which several machines share."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from accp_adapters.stores.addresses import open_store
from accp_adapters.stores.instructions import SqliteInstructionRegistry
from accp_adapters.stores.sqlite import SqliteColdStore, embedded_store

if TYPE_CHECKING:
    from accp_adapters.stores.redis import RedisColdStore

__all__ = ["RedisColdStore", "SqliteColdStore", "SqliteInstructionRegistry", "embedded_store", "open_store"]


def __getattr__(name: str) -> Any:
    """Import `RedisColdStore` on first use: it needs the extra `redis`."""
    if name != "RedisColdStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("accp_adapters.stores.redis").RedisColdStore
