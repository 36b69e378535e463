"""How `accp mcp` reaches a server: a command that the SDK starts and stops, or a URL.

The lines of a command are read here. The SDK's reader copies a line with each piece that comes and parses it on the
event loop; and over HTTP, what the clients ask for at once could take more memory than there is.
"""

from __future__ import annotations

import codecs
import json
import logging
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, Final, TypeAlias
from weakref import WeakValueDictionary

from anyio import CapacityLimiter
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.message import SessionMessage

from accp_adapters.mcp.messages import JsonObject
from accp_adapters.mcp.sdk import message_of
from accp_adapters.serving.limits import weight_of
from accp_adapters.serving.threads import OWNER, off_loop

try:
    from mcp_types import jsonrpc_message_adapter

    IS_SDK_1 = False
except ImportError:
    from mcp.types import JSONRPCMessage
    from pydantic import TypeAdapter

    jsonrpc_message_adapter: Any = TypeAdapter(JSONRPCMessage)  # type: ignore[no-redef]
    IS_SDK_1 = True

__all__ = ["CLOSED", "IS_SDK_1", "Streams", "Upstream", "item_of"]

Streams: TypeAlias = tuple[Any, Any]
"""A read stream and a write stream of an SDK."""

CLOSED: Final = -32000
"""The code of an error for a request that gets no answer."""
_LOG: Final = logging.getLogger(__name__)
_BAD_LINES: Final = count(1)
"""Counts lines of servers that are no messages."""
_SMALL: Final = 1 << 16
"""Bytes of memory beyond which a message needs a place."""
_LARGEST: Final = 32 << 20
"""Bytes of memory that a message may take over HTTP: about 16 MB of text, or 4 MB of rows."""
_KEPT_OF_LONG: Final = 4_096
"""Bytes that are kept of each end of a line that is too long: the id of an answer stands there."""
_AROUND: Final = re.compile(
    rb'(\s*\{[^{\[]*"result"\s*:).*?((?:,\s*"\w+"\s*:\s*(?:-?\d+|"[^"\\]*")\s*)*\}\s*)\Z', re.DOTALL
)
"""What stands before and behind the result of an answer."""
_PIECES: Final = "accp_pieces"
"""The name of the encoding by which the SDK reads the output of a server."""
_PLACES: Final = CapacityLimiter(2)
"""For messages that take much memory, until they are passed on; a principal has one of them."""
_OWN_PLACES: Final = WeakValueDictionary[str, CapacityLimiter]()


@dataclass(frozen=True, kw_only=True)
class Upstream:
    """How one server is reached: a command, or a URL with header fields."""

    command: Sequence[str] = ()
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Streams]:
        """Start the command, which has the environment of this process, or connect to the URL.

        Raises:
            OSError: The command cannot be started.
        """
        if not self.url:
            program, *arguments = self.command
            parameters = StdioServerParameters(command=program, args=arguments, env={**os.environ}, encoding=_PIECES)
            async with stdio_client(parameters) as (pieces, write):
                yield _messages(pieces), write
            return
        async with (
            create_mcp_http_client(headers=dict(self.headers)) as client,
            streamable_http_client(self.url, http_client=client) as (read, write, *_),
        ):
            yield read, write


def item_of(message: JsonObject | bytes, metadata: Any = None) -> Any:
    """Return what the streams of the installed SDK, 1.x or 2.x, take for a message, which may be a line of JSON.

    Raises:
        ValueError: It is no message of JSON-RPC, or nests too deep for the SDK.
    """
    is_line, options = isinstance(message, bytes), {} if IS_SDK_1 else {"by_name": False}
    validate: Any = jsonrpc_message_adapter.validate_json if is_line else jsonrpc_message_adapter.validate_python
    return SessionMessage(validate(message, **options), metadata)


class _Pieces(codecs.IncrementalDecoder):
    """Hands on the bytes of a server as they come, through the SDK's reader of lines: each piece as a message."""

    def decode(self, data: Any, final: bool = False) -> str:
        piece = json.dumps(data.decode("latin-1"))
        return f'{{"jsonrpc":"2.0","method":"piece","params":{{"bytes":{piece}}}}}\n' if data else ""


def _find_pieces(name: str) -> codecs.CodecInfo | None:
    codec = codecs.CodecInfo(codecs.utf_8_encode, codecs.utf_8_decode, incrementaldecoder=_Pieces, name=_PIECES)
    return codec if name == _PIECES else None


codecs.register(_find_pieces)


class _Line:
    """A line of a server as it comes. Over HTTP, only the ends are kept of one that is too long."""

    def __init__(self) -> None:
        self._text: Final = bytearray()
        self.size = 0
        """How many bytes have come."""
        self.has_place = False

    def add(self, piece: bytes) -> None:
        self._text.extend(piece)
        self.size += len(piece)
        if OWNER.get() and self.size > _LARGEST // 2:
            del self._text[_KEPT_OF_LONG:-_KEPT_OF_LONG]

    @cached_property
    def weight(self) -> int:
        """About the bytes of memory that its message takes."""
        return max(2 * self.size, weight_of(self._text.decode("latin-1")))

    def item(self) -> Any:
        """Return its message as an item of a stream, an error in place of an answer that cannot be read, or None."""
        reason = f"expected an answer of at most {_LARGEST:,} bytes of memory, found {self.weight:,}: ask for less"
        if not OWNER.get() or self.weight <= _LARGEST:
            try:
                return item_of(bytes(self._text))
            except ValueError:
                reason = "expected an answer that the SDK of MCP reads, found another one"
        ends = self._text[:_KEPT_OF_LONG] + self._text[-_KEPT_OF_LONG:]
        try:
            answer = json.loads(_AROUND.sub(rb"\g<1>0\g<2>", ends))
            return item_of({"jsonrpc": "2.0", "id": answer["id"], "error": {"code": CLOSED, "message": reason}})
        except (ValueError, TypeError, KeyError, RecursionError):
            if (number := str(next(_BAD_LINES))).strip("0") == "1":
                _LOG.error("a server printed a line that is no message on its standard output (%s so far)", number)
        return None


async def _messages(pieces: Any) -> AsyncIterator[Any]:
    """Yield what a server says, as items of a stream; one counts as passed on once the next one is asked for."""
    line = _Line()
    async with AsyncExitStack() as places:
        async for piece in pieces:
            data = message_of(piece)["params"]["bytes"].encode("latin-1")  # type: ignore[index]
            for part in data.splitlines(keepends=True):
                line.add(part)
                is_whole = part.endswith(b"\n")
                if not line.has_place and (line.weight if is_whole else line.size) > _SMALL:
                    await places.enter_async_context(_OWN_PLACES.setdefault(OWNER.get(), CapacityLimiter(1)))
                    await places.enter_async_context(_PLACES)
                    line.has_place = True
                if is_whole:
                    if (item := await off_loop(line.size, line.item)) is not None:
                        yield item
                    item, line = None, _Line()  # both may be large
                    await places.aclose()
