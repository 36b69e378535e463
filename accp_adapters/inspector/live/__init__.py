"""The live inspector: a read-only page about a running or a recorded graph, on this machine only."""

from accp_adapters.inspector.live.app import inspector_app
from accp_adapters.inspector.live.sources.cold_texts import open_texts
from accp_adapters.inspector.live.sources.opening import open_source

__all__ = ["inspector_app", "open_source", "open_texts"]
