"""Cold stores that need no server: SQLite, in a file or in memory."""

from accp_adapters.stores.sqlite import SqliteColdStore, embedded_store

__all__ = ["SqliteColdStore", "embedded_store"]
