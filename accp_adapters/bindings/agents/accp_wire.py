"""The wire of a `RemoteAgent` to an agent behind `accp serve` (ACI section 5.3).

The context leaves in a `req:execute` frame and comes back in `done:execute`.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from accp_adapters.bindings.accp.client_session import ClientSession
from accp_adapters.bindings.accp.connect import ClientOptions, connect
from accp_adapters.bindings.agents.context_messages import TextAnswer, TextWanted, ask_message, text_in
from accp_adapters.remote import MAX_OPENED, PeerAnswer, ReferenceRequest, SharedTexts
from accp_adapters.remote.replies import reply_with
from accp_adapters.tokens import o200k_base
from accp_core.accp import PRACTICAL_LIMITS, Codec
from accp_core.aci import AgentContext, AgentReply
from accp_core.bridges.aci_in_accp import delivery_message, read_context
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["AccpWire"]


class AccpWire:
    """The way to an agent at an ACCP URL; each connection has a session of its own, which outlives lost connections."""

    def __init__(
        self,
        url: str,
        *,
        caller: str = "master",
        codec: Codec | None = None,
        options: ClientOptions | None = None,
        **connection: Any,
    ) -> None:
        """Reach the agent at a URL.

        Args:
            url: An http(s) or ws(s) URL, as `connect` takes it.
            caller: The agent in whose name contexts are sent; the server may allow others to its principal only.
            codec: Encodes and decodes; None: one whose frames may hold long texts.
            options: Limits and times of the connection.
            connection: `token` and `tls`, as `connect` takes them.
        """
        self._url = url
        self._connection: Final = {**connection, "agent_id": caller}
        self._codec = codec
        self._options: Final = replace(options or ClientOptions(), timeout=None)

    @asynccontextmanager
    async def connect(self, agent_id: str, seconds: float) -> AsyncIterator[_AccpConnection]:
        """Connect; reconnections end when the caller's time ends."""
        codec = self._codec or Codec(counter=o200k_base(), limits=PRACTICAL_LIMITS)
        async with connect(self._url, codec=codec, options=self._options, **self._connection) as session:
            yield _AccpConnection(session)


class _AccpConnection:
    """One session with the agent."""

    def __init__(self, session: ClientSession) -> None:
        self._session: Final = session

    async def deliver(self, context: AgentContext, texts: SharedTexts) -> tuple[AgentReply, str]:
        """Deliver a context, give the agent the texts that it waits for, and return its reply."""
        delivery, opened = secrets.token_hex(12), 0
        message = delivery_message(context, sender="", correlation_id=delivery)
        async with aclosing(self._session.stream(message)) as parts:
            async for part in parts:
                wanted = TextWanted.read(part)
                if wanted is None:
                    return reply_with(read_context(part)[0], context), delivery
                opened += 1
                if opened > MAX_OPENED:
                    reason = f"expected an agent that opens at most {MAX_OPENED} references, found more"
                    raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
                for piece in (await _answer(texts, wanted, delivery)).in_pieces():
                    await self._session.request(piece.to_message())
        raise ProtocolError("expected an answer, found the end of a stream", code=ErrorCode.INVALID_TYPE)

    async def ask(self, request: ReferenceRequest, delivery: str) -> PeerAnswer:
        """Return the agent's answer about what it stored in a delivery."""
        answer = await self._session.request(ask_message(request, delivery))
        return PeerAnswer(text_in(answer.payload, "data"), True)


async def _answer(texts: SharedTexts, wanted: TextWanted, delivery: str) -> TextAnswer:
    """Return the text that an agent waits for, or the refusal."""
    try:
        return TextAnswer(delivery=delivery, number=wanted.number, text=await texts.answer(wanted.request))
    except ProtocolError as refusal:
        return TextAnswer(delivery=delivery, number=wanted.number, refusal=refusal)
