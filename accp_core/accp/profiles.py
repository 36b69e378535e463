"""The schemas that everybody has, and what messages of each must hold (ACCP sections 3.6, 6.2 and 10)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

from accp_core.accp.frame import Envelope, Ref
from accp_core.accp.message import Message
from accp_core.accp.schema import Schema, SchemaRegistry
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError, ProtocolError

__all__ = [
    "BUILT_IN",
    "PINNED",
    "ErrorReport",
    "ToolSignature",
    "Transactions",
    "check_fields",
    "check_incoming",
    "check_outgoing",
    "check_tool_call",
    "error_message",
    "read_error",
    "reply_correlation",
    "tool_error",
]


def schema(
    name: str, code: str, fields: str, defaults: Mapping[str, Any], aliases: str = "", *, version: int = 1
) -> Schema:
    """Return a schema; `aliases` reads "tool=tool_name args=arguments"."""
    pairs = dict(alias.split("=") for alias in aliases.split())
    return Schema(name=name, code=code, version=version, fields=tuple(fields.split()), defaults=defaults, aliases=pairs)


BUILT_IN: Final = SchemaRegistry(
    version=1,
    schemas=(
        schema(
            "sales_report",
            "SR",
            "period revenue growth_pct segments notes",
            {"period": "quarterly", "segments": []},
        ),
        schema(
            "task_assignment",
            "TA",
            "assignee task priority deadline deps",
            {"priority": "medium", "deps": []},
            "asgn=assignee dead=deadline pri=priority stat=status prog=progress",
            version=2,
        ),
        schema("chat", "CH", "role content turn lang reply_to", {"role": "assistant", "lang": "en"}),
        schema(
            "tool_call",
            "TC",
            "tool_name arguments result status error_code",
            {"status": "ok"},
            "tool=tool_name args=arguments res=result stat=status",
        ),
        schema(
            "transaction",
            "TX",
            "transaction_id amount currency account reference status retryable",
            {"currency": "USD", "status": "pending", "retryable": False},
            "txn=transaction_id amt=amount acc=account stat=status retry=retryable",
        ),
        schema(
            "stream",
            "ST",
            "chunk_index total_chunks data is_final",
            {"is_final": False},
            "idx=chunk_index tot=total_chunks d=data done=is_final",
        ),
        schema("error", "ER", "code message retryable detail", {}, "msg=message retry=retryable"),
    ),
)
"""The registry that a session starts with; a harness registers its own schemas on top."""

PINNED: Final = frozenset(schema.code for schema in BUILT_IN.schemas)
"""The codes that no peer may redefine: the rules below stand on them."""


def is_number(value: object) -> bool:
    """Return whether `value` is an integer or a decimal."""
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def is_boolean(value: object) -> bool:
    """Return whether `value` is true or false."""
    return isinstance(value, bool)


def is_text(value: object) -> bool:
    """Return whether `value` is a string."""
    return isinstance(value, str)


def is_count(value: object) -> bool:
    """Return whether `value` is an integer from 0."""
    return type(value) is int and value >= 0


@dataclass(frozen=True, slots=True)
class Kind:
    """What a field must be."""

    name: str
    accepts: Callable[[object], bool]


NUMBER: Final = Kind("a decimal", is_number)
BOOLEAN: Final = Kind("a boolean", is_boolean)
TEXT: Final = Kind("text", is_text)
COUNT: Final = Kind("a whole number from 0", is_count)

# "`amount` MUST be serialized as decimal (not string) to avoid precision loss." (section 10.3) A whole number
# loses nothing either. A transaction_id that is no text could not be compared over retries.
FIELD_KINDS: Final[Mapping[str, Mapping[str, Kind]]] = MappingProxyType(
    {
        "TX": {"amount": NUMBER, "transaction_id": TEXT, "retryable": BOOLEAN},
        "ST": {"chunk_index": COUNT, "total_chunks": COUNT, "is_final": BOOLEAN},
        "ER": {"code": TEXT, "retryable": BOOLEAN},
    }
)
"""Schema code to field to what it must be, where it is present; every other field may be any value."""


def check_fields(message: Message) -> None:
    """Refuse a message whose fields are not of the types its schema wants; a reference may be anything.

    Raises: ProtocolError E1004 with the name of the field.
    """
    for name, kind in FIELD_KINDS.get(message.schema or "", {}).items():
        value = message.payload.get(name, kind)
        if value is not kind and not isinstance(value, Ref) and not kind.accepts(value):
            raise ProtocolError(f"{message.schema}.{name} is {kind.name}", code=ErrorCode.INVALID_TYPE)


LONGEST_ID: Final = 64
"""Characters of an id that is remembered as it is."""


class Transactions:
    """Which transaction each request chain is about; remembers the last ones only (section 10.3)."""

    def __init__(self, *, most: int = 1_000) -> None:
        """Remember at most `most` chains."""
        self._most = most
        self._chains: OrderedDict[str, str] = OrderedDict()
        self._frames: OrderedDict[tuple[str, str], None] = OrderedDict()

    # "`transaction_id` MUST be stable across retries (idempotency key)."
    # "Retries MUST use the same `transaction_id` with a new `msg_id`."
    def check(self, message: Message) -> None:
        """Remember a TX request, or refuse it as a wrong retry of one before; other messages pass.

        Raises: ProtocolError E5001 when the chain was about another transaction, E3002 when a retry has the
            msg_id of the frame it repeats.
        """
        named = message.payload.get("transaction_id")
        if message.schema != "TX" or message.intent is not Intent.REQUEST or not isinstance(named, str):
            return
        transaction, msg_id = short(named), short(message.envelope.msg_id)
        chain = short(reply_correlation(message.envelope))
        if chain and self._chains.get(chain, transaction) != transaction:
            raise ProtocolError("a retry keeps its transaction_id", code=ErrorCode.POLICY_DENIED)
        if msg_id and (transaction, msg_id) in self._frames:
            raise ProtocolError("a retry has a new msg_id", code=ErrorCode.DUPLICATE)
        self._remember(chain, transaction, msg_id)

    def _remember(self, chain: str, transaction: str, msg_id: str) -> None:
        if chain:
            self._chains[chain] = transaction
        if msg_id:
            self._frames[transaction, msg_id] = None
        for memory in (self._chains, self._frames):
            if len(memory) > self._most:
                memory.popitem(last=False)


def short(word: str | None) -> str:
    """Return an id, or a digest of one that is too long to remember; nothing for none."""
    if word is None or len(word) <= LONGEST_ID:
        return word or ""
    return sha256(word.encode("utf-8", "surrogatepass")).hexdigest()


# "Tool calls MUST include `correlation_id` in the response to link result to request." (section 10.2)
# "All chunks in a stream MUST share the same `correlation_id`." (section 10.4)
def check_correlation(message: Message) -> None:
    """Refuse a tool's answer or a chunk that says not what it belongs to."""
    answers = message.schema == "TC" and message.intent in (Intent.COMPLETE, Intent.FAILURE)
    if (answers or message.schema == "ST") and message.envelope.correlation_id is None:
        raise ProtocolError(f"{message.schema}: a correlation_id is missing", code=ErrorCode.PARSE_ERROR)


def check_incoming(message: Message, transactions: Transactions | None = None) -> None:
    """Refuse a message of a peer, with its envelope, that its profile does not allow.

    Raises: ProtocolError: E1001 for a missing correlation_id, E1004 for a field of the wrong type, E3002 and
        E5001 for a retry that is another transaction.
    """
    check_fields(message)
    check_correlation(message)
    if transactions is not None:
        transactions.check(message)


def check_outgoing(message: Message, transactions: Transactions | None = None) -> None:
    """Refuse a message of ours, with its envelope, that its profile does not allow.

    Raises: LocalProtocolError with the codes of `check_incoming`, and E4003 for a tool's failure that is no
        error frame.
    """
    try:
        check_incoming(message, transactions)
        # "Tool errors MUST use schema `ER` with code E4002 TOOL_EXEC_FAILED." (section 10.2)
        if message.schema == "TC" and message.intent is Intent.FAILURE:
            raise ProtocolError("a tool fails with schema ER", code=ErrorCode.TOOL_SCHEMA_MISMATCH)
    except ProtocolError as error:
        raise LocalProtocolError(error.reason, code=error.code) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSignature:
    """The arguments that a tool takes."""

    required: frozenset[str] = frozenset()
    """Those that a call must have."""
    optional: frozenset[str] = frozenset()
    """Those that it may have besides."""


def check_tool_call(message: Message, tools: Mapping[str, ToolSignature]) -> None:
    """Refuse a TC request that no tool can answer; `tools` is tool name to signature.

    Raises: ProtocolError: E4001 for an unknown tool, E4003 for arguments that are not the tool's.
    """
    signature = tools.get(str(message.payload.get("tool_name", "")))
    if signature is None:
        raise ProtocolError("no such tool", code=ErrorCode.TOOL_NOT_FOUND)
    arguments = message.payload.get("arguments", {})
    if not isinstance(arguments, Mapping):
        raise ProtocolError("the arguments of a tool are a map", code=ErrorCode.TOOL_SCHEMA_MISMATCH)
    missing = signature.required - set(arguments)
    unknown = set(arguments) - signature.required - signature.optional
    if missing or unknown:
        reason = f"arguments missing: {sorted(missing)}, unknown: {sorted(unknown)}"
        raise ProtocolError(reason, code=ErrorCode.TOOL_SCHEMA_MISMATCH)


def reply_correlation(envelope: Envelope) -> str | None:
    """Return the correlation_id of an answer (Correlation Identifier): that of the request, else its msg_id."""
    return envelope.correlation_id if envelope.correlation_id is not None else envelope.msg_id


# "Standard error frames use intent `fail`, operation `error`, and schema `ER`." (section 3.6)
def error_message(
    sender: str, code: ErrorCode, reason: str, *, correlation_id: str | None = None, detail: Any = None
) -> Message:
    """Return the message that refuses a frame; it may be repeated when Table 6 says so of `code`."""
    payload: dict[str, Any] = {"code": code.value, "message": reason, "retryable": code.retryable}
    return Message(
        sender=sender,
        intent=Intent.FAILURE,
        operation="error",
        payload=payload if detail is None else {**payload, "detail": detail},
        schema="ER",
        envelope=Envelope(correlation_id=correlation_id),
    )


def tool_error(sender: str, request: Message, reason: str, *, detail: Any = None) -> Message:
    """Return the answer to a TC request whose tool failed."""
    correlation_id = reply_correlation(request.envelope)
    return error_message(sender, ErrorCode.TOOL_EXEC_FAILED, reason, correlation_id=correlation_id, detail=detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport:
    """What an error frame says."""

    code: str
    """As it stands; peers may have codes that Table 6 has not."""
    message: str
    """For a person."""
    retryable: bool
    """What the frame says, else what Table 6 says, else False."""
    detail: Any = field(default=None)
    """Anything that helps; None where there is nothing."""


def read_error(message: Message) -> ErrorReport | None:
    """Return what an error frame says, None for any other message; a domain failure without ER is another one."""
    if message.intent is not Intent.FAILURE or message.schema != "ER":
        return None
    payload = message.payload
    code = str(payload.get("code", ErrorCode.INTERNAL_ERROR.value))
    known = code in set(ErrorCode) and ErrorCode(code).retryable
    return ErrorReport(
        code=code,
        message=str(payload.get("message", "")),
        retryable=bool(payload.get("retryable", known)),
        detail=payload.get("detail"),
    )
