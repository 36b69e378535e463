"""Results that are too big to show: kept whole, cited by a reference, opened for the session that was given it.

"Context references are session-scoped" (ACCP section 9): a key opens only where it was handed out. Whoever guesses
one, or brings one from another session, is told E5002.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS, answer, read_request
from accp_adapters.mcp.shim.protocol import COLD_URI, Json, text_block, tool_result
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore, TokenCounter
from accp_core.view import View, preview

__all__ = ["FETCH_TOOL", "Shelf", "answer_fetch", "cold_resources", "read_cold"]

FETCH_TOOL: Final[Json] = {"name": FETCH_NAME, "description": FETCH_DESCRIPTION, "inputSchema": FETCH_PARAMETERS}
"""The tool that opens references, as tools/list has it."""

_MOST: Final = 10_000
"""References of one session; when it has so many, further results are shown whole."""
_HEAD: Final = 200_000
"""Characters of a text of which a preview is made; a longer one is known by its beginning."""


@dataclass(slots=True)
class Shelf:
    """The full texts of one session."""

    store: ColdStore
    """Where they are."""
    session_id: str = field(default_factory=lambda: secrets.token_hex(16))
    """Who owns them; nobody outside is told."""
    granted: dict[str, int] = field(default_factory=dict)
    """Key to the number of characters, for every reference that was handed out."""

    @property
    def is_full(self) -> bool:
        """Whether no more references are handed out."""
        return len(self.granted) >= _MOST

    def keep(self, source: str) -> str:
        """Return the content-addressed key of a text, which stands in the store from now on."""
        bound = f"{self.session_id}\0{source}".encode("utf-8", "surrogatepass")
        key = f"cold.{sha256(bound).hexdigest()[:16]}"
        self.store.put(self.session_id, key, source)
        self.granted[key] = len(source)
        return key

    def open(self, ref: str) -> str:
        """Return the text that a reference, `$cold.…` or `cold.…`, stands for.

        Raises: ProtocolError: E5002, it was not handed out in this session; E2001, the store has lost it.
        """
        key = ref.strip().removeprefix("$")
        if key not in self.granted:
            raise ProtocolError(
                f"expected a reference of this session, got {ref[:100]!r}", code=ErrorCode.UNAUTHORIZED_REF
            )
        text = self.store.get(self.session_id, key)
        if text is None:
            raise ProtocolError(f"expected a stored text under {ref!r}, found none", code=ErrorCode.REF_NOT_FOUND)
        return text

    def close(self) -> None:
        """Forget everything: nobody can ask for it any more."""
        self.store.purge(self.session_id)
        self.granted.clear()

    def shorten(
        self, source: str, view: View | None, *, limit: int, request: str, counter: TokenCounter
    ) -> tuple[str, str]:
        """Return at most `limit` tokens of a text, and the key under which all of it stands."""
        key = self.keep(source)
        head = source[:_HEAD]
        whole = view if len(head) == len(source) else None
        return preview(
            head, limit=limit, opening=f"accp_fetch ${key}", request=request, counter=counter, view=whole
        ), key


def answer_fetch(shelf: Shelf, arguments: Any, *, limit: int, counter: TokenCounter) -> Json:
    """Return the result of a call of `accp_fetch`; a refusal begins with its code."""
    try:
        request = read_request(arguments)
        text = answer(shelf.open(request.ref), request, limit=limit, counter=counter)
    except ProtocolError as refusal:
        return tool_result([text_block(str(refusal))], is_error=True)
    return tool_result([text_block(text)])


def read_cold(shelf: Shelf, uri: str, *, is_modern: bool) -> Json:
    """Return the result of resources/read of `accp://cold/<key>`: the text as the tool gave it.

    Raises: ProtocolError: as `Shelf.open`.
    """
    key = uri.removeprefix(COLD_URI)
    contents = [{"uri": uri, "mimeType": "text/plain", "text": shelf.open(f"cold.{key.removeprefix('cold.')}")}]
    if not is_modern:
        return {"contents": contents}
    return {"resultType": "complete", "contents": contents, "ttlMs": 0, "cacheScope": "private"}


def cold_resources(shelf: Shelf) -> list[Json]:
    """Return how the references of a session are listed among the server's resources."""
    return [
        {"uri": f"{COLD_URI}{key}", "name": key, "mimeType": "text/plain", "size": size}
        for key, size in shelf.granted.items()
    ]
