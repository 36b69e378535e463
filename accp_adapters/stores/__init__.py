"""Stores: SQLite in a file or in memory, which needs no server; Redis, which several machines share."""

from typing import TYPE_CHECKING

from accp_adapters.stores.sqlite import SqliteColdStore, embedded_store, open_store
from accp_adapters.stores.texts import SessionStore, stored_keys
from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_adapters.stores.instructions import SqliteInstructionRegistry
    from accp_adapters.stores.redis import RedisColdStore
else:
    # Redis needs its extra, and the registry the packets of AACP.
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_adapters.stores.instructions": "SqliteInstructionRegistry",
            "accp_adapters.stores.redis": "RedisColdStore",
        },
    )

__all__ = [
    "RedisColdStore", "SessionStore", "SqliteColdStore", "SqliteInstructionRegistry", "embedded_store",
    "open_store", "stored_keys",
]  # fmt: skip
