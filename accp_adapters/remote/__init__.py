"""Agents that take contexts on another machine: what is the same over every wire."""

from typing import TYPE_CHECKING

from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_adapters.remote.granted_references import GrantedReferences, MasterAnswer, OpenRequest
    from accp_adapters.remote.graphs import run_graph
    from accp_adapters.remote.reference_request import DEFAULT_TOKENS, ReferenceRequest, answer_request
    from accp_adapters.remote.replies import MAX_REFERENCES, accept, with_stored_results
    from accp_adapters.remote.shared_texts import FetchText, SharedTexts
    from accp_adapters.remote.stored_results import StoredResults
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_adapters.remote.granted_references": "GrantedReferences MasterAnswer OpenRequest",
            "accp_adapters.remote.graphs": "run_graph",
            "accp_adapters.remote.reference_request": "DEFAULT_TOKENS ReferenceRequest answer_request",
            "accp_adapters.remote.replies": "MAX_REFERENCES accept with_stored_results",
            "accp_adapters.remote.shared_texts": "FetchText SharedTexts",
            "accp_adapters.remote.stored_results": "StoredResults",
        },
    )

__all__ = [
    "DEFAULT_TOKENS",
    "MAX_REFERENCES",
    "FetchText",
    "GrantedReferences",
    "MasterAnswer",
    "OpenRequest",
    "ReferenceRequest",
    "SharedTexts",
    "StoredResults",
    "accept",
    "answer_request",
    "run_graph",
    "with_stored_results",
]
