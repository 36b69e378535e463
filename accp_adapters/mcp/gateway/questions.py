"""What servers ask the client and tell it, once the client is ready; each answer goes to the server that asked."""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.mcp.gateway.upstream import Upstream
from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.serving.off_loop import size_of
from accp_core.bounded import BoundedDict

__all__ = ["Questions"]

_LOG: Final = logging.getLogger(__name__)
_MAX_OPEN: Final = 1_000
"""Questions without an answer; the oldest is forgotten."""
_MAX_HELD: Final = 1 << 20
"""Characters of the messages before the client's `notifications/initialized`; what comes beyond is dropped."""
_MAX_IDENTITY: Final = 1_000
"""Characters of the id and the token of a question; one with longer ones is dropped."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A request of a server that the client has not answered."""

    upstream: Upstream
    identity: Any
    """Its id at the server."""
    token: Any
    """The progress token that the server gave it; None: none."""


class Questions:
    """The requests of all servers of one client, under ids of the gateway's own."""

    def __init__(self, deliver: Callable[[JsonObject], Awaitable[None]]) -> None:
        """Send messages to the client by `deliver`."""
        self._deliver = deliver
        self._is_open = False
        self._held: Final[deque[JsonObject]] = deque()
        self._held_size = 0
        self._questions: Final[BoundedDict[str, _Question]] = BoundedDict(_MAX_OPEN)
        self._numbers = itertools.count(1)

    async def open(self) -> None:
        """Send the messages that waited: the client is ready."""
        self._is_open = True
        while self._held:
            await self._deliver(self._held.popleft())

    async def tell(self, message: JsonObject) -> None:
        """Send a message, now or when the client is ready."""
        if self._is_open:
            await self._deliver(message)
        elif (size := self._held_size + 100 + size_of(message, _MAX_HELD)) <= _MAX_HELD:
            self._held.append(message)
            self._held_size = size
        else:
            _LOG.debug("a message is dropped: the client is not ready yet")

    async def ask(self, upstream: Upstream, message: JsonObject) -> None:
        """Send the request `message` of a server."""
        identity = f"{upstream.names.server}-{next(self._numbers)}"
        params = message.get("params")
        given: JsonObject = dict(params) if isinstance(params, dict) else {}
        token = None
        if isinstance(given.get("_meta"), dict) and "progressToken" in given["_meta"]:
            token = given["_meta"]["progressToken"]
            given["_meta"] = {**given["_meta"], "progressToken": identity}
        if message["method"] == "elicitation/create" and not upstream.names.is_bare:
            # The client shows the gateway as the one that asks; a person must see which server it is.
            given["message"] = f"[{upstream.names.server}] {given.get('message', '')}"
        if size_of([message["id"], token], _MAX_IDENTITY) > _MAX_IDENTITY:
            return
        self._questions.put(identity, _Question(upstream, message["id"], token))
        asked = {**message, "id": identity}
        await self.tell({**asked, "params": given} if "params" in message else asked)

    async def answer(self, response: JsonObject) -> None:
        """Send the client's response to the server that asked; one that nobody waits for is dropped."""
        identity = response.get("id")
        question = self._questions.pop(identity, None) if isinstance(identity, str) else None
        if question is None:
            _LOG.debug("a response of the client answers nothing: %r", identity)
            return
        await question.upstream.respond({**response, "id": question.identity})

    async def progress(self, params: Any) -> None:
        """Send the client's progress with an answer to the server that waits for it."""
        token = params.get("progressToken") if isinstance(params, dict) else None
        question = self._questions.get(token) if isinstance(token, str) else None
        if question is not None and question.token is not None:
            await question.upstream.notify("notifications/progress", {**params, "progressToken": question.token})

    async def cancel(self, upstream: Upstream, params: JsonObject) -> None:
        """Tell the client that a server no longer waits for an answer."""
        for identity, question in list(self._questions.items()):
            if question.upstream is upstream and question.identity == params.get("requestId"):
                self._questions.pop(identity, None)
                cancelled = {**params, "requestId": identity}
                await self.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
