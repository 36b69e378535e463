"""Every requirement of draft-benzing-accp-00 as data: what it says, where, how strongly, and what shows that it holds.

A requirement is a sentence with a key word of RFC 2119, a row of a table that has one, or an item of a list that such
a sentence introduces, in the draft's words. Level is the lowest of section 8 that cannot do without it: sections 3, 4
and, where it is about parsing, 9 are level 1; state, checkpoints, the registry and the profiles of its schemas are
level 2; deltas, negotiation, budgets and streams are level 3.

What shows it are the tests that `shown_by.py` names. `test_requirements.py` checks both ways.
"""

from typing import Final

from tests.conformance.requirement import Family, Force, rules
from tests.conformance.shown_by import SHOWN_BY

__all__ = ["FAMILY", "REQUIREMENTS"]

_rule = rules(SHOWN_BY)
_must, _must_not, _should, _may = (_rule[force] for force in (Force.MUST, Force.MUST_NOT, Force.SHOULD, Force.MAY))


FORMAT: Final = (
    _must(
        "3.1.1-1",
        1,
        "Decimal values MUST be serialized with up to 6 decimal places, trailing zeros stripped.",
        (
            "A decimal of more places is a JSON literal, so that it survives; decimal='round6' is the draft's rule. "
            "An integral decimal keeps one zero, so that it stays a decimal."
        ),
    ),
    _must_not("3.1.1-2", 1, "Encoders MUST NOT use scientific notation."),
    _must_not("3.3-1", 1, "No whitespace -- Frames MUST NOT contain spaces, tabs, or newlines."),
    _must("3.3-2", 1, "Abbreviated keys -- Use shortest unambiguous key names (see Section 4.2)."),
    _must(
        "3.3-3",
        1,
        "Symbolic values -- Prefer symbols over words: +, -, %, >, <.",
        "A codec carries the caller's values unchanged; symbols stand for themselves and need no quoting.",
    ),
    _must(
        "3.3-4",
        1,
        "Reference over inline -- If a value exceeds 50 characters, store in state and reference via $key.",
        "Only where both peers share a store; elsewhere the receiver could not read the value.",
    ),
    _must("3.3-5", 1, "Omit defaults -- Do not encode values that match the schema default."),
    _must("3.3-6", 1, "Coalesce arrays -- Use comma separation within brackets, no spaces."),
    _should(
        "3.4-1",
        1,
        "Frames exceeding the hard limit SHOULD be split into a frame sequence or reference external state.",
        "The metadata has no limit of its own: the mandatory mid, seq and ts alone exceed the soft one.",
    ),
)

ENVELOPE: Final = (
    _must(
        "3.5-1",
        1,
        "Every ACCP frame MUST include the following envelope fields in its metadata block",
    ),
    _must(
        "3.5-2",
        1,
        "msg_id mid string(12) MUST Unique message identifier (hex, 12 chars)",
        "Read is any msg_id of up to 64 characters: the draft's own frames have `abc` and `m1`.",
    ),
    _must(
        "3.5-3",
        1,
        "sequence seq integer MUST Monotonically increasing per session",
        "One count for both ends, as in the draft's examples, or one an end: as the peer's first numbers show.",
    ),
    _must(
        "3.5-4",
        1,
        "timestamp ts integer MUST Unix epoch seconds",
        "A received frame without ts is accepted unless it has a ttl: 11 of the draft's examples lack ts.",
    ),
    _should("3.5-5", 1, "correlation_id cid string SHOULD Links request to response"),
    _may("3.5-6", 1, "causation_id aid string MAY Links to the message that caused this one"),
    _should(
        "3.5-7",
        1,
        "session_id sid string SHOULD ACCP session identifier",
        "Written where asked for; a transport mostly names the session, and sid costs tokens in each frame.",
    ),
    _may("3.5-8", 1, "ttl ttl integer MAY Seconds until frame expires; 0 = no expiry"),
    _must("3.5-9", 1, "Decoders MUST reject frames with expired TTL."),
    _must("3.5-10", 1, 'Frames missing "mid" or "seq" MUST be rejected.'),
)

DELIVERY: Final = (
    _must(
        "3.7-1",
        1,
        'Idempotency: Decoders MUST maintain a set of seen "msg_id" values per session.',
        "The set is bounded; a frame older than it is refused for its sequence number.",
    ),
    _must(
        "3.7-2",
        1,
        'Frames with a previously seen "msg_id" MUST be rejected with error E3002 DUPLICATE.',
        (
            "Our own client asks for the recorded answer to a frame whose answer was lost: by a field of HTTP "
            "(`accp-resume`) and by `ping:resume`. For it alone a repeated frame is no error."
        ),
    ),
    _must("3.7-3", 1, 'Ordering: Frames MUST be processed in ascending "seq" order.'),
    _must("3.7-4", 1, "A gap in sequence numbers MUST trigger error E3003 SEQUENCE_GAP."),
    _may(
        "3.7-5",
        1,
        (
            'Retries: Frames with retryable error codes MAY be retransmitted with the same "correlation_id" and a '
            'new "msg_id" and "seq".'
        ),
    ),
    _must(
        "3.7-6",
        1,
        (
            'Cancellation: A "cancel" intent frame referencing a "correlation_id" MUST stop all processing for that '
            "request chain."
        ),
    ),
    _must(
        "3.7-7",
        1,
        (
            "TTL enforcement: Frames received after their TTL has elapsed MUST be rejected silently (no error "
            "response, to prevent timing attacks)."
        ),
    ),
    _may(
        "4.3-1",
        1,
        "Harnesses MAY register custom operations via the registry extension mechanism.",
        "Nothing needs registering: any operation is accepted; the draft's own examples use unlisted ones.",
    ),
)

_NO_PHASES: Final = "By `Session.checkpoint`. A session that is served or that `connect` opened has no call for it."

STATE: Final = (
    _must("5.2-1", 2, 'A checkpoint MUST be triggered when: An agent completes a task ("done" intent)'),
    _must("5.2-2", 2, "A checkpoint MUST be triggered when: Accumulated hot state exceeds 400 tokens"),
    _must("5.2-3", 2, 'A checkpoint MUST be triggered when: A handoff between agents occurs ("esc" intent)'),
    _must("5.2-4", 2, "A checkpoint MUST be triggered when: The harness signals a phase boundary", _NO_PHASES),
    _must(
        "5.2-5",
        2,
        'A checkpoint MUST be triggered when: An agent explicitly requests compression ("comp" intent)',
    ),
    _should("5.4-1", 3, "After checkpoint N, subsequent frames SHOULD transmit only deltas"),
    _must(
        "6.4-1",
        3,
        "At session start, agents MUST exchange registry versions",
        "By `Session.open`; a peer that says nothing of its registry is heard, too, unless `registry_first` is set.",
    ),
)

CODEC: Final = (
    _must(
        "7.1-1",
        1,
        "Encode(message, session) -> Frame Encode a structured message into an ACCP Frame",
        "One message may need several frames (7.2, item 6), so encode returns a list.",
    ),
    _must("7.1-2", 1, "Decode(frame, session) -> Message Decode an ACCP Frame back into a structured message"),
    _must("7.1-3", 2, "Checkpoint(session) -> CheckpointResult Trigger a compression checkpoint"),
    _must("7.1-4", 3, "GetBudget(session) -> TokenBudget Get current token budget usage"),
    _must("7.1-5", 2, "RegisterSchema(name, schema) Register a custom schema"),
)

SUPPORT: Final = (
    _must(
        "8.1-1",
        1,
        "An implementation MUST support: Frame encoding/decoding (Section 3)",
        (
            "Strings that the grammar cannot write (spaces, empty, look-alikes) travel in a quoted form within the "
            "draft's string; four forms that only the draft's examples use are read, too, unless strict."
        ),
    ),
    _must("8.1-2", 1, "An implementation MUST support: Core intents (Section 4.1)"),
    _must(
        "8.1-3",
        1,
        "An implementation MUST support: Basic key abbreviations (Section 4.2)",
        "Table 8 gives two keys two meanings; only the first is used: d is data and f is findings.",
    ),
    _must("8.2-1", 2, "An implementation MUST additionally support: Context state management (Section 5)"),
    _must("8.2-2", 2, "An implementation MUST additionally support: Compression checkpoints (Section 5.2)"),
    _must("8.2-3", 2, "An implementation MUST additionally support: Schema registry (Section 6)"),
    _must("8.3-1", 3, "An implementation MUST additionally support: Delta encoding (Section 5.4)"),
    _must("8.3-2", 3, "An implementation MUST additionally support: Registry negotiation (Section 6.4)"),
    _must("8.3-3", 3, "An implementation MUST additionally support: Token budget enforcement (Section 7.1)"),
    _must(
        "8.3-4",
        3,
        'An implementation MUST additionally support: Streaming frames (Section 4.1, "stream"/"end" intents)',
    ),
)

SECURITY: Final = (
    _should("9-1", 1, 'Implementations SHOULD provide a "debug mode" that logs decoded human-readable equivalents.'),
    _must("9-2", 1, "Injection: Frame parsing MUST validate grammar strictly."),
    _must("9-3", 1, "Malformed frames MUST be rejected, not partially parsed."),
    _must("9-4", 2, "State store access: Cold state references MUST be scoped to the current session."),
    _should("9-5", 2, "Registry tampering: Schema registries SHOULD be integrity-checked via hash (Section 6.4)."),
    _must(
        "9-6",
        1,
        (
            "Parser DoS Protection: Decoders MUST implement strict limits on array nesting depth (recommended "
            "maximum: 5 levels)"
        ),
    ),
    _must("9-7", 1, "and limit payload parsing complexity to prevent resource exhaustion attacks."),
)

PROFILES: Final = (
    _must(
        "10.2-1",
        2,
        'Tool calls MUST include "correlation_id" in the response to link result to request.',
    ),
    _must("10.2-2", 2, 'Tool errors MUST use schema "ER" with code E4002 TOOL_EXEC_FAILED.'),
    _must("10.3-1", 2, '"transaction_id" MUST be stable across retries (idempotency key).'),
    _must("10.3-2", 2, '"amount" MUST be serialized as decimal (not string) to avoid precision loss.'),
    _should(
        "10.3-3",
        2,
        '"currency" SHOULD follow ISO 4217.',
        "The currency is the sender's; USD is the default. No list of codes is kept, which would grow old.",
    ),
    _must("10.3-4", 2, 'Retries MUST use the same "transaction_id" with a new "msg_id".'),
    _must(
        "10.4-1",
        3,
        'All chunks in a stream MUST share the same "correlation_id".',
    ),
    _must(
        "10.4-2",
        3,
        'The final chunk MUST set "is_final=true".',
        "A stream also ends with the intent `end`, which Table 7 has for that.",
    ),
    _must(
        "10.4-3",
        3,
        'Consumers MUST buffer and reorder by "chunk_index" before processing.',
        "The buffer is bounded; a stream that exceeds it is refused.",
    ),
)

REQUIREMENTS: Final = FORMAT + ENVELOPE + DELIVERY + STATE + CODEC + SUPPORT + SECURITY + PROFILES

FAMILY: Final = Family(
    name="ACCP",
    titles={1: "Level 1, minimum (8.1)", 2: "Level 2, standard (8.2)", 3: "Level 3, full (8.3)"},
    sections=frozenset(
        {
            *("3.1.1", "3.3", "3.4", "3.5", "3.7", "4.3", "5.2", "5.4", "6.4", "7.1", "8.1", "8.2", "8.3"),
            *("9", "10.2", "10.3", "10.4"),
        }
    ),
    requirements=REQUIREMENTS,
    shown_by=SHOWN_BY,
)
