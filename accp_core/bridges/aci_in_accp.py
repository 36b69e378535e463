"""ACI contexts as ACCP messages: delivery, progress and completion (ACI section 5.3, ACCP sections 4 and 5.4).

    master → agent   req:execute{agent|subtask|name|refs|todo_1|…|v}   the context and its version
    agent → master   sync:state{v|delta:{state_1|info_1}}              progress since the version before
    agent → master   done:execute{agent|subtask|state_1|info_1|refs}   only what the agent may change

The correlation_id is the id of the delivery. References are sent as text (`$cold.x`, escaped), because they are grants:
a session that resolved them would put the full results into the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from accp_core.accp import Envelope, Intent, Message, Ref, Value
from accp_core.aci.contexts import AgentContext
from accp_core.aci.items import Json, violation
from accp_core.aci.reply import context_to_fields, diff_contexts, fields_to_context, patch_context
from accp_core.error_codes import ErrorCode
from accp_core.references import reference_to, uri_to_reference

__all__ = ["apply_update", "completion_message", "delivery_message", "read_context", "update_message"]

EXECUTE: Final = "execute"
STATE: Final = "state"
_VERSION: Final = "version"


def delivery_message(context: AgentContext, *, sender: str, correlation_id: str, version: int = 1) -> Message:
    """Return the message that delivers `context`, which must have passed `isolate`."""
    return Message(
        sender=sender,
        intent=Intent.REQUEST,
        operation=EXECUTE,
        payload={**_to_wire(context_to_fields(context)), _VERSION: version},
        envelope=Envelope(correlation_id=correlation_id),
    )


def update_message(
    old: AgentContext | None, new: AgentContext, *, sender: str, correlation_id: str, version: int
) -> Message:
    """Return the message that updates a receiver from `old` to `new`.

    Args:
        old: The context that the receiver has, of the version before; None: the message holds the whole context.
        new: The context now.
        sender: The sender of the message.
        correlation_id: The id of the delivery.
        version: The version of `new`.
    """
    payload: dict[str, Value] = {_VERSION: version}
    if old is None:
        payload["context"] = _to_wire(context_to_fields(new))
    else:
        payload["delta"] = _to_wire(diff_contexts(old, new))
    return Message(
        sender=sender,
        intent=Intent.SYNCHRONIZE,
        operation=STATE,
        payload=payload,
        envelope=Envelope(correlation_id=correlation_id),
    )


# "The decoder reconstructs full state by applying deltas to the last checkpoint." (ACCP section 5.4)
def apply_update(known: AgentContext, version: int, message: Message) -> AgentContext | None:
    """Return the context after a `sync:state` message, None where an earlier update is missing.

    Args:
        known: The context that the receiver has.
        version: The version of `known`.
        message: The update.

    Raises:
        ProtocolError: E1004, the message is no update; as `fields_to_context`.
    """
    number, delta = message.payload.get(_VERSION), message.payload.get("delta")
    if (message.intent, message.operation) != (Intent.SYNCHRONIZE, STATE) or type(number) is not int:
        raise violation(
            ErrorCode.INVALID_TYPE, "sync:state with a version", f"{message.intent.value}:{message.operation}"
        )
    if "context" in message.payload:
        return fields_to_context(_from_wire(message.payload["context"]))
    if not isinstance(delta, Mapping):
        raise violation(ErrorCode.INVALID_TYPE, "a delta or a context", list(message.payload))
    return patch_context(known, _from_wire(delta)) if number == version + 1 else None


def completion_message(reply: AgentContext, *, sent: AgentContext, sender: str, correlation_id: str) -> Message:
    """Return the message that answers a delivery, with those fields of `reply` that an agent may change.

    Args:
        reply: The context that the agent returns.
        sent: The context that was delivered to it.
        sender: The sender of the message.
        correlation_id: The id of the delivery.
    """
    own = replace(
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
        payload=_to_wire(context_to_fields(own)),
        envelope=Envelope(correlation_id=correlation_id),
    )


def read_context(message: Message) -> tuple[AgentContext, int]:
    """Return the context of a delivery or of its completion, and its version, 1 where the message has none.

    The context of a completion is unchecked: pass it to `Interaction.receive` or `AcceptedReply.of`.

    Raises:
        ProtocolError: E1004, it is another message; as `fields_to_context`.
    """
    if message.operation != EXECUTE or message.intent not in (Intent.REQUEST, Intent.COMPLETE):
        raise violation(
            ErrorCode.INVALID_TYPE, "req:execute or done:execute", f"{message.intent.value}:{message.operation}"
        )
    version = message.payload.get(_VERSION, 1)
    if type(version) is not int or version < 1:
        raise violation(ErrorCode.INVALID_TYPE, "a version from 1", version)
    return fields_to_context(_from_wire(message.payload)), version


def _to_wire(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields with references as frames write them."""
    refs = fields.get("refs")
    if not isinstance(refs, list):
        return dict(fields)
    return {**fields, "refs": [uri_to_reference(uri) for uri in refs]}


def _from_wire(fields: Json) -> Json:
    """Return the fields with references as text, where a peer wrote them as references of the frame."""
    if not isinstance(fields, Mapping) or not isinstance(fields.get("refs"), (list, tuple)):
        return fields
    return {**fields, "refs": [reference_to(ref.key) if isinstance(ref, Ref) else ref for ref in fields["refs"]]}
