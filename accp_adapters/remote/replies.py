"""The reply of a remote agent: its checks, and its long results, which the agent stored (ACI sections 2.1 and 4.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeAlias

from accp_core.aci import AcceptedReply, AgentContext, AgentReply
from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import find_references, is_named, uri_to_key

__all__ = ["MAX_OPENED", "AgentResult", "accept", "check_agent", "reply_with", "with_stored_results"]

MAX_OPENED: Final = 100
"""Requests that an agent may make in one delivery, and long results that one reply may have."""


AgentResult: TypeAlias = AgentContext | AgentReply | str
"""The result of an agent: its context, a reply with the whole of long results, or words as `brief` asks for them."""


def check_agent(context: AgentContext, agent_id: str) -> None:
    """Refuse the context of another agent.

    Raises:
        ProtocolError: E5001.
    """
    if context.agent_id != agent_id:
        reason = f"expected a context of agent {agent_id!r}, found one of {context.agent_id!r}"
        raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)


def reply_with(context: AgentContext, sent: AgentContext) -> AgentReply:
    """Return the reply with a context that came back; its new references are to texts that the agent stored itself."""
    return AgentReply(context=context, stored=[uri for uri in context.context_uri if uri not in sent.context_uri])


def accept(sent: AgentContext, reply: AgentReply) -> AcceptedReply:
    """Return the reply after its checks.

    Raises:
        ProtocolError: As `AcceptedReply.of`; E2003, it cites too many long results.
    """
    accepted = AcceptedReply.of(sent, reply)
    if len(accepted.stored) > MAX_OPENED:
        reason = f"expected at most {MAX_OPENED} long results, found {len(accepted.stored)!r}"
        raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    return accepted


async def with_stored_results(
    sent: AgentContext, accepted: AcceptedReply, stored_text: Callable[[str], Awaitable[str]]
) -> AcceptedReply:
    """Return a reply with the texts that the agent stored in place of its references.

    Args:
        sent: The context that was delivered.
        accepted: The reply.
        stored_text: Returns the text that the agent stored under a key.
    """
    full = {**accepted.full, **await _stored_results(accepted, stored_text)}
    short = {item_id: text for item_id, text in full.items() if len(text) <= MAX_ABSTRACT_CHARS}
    entries = (
        replace(entry, output_abstract=short.get(entry.item_id, entry.output_abstract))
        for entry in accepted.context.key_information
    )
    context = replace(accepted.context, key_information=tuple(entries), context_uri=sent.context_uri)
    long = {item_id: text for item_id, text in full.items() if item_id not in short}
    return AcceptedReply(context=context, full=long)


async def _stored_results(accepted: AcceptedReply, stored_text: Callable[[str], Awaitable[str]]) -> dict[str, str]:
    """Return itemId to the text that the agent stored for it, for each abstract that cites one."""
    texts: dict[str, str] = {}
    for key in filter(None, map(uri_to_key, accepted.stored)):
        entries = accepted.context.key_information
        citing = [entry.item_id for entry in entries if is_named(key, find_references(entry.output_abstract))]
        if citing:
            texts |= dict.fromkeys(citing, await stored_text(key))
    return texts
