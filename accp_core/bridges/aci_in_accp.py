"""Contexts of ACI as messages of ACCP: delivery, progress, result (ACI section 5.3 over ACCP sections 4 and 5.4).

    master → agent   req:execute{agent|subtask|name|refs|todo_1|…|v}   the context, and its version
    agent → master   sync:state{v|delta:{state_1|info_1}}              progress, for who has the version before
    agent → master   done:execute{agent|subtask|state_1|info_1|refs}   what the agent may change, and nothing else

The correlation_id is the id of the delivery. References stand as text (`$cold.x`, escaped), because they are grants:
a session that resolved them would put the full results into the message that was to spare them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from accp_core.accp import Envelope, Intent, Message, Ref, Value
from accp_core.aci.checks import Json, violation
from accp_core.aci.contexts import AgentContext
from accp_core.aci.delta import context_to_fields, diff_contexts, fields_to_context, patch_context
from accp_core.error_codes import ErrorCode
from accp_core.references import reference_to, uri_to_reference

__all__ = ["apply_update", "completion_message", "delivery_message", "read_context", "update_message"]

EXECUTE: Final = "execute"
STATE: Final = "state"
_VERSION: Final = "version"


def delivery_message(context: AgentContext, *, sender: str, correlation_id: str, version: int = 1) -> Message:
    """Return the message that delivers `context`; give it what `isolate` let through, never a TaskContext."""
    return Message(
        sender=sender,
        intent=Intent.REQUEST,
        operation=EXECUTE,
        payload={**_wire(context_to_fields(context)), _VERSION: version},
        envelope=Envelope(correlation_id=correlation_id),
    )


def update_message(
    old: AgentContext | None, new: AgentContext, *, sender: str, correlation_id: str, version: int
) -> Message:
    """Return the message that makes version `version`, `new`, of the one before, `old`; with None it says all of it."""
    payload: dict[str, Value] = {_VERSION: version}
    if old is None:
        payload["context"] = _wire(context_to_fields(new))
    else:
        payload["delta"] = _wire(diff_contexts(old, new))
    return Message(
        sender=sender,
        intent=Intent.SYNCHRONIZE,
        operation=STATE,
        payload=payload,
        envelope=Envelope(correlation_id=correlation_id),
    )


# "The decoder reconstructs full state by applying deltas to the last checkpoint." (ACCP section 5.4)
def apply_update(known: AgentContext, version: int, message: Message) -> AgentContext | None:
    """Return the context after a `sync:state` message; None when the receiver, at `version`, lacks one before it.

    Raises: ProtocolError: E1004 for a message that is no update, and as `fields_to_context`.
    """
    number, delta = message.payload.get(_VERSION), message.payload.get("delta")
    if (message.intent, message.operation) != (Intent.SYNCHRONIZE, STATE) or type(number) is not int:
        raise violation(
            ErrorCode.INVALID_TYPE, "sync:state with a version", f"{message.intent.value}:{message.operation}"
        )
    if "context" in message.payload:
        return fields_to_context(_plain(message.payload["context"]))
    if not isinstance(delta, Mapping):
        raise violation(ErrorCode.INVALID_TYPE, "a delta or a context", list(message.payload))
    return patch_context(known, _plain(delta)) if number == version + 1 else None


def completion_message(reply: AgentContext, *, sent: AgentContext, sender: str, correlation_id: str) -> Message:
    """Return the message that answers a delivery: of `reply` what an agent may change of what was `sent` to it."""
    mine = replace(
        reply,
        agent_name="",
        subtask_name="",
        dependencies=(),
        context=(),
        todo_items=(),
        context_uri=reply.context_uri if set(reply.context_uri) != set(sent.context_uri) else (),
    )
    return Message(
        sender=sender,
        intent=Intent.COMPLETE,
        operation=EXECUTE,
        payload=_wire(context_to_fields(mine)),
        envelope=Envelope(correlation_id=correlation_id),
    )


def read_context(message: Message) -> tuple[AgentContext, int]:
    """Return the context of a delivery or of its completion, and the version; 1 where none is said.

    What a completion says goes through `accept_reply` or `Interaction.receive`, which know what was delivered.

    Raises: ProtocolError: E1004 for another message, E1004 and E2003 as `fields_to_context`.
    """
    if message.operation != EXECUTE or message.intent not in (Intent.REQUEST, Intent.COMPLETE):
        raise violation(
            ErrorCode.INVALID_TYPE, "req:execute or done:execute", f"{message.intent.value}:{message.operation}"
        )
    version = message.payload.get(_VERSION, 1)
    if type(version) is not int or version < 1:
        raise violation(ErrorCode.INVALID_TYPE, "a version from 1", version)
    return fields_to_context(_plain(message.payload)), version


def _wire(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return fields with references as frames spell them."""
    refs = fields.get("refs")
    if not isinstance(refs, list):
        return dict(fields)
    return {**fields, "refs": [uri_to_reference(uri) for uri in refs]}


def _plain(fields: Json) -> Json:
    """Return fields whose references are text, where a peer wrote them as references of the frame."""
    if not isinstance(fields, Mapping) or not isinstance(fields.get("refs"), (list, tuple)):
        return fields
    return {**fields, "refs": [reference_to(ref.key) if isinstance(ref, Ref) else ref for ref in fields["refs"]]}
