"""The built-in schemas, and the rules for messages of each (ACCP sections 3.6, 6.2 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

from accp_core.accp.frame import Envelope, Intent, Message, Ref
from accp_core.accp.schema import Schema, SchemaRegistry
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError, ProtocolError

__all__ = [
    "BUILT_IN", "PINNED", "ErrorReport", "ToolSignature", "Transactions", "check_fields", "check_incoming",
    "check_outgoing", "check_tool_call", "error_message", "read_error", "reply_correlation", "tool_error",
]  # fmt: skip


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
            "sales_report", "SR", "period revenue growth_pct segments notes", {"period": "quarterly", "segments": []}
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
"""The registry with which a session starts; a harness adds its own schemas."""

PINNED: Final = frozenset(schema.code for schema in BUILT_IN.schemas)
"""The codes that no peer may redefine, because the rules below depend on them."""


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
    """Return whether `value` is an integer of at least 0."""
    return type(value) is int and value >= 0


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a field."""

    name: str
    accepts: Callable[[object], bool]


NUMBER: Final = Kind("a decimal", is_number)
BOOLEAN: Final = Kind("a boolean", is_boolean)
TEXT: Final = Kind("text", is_text)
COUNT: Final = Kind("a whole number from 0", is_count)

# "`amount` MUST be serialized as decimal (not string) to avoid precision loss." (section 10.3) A whole number
# loses nothing either. A transaction_id must be text to be compared between retries.
FIELD_KINDS: Final[Mapping[str, Mapping[str, Kind]]] = MappingProxyType(
    {
        "TX": {"amount": NUMBER, "transaction_id": TEXT, "retryable": BOOLEAN},
        "ST": {"chunk_index": COUNT, "total_chunks": COUNT, "is_final": BOOLEAN},
        "ER": {"code": TEXT, "retryable": BOOLEAN},
    }
)
"""Schema code to field to the type of its value; every other field may have any value."""


def check_fields(message: Message) -> None:
    """Check the types of a message's fields; a reference may have any type.

    Raises:
        ProtocolError: E1004, a field has the wrong type.
    """
    for name, kind in FIELD_KINDS.get(message.schema or "", {}).items():
        value = message.payload.get(name, kind)
        if value is not kind and not isinstance(value, Ref) and not kind.accepts(value):
            reason = f"expected {kind.name} as {message.schema}.{name}, found {type(value).__name__}"
            raise ProtocolError(reason, code=ErrorCode.INVALID_TYPE)


MAX_ID_CHARS: Final = 64
"""Characters of an id that is remembered as it is; of a longer one a digest is remembered."""


class Transactions:
    """The transaction of each of the last request chains (section 10.3)."""

    def __init__(self, *, limit: int = 1_000) -> None:
        """Remember at most `limit` chains and `limit` frames."""
        self._chains: BoundedDict[str, str] = BoundedDict(limit)
        self._frames: BoundedDict[tuple[str, str], None] = BoundedDict(limit)
        self._terms: BoundedDict[tuple[str, str], str] = BoundedDict(limit)

    # "`transaction_id` MUST be stable across retries (idempotency key)."
    # "Retries MUST use the same `transaction_id` with a new `msg_id`."
    def check(self, message: Message) -> None:
        """Remember a TX request, if it is not a wrong retry; other messages are accepted.

        Raises:
            ProtocolError: E1001, it has no transaction_id; E5001, its chain has another transaction, or its transaction
                another amount, currency or account; E3002, the retry has the msg_id of the frame that it repeats.
        """
        named = message.payload.get("transaction_id")
        if message.schema != "TX" or message.intent is not Intent.REQUEST or isinstance(named, Ref):
            return
        if not isinstance(named, str) or not named:
            raise ProtocolError("expected a transaction_id in a TX request, found none", code=ErrorCode.PARSE_ERROR)
        transaction, msg_id = _short_id(named), _short_id(message.envelope.msg_id)
        chain = _short_id(reply_correlation(message.envelope))
        if chain and self._chains.get(chain, transaction) != transaction:
            raise ProtocolError("expected the first transaction_id in a retry", code=ErrorCode.POLICY_DENIED)
        purpose, terms = (message.operation, transaction), _terms(message.payload)
        if (known := self._terms.get(purpose, terms)) != terms:
            reason = f"expected the first amount, currency and account ({known}) in a retry, found {terms}"
            raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        if msg_id and (transaction, msg_id) in self._frames:
            raise ProtocolError("expected a new msg_id in a retry", code=ErrorCode.DUPLICATE)
        self._terms.put(purpose, terms)
        self._remember(chain, transaction, msg_id)

    def _remember(self, chain: str, transaction: str, msg_id: str) -> None:
        if chain:
            self._chains.put(chain, transaction)
        if msg_id:
            self._frames.put((transaction, msg_id), None)


def _terms(payload: Mapping[str, Any]) -> str:
    """Return what a retry must not change, as text; a field that is left out has its default."""
    amount, defaults = payload.get("amount"), BUILT_IN.get("TX").defaults
    number = str(Decimal(str(amount)).normalize()) if is_number(amount) else str(amount)
    rest = [str(payload.get(name, defaults.get(name)))[:MAX_ID_CHARS] for name in ("currency", "account")]
    return " ".join([number[:MAX_ID_CHARS], *rest])


def _short_id(name: str | None) -> str:
    """Return an id, or the digest of a long one; "" for None."""
    if name is None or len(name) <= MAX_ID_CHARS:
        return name or ""
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


# "Tool calls MUST include `correlation_id` in the response to link result to request." (section 10.2)
# "All chunks in a stream MUST share the same `correlation_id`." (section 10.4)
def check_correlation(message: Message) -> None:
    """Refuse the answer of a tool and a chunk without a correlation_id."""
    is_answer = message.schema == "TC" and message.intent in (Intent.COMPLETE, Intent.FAILURE)
    if (is_answer or message.schema == "ST") and message.envelope.correlation_id is None:
        reason = f"expected a correlation_id in a message of schema {message.schema}, found none"
        raise ProtocolError(reason, code=ErrorCode.PARSE_ERROR)


def check_incoming(message: Message, transactions: Transactions | None = None) -> None:
    """Check a message of a peer, with its envelope, by the rules of its schema.

    Raises:
        ProtocolError: E1001, its correlation_id is missing; E1004, a field has the wrong type; E3002 or E5001, it is a
            wrong retry of a transaction; E4003, the failure of a tool does not have schema ER.
    """
    check_fields(message)
    check_correlation(message)
    # "Tool errors MUST use schema `ER` with code E4002 TOOL_EXEC_FAILED." (section 10.2)
    if message.schema == "TC" and message.intent is Intent.FAILURE:
        reason = "expected schema ER in the failure of a tool, found TC"
        raise ProtocolError(reason, code=ErrorCode.TOOL_SCHEMA_MISMATCH)
    if transactions is not None:
        transactions.check(message)


def check_outgoing(message: Message, transactions: Transactions | None = None) -> None:
    """Check a message of ours, with its envelope, by the rules of its schema.

    Raises:
        LocalProtocolError: as `check_incoming`.
    """
    try:
        check_incoming(message, transactions)
    except ProtocolError as error:
        raise LocalProtocolError(error.reason, code=error.code) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSignature:
    """The names of a tool's arguments."""

    required: frozenset[str] = frozenset()
    """Arguments that a call must have."""
    optional: frozenset[str] = frozenset()
    """Arguments that a call may have."""


def check_tool_call(message: Message, tools: Mapping[str, ToolSignature]) -> None:
    """Check a TC request by the signature of its tool.

    Args:
        message: The request.
        tools: Tool name to signature.

    Raises:
        ProtocolError: E4001, the tool is unknown; E4003, its arguments are wrong.
    """
    signature = tools.get(str(message.payload.get("tool_name", "")))
    if signature is None:
        raise ProtocolError("expected the name of a known tool", code=ErrorCode.TOOL_NOT_FOUND)
    arguments = message.payload.get("arguments", {})
    if not isinstance(arguments, Mapping):
        raise ProtocolError("expected a map as the arguments of a tool", code=ErrorCode.TOOL_SCHEMA_MISMATCH)
    missing = signature.required - set(arguments)
    unknown = set(arguments) - signature.required - signature.optional
    if missing or unknown:
        reason = f"arguments missing: {sorted(missing)}, unknown: {sorted(unknown)}"
        raise ProtocolError(reason, code=ErrorCode.TOOL_SCHEMA_MISMATCH)


def reply_correlation(envelope: Envelope) -> str | None:
    """Return the correlation_id of the answer to a request: the request's own, else its msg_id."""
    return envelope.correlation_id if envelope.correlation_id is not None else envelope.msg_id


# "Standard error frames use intent `fail`, operation `error`, and schema `ER`." (section 3.6)
def error_message(
    sender: str, code: ErrorCode, reason: str, *, correlation_id: str | None = None, detail: Any = None
) -> Message:
    """Return the message that refuses a frame.

    Args:
        sender: The agent that refuses it.
        code: The reason; Table 6 says whether it is retryable.
        reason: The reason in words.
        correlation_id: The msg_id of the refused frame.
        detail: A JSON value for the program that receives it; None: no detail.
    """
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
    """The content of an error frame."""

    code: str
    """The code; peers may use codes that are not in Table 6."""
    message: str
    """The reason, for a person."""
    retryable: bool
    """Whether the frame may be sent again: by the error frame, else by Table 6, else False."""
    detail: Any = field(default=None)
    """A JSON value with details; None: no details."""


def read_error(message: Message) -> ErrorReport | None:
    """Return the content of an error frame, None for any other message, such as a failure without schema ER."""
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
