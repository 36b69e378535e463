"""Packets of AACP as requests of ACCP, and instructions in English by way of them (AACP section 4, ACCP section 7).

    FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|fields:id,dept
    @ORCH>req:FETCH{dom:HR|return:HR-Agent|p:1|res:emp_salary|fields:[id,dept]|schema:AP}

TASK is the operation, as it stands. A value with commas travels as an array and one that is a whole number as a
number, because either would need quotes or backslashes as text; both come back as the text they were. Medium priority
and our version are the schema's defaults and are not written.
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
"""The parameter that holds DOM."""
OPERATION: Final = re.compile(r"[A-Za-z0-9_]+")
WHOLE: Final = re.compile(r"(?:0|-?[1-9][0-9]{0,14})", re.ASCII)
"""A number that its digits say in one way, and that every reader holds exactly."""

AACP_SCHEMA: Final = Schema(
    name="aacp_packet",
    code="AP",
    version=1,
    fields=(DOMAIN, *ORDER),
    defaults={PRIORITY: 2, VERSION_KEY: VERSION},
    # These two abbreviate other words in ACCP's Table 8; in a packet they are words themselves.
    aliases={"src": "src", "fmt": "fmt"},
)
"""What both ends register: `codec.register_schema(AACP_SCHEMA.name, AACP_SCHEMA)`."""


def packet_to_message(packet: Packet, *, sender: str) -> Message:
    """Return the request that says `packet`; one without priority says 2 (medium), which it means.

    Raises: EncodeError: E1001 for a packet that is not valid, E1004 for a TASK that is no operation and for a field
        that is called "dom".
    """
    said = with_fields(validate(packet, guard=None).check(), **{PRIORITY: packet.priority})
    if not OPERATION.fullmatch(said.task) or DOMAIN in said.fields:
        raise EncodeError(
            f"no request says TASK {said.task!r} with {', '.join(said.fields)}", code=ErrorCode.INVALID_TYPE
        )
    payload: dict[str, Value] = {DOMAIN: said.domain}
    payload |= {key: text_to_value(text) for key, text in said.fields.items()}
    return Message(sender=sender, intent=Intent.REQUEST, operation=said.task, payload=payload, schema=AACP_SCHEMA.code)


def message_to_packet(message: Message) -> Packet:
    """Return the packet that a request says.

    Raises: EncodeError E1001 when what it says is not valid; ProtocolError: E1003 for a message of another schema,
        E1002 when it is no request, E1004 for a value that no packet has.
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
    """Return the request that says an instruction in English; `encoder` makes its packet.

    Raises: whatever `encoder` raises, and what `packet_to_message` raises for its answer.
    """
    text = encoder(english, domain=domain, return_agent=return_agent, priority=priority)
    return packet_to_message(validate(text, guard=None).check(), sender=sender)


def text_to_value(text: str) -> Value:
    """Return the value of a field's text: an array where there are commas, numbers where they are whole."""
    items: list[Value] = [int(item) if WHOLE.fullmatch(item) else item for item in text.split(",")]
    return items if len(items) > 1 else items[0]


def value_to_text(key: str, value: Value) -> str:
    """Return the text of a field.

    Raises: ProtocolError E1004 for what is neither text nor a whole number nor an array of them.
    """
    items = value if isinstance(value, (list, tuple)) else [value]
    if any(not isinstance(item, str) and type(item) is not int for item in items) or not items:
        raise ProtocolError(f"{key}: expected text or whole numbers, found {value!r}", code=ErrorCode.INVALID_TYPE)
    return ",".join(map(str, items))
