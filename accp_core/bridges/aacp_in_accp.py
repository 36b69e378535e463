"""AACP packets as ACCP requests, and instructions in English as such packets (AACP section 4, ACCP section 7).

    FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|fields:id,dept
    @ORCH>req:FETCH{dom:HR|return:HR-Agent|p:1|res:emp_salary|fields:[id,dept]|schema:AP}

TASK becomes the operation, unchanged. A value with commas is sent as an array and a whole number as a number, because
as texts they would need quotes or backslashes; both are read back as the same text. Medium priority and our version are
defaults of the schema and are not written.
"""

from __future__ import annotations

import re
from typing import Final

from accp_core.aacp.packet import Packet, canonical, with_fields
from accp_core.aacp.validation import validate
from accp_core.aacp.vocabulary import ORDER, PRIORITY, VERSION, VERSION_KEY
from accp_core.accp import Intent, Message, Schema, Value
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError
from accp_core.ports import InstructionEncoder

__all__ = ["AACP_SCHEMA", "instruction_to_message", "message_to_packet", "packet_to_message"]

DOMAIN: Final = "dom"
"""The parameter for DOM."""
OPERATION: Final = re.compile(r"[A-Za-z0-9_]+")
WHOLE_NUMBER: Final = re.compile(r"(?:0|-?[1-9][0-9]{0,14})", re.ASCII)
"""A whole number that has only this spelling and that every reader holds exactly."""

AACP_SCHEMA: Final = Schema(
    name="aacp_packet",
    code="AP",
    version=1,
    fields=(DOMAIN, *ORDER),
    defaults={PRIORITY: 2, VERSION_KEY: VERSION},
    # In ACCP's Table 8 these two abbreviate other words; in a packet they are keys themselves.
    aliases={"src": "src", "fmt": "fmt"},
)
"""The schema that both ends register: `codec.register_schema(AACP_SCHEMA.name, AACP_SCHEMA)`."""


def packet_to_message(packet: Packet, *, sender: str) -> Message:
    """Return the request for `packet`; a packet without a priority gets its default, 2 (medium).

    Raises:
        EncodeError: E1001, the packet is not valid; E1004, its TASK is no operation, or a field has the key "dom".
    """
    valid = with_fields(validate(packet, guard=None).check(), **{PRIORITY: packet.priority})
    if not OPERATION.fullmatch(valid.task) or DOMAIN in valid.fields:
        expected = f"a TASK that is an operation, and no field {DOMAIN!r}"
        reason = f"expected {expected}, found {valid.task!r} with {', '.join(valid.fields)}"
        raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
    payload: dict[str, Value] = {DOMAIN: valid.domain}
    payload |= {key: text_to_value(text) for key, text in valid.fields.items()}
    return Message(sender=sender, intent=Intent.REQUEST, operation=valid.task, payload=payload, schema=AACP_SCHEMA.code)


def message_to_packet(message: Message) -> Packet:
    """Return the packet of a request.

    Raises:
        EncodeError: E1001, the packet is not valid.
        ProtocolError: E1003, the message has another schema; E1002, it is no request; E1004, a packet cannot have one
            of its values.
    """
    if message.schema != AACP_SCHEMA.code:
        raise ProtocolError(
            f"expected schema {AACP_SCHEMA.code}, found {message.schema!r}", code=ErrorCode.UNKNOWN_SCHEMA
        )
    if message.intent is not Intent.REQUEST:
        raise ProtocolError(f"expected a request, found {message.intent.value!r}", code=ErrorCode.INVALID_INTENT)
    fields = {key: value_to_text(key, value) for key, value in message.payload.items()}
    packet = Packet(task=message.operation, domain=fields.pop(DOMAIN, ""), fields=fields)
    return canonical(validate(packet, guard=None).check())


# "Sending agent composes a message (natural language or structured)" (ACCP section 2.2)
def instruction_to_message(
    english: str,
    *,
    encoder: InstructionEncoder,
    sender: str,
    domain: str,
    return_agent: str,
    priority: str = "2",
) -> Message:
    """Return the request for an instruction in English.

    Args:
        english: The instruction.
        encoder: Makes its packet; its exceptions are raised unchanged.
        sender: The sender of the message.
        domain: The DOM of the packet.
        return_agent: The agent that receives the result.
        priority: "1" (critical), "2" (medium) or "3" (low).

    Raises:
        EncodeError: As `packet_to_message`.
    """
    text = encoder(english, domain=domain, return_agent=return_agent, priority=priority)
    return packet_to_message(validate(text, guard=None).check(), sender=sender)


def text_to_value(text: str) -> Value:
    """Return the value for the text of a field: an array where it has commas, with whole numbers as numbers."""
    items: list[Value] = [int(item) if WHOLE_NUMBER.fullmatch(item) else item for item in text.split(",")]
    return items if len(items) > 1 else items[0]


def value_to_text(key: str, value: Value) -> str:
    """Return the text of a field for its value.

    Raises:
        ProtocolError: E1004, the value is neither text nor a whole number nor an array of these.
    """
    items = value if isinstance(value, (list, tuple)) else [value]
    if any(not isinstance(item, str) and type(item) is not int for item in items) or not items:
        raise ProtocolError(f"{key}: expected text or whole numbers, found {value!r}", code=ErrorCode.INVALID_TYPE)
    return ",".join(map(str, items))
