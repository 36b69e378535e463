"""ACCP (draft-benzing-accp-00): frames between agents, as values and as text."""

from typing import TYPE_CHECKING

from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_core.accp.budget import DRAFT_LIMITS, PRACTICAL_LIMITS, FrameLimits, FrameTokens, TokenBudget
    from accp_core.accp.codec import Codec, Encoded, NeedsRefs
    from accp_core.accp.frame import REMOVED, Envelope, Frame, Intent, LiteralKey, Message, Ref, Removed, Value
    from accp_core.accp.grammar import DEFAULT_LIMITS, GrammarLimits
    from accp_core.accp.parser import frame_head, parse_frame
    from accp_core.accp.profiles import BUILT_IN, ErrorReport, ToolSignature, error_message, read_error, tool_error
    from accp_core.accp.schema import Schema, SchemaRegistry
    from accp_core.accp.serializer import serialize_frame
    from accp_core.accp.session.delivery import FrameText, SequenceScope
    from accp_core.accp.session.events import (
        Acknowledged,
        CheckpointTaken,
        Event,
        EventsDropped,
        ExchangeClosed,
        ExchangeOpened,
        FrameDropped,
        FrameHeld,
        FrameRefused,
        HeartbeatMissed,
        MessageReceived,
        RefsNeeded,
        RegistryAgreed,
        RegistryUpdated,
        ResumeImpossible,
        ResyncRequested,
        SessionOptions,
        StateChanged,
        StreamChunkReceived,
        StreamEnded,
        Writable,
    )
    from accp_core.accp.session.exchanges import Exchange, ExchangeState
    from accp_core.accp.session.parts import Peer
    from accp_core.accp.session.session import Session
    from accp_core.accp.state.checkpoint import Checkpoint, CheckpointTrigger, Fact
    from accp_core.accp.state.context_state import ColdKey, ContextState, StateLimits, Tier, foreign_ref
    from accp_core.error_codes import ErrorCategory, ErrorCode
    from accp_core.references import StoredText
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_core.accp.budget": "DRAFT_LIMITS PRACTICAL_LIMITS FrameLimits FrameTokens TokenBudget",
            "accp_core.accp.codec": "Codec Encoded NeedsRefs",
            "accp_core.accp.frame": "REMOVED Envelope Frame Intent LiteralKey Message Ref Removed Value",
            "accp_core.accp.grammar": "DEFAULT_LIMITS GrammarLimits",
            "accp_core.accp.parser": "frame_head parse_frame",
            "accp_core.accp.profiles": "BUILT_IN ErrorReport ToolSignature error_message read_error tool_error",
            "accp_core.accp.schema": "Schema SchemaRegistry",
            "accp_core.accp.serializer": "serialize_frame",
            "accp_core.accp.session.delivery": "FrameText SequenceScope",
            "accp_core.accp.session.events": (
                "Acknowledged CheckpointTaken Event EventsDropped ExchangeClosed ExchangeOpened FrameDropped "
                "FrameHeld FrameRefused HeartbeatMissed MessageReceived RefsNeeded RegistryAgreed "
                "RegistryUpdated ResumeImpossible ResyncRequested SessionOptions StateChanged StreamChunkReceived "
                "StreamEnded Writable"
            ),
            "accp_core.accp.session.exchanges": "Exchange ExchangeState",
            "accp_core.accp.session.parts": "Peer",
            "accp_core.accp.session.session": "Session",
            "accp_core.accp.state.checkpoint": "Checkpoint CheckpointTrigger Fact",
            "accp_core.accp.state.context_state": "ColdKey ContextState StateLimits Tier foreign_ref",
            "accp_core.error_codes": "ErrorCategory ErrorCode",
            "accp_core.references": "StoredText",
        },
    )

__all__ = [
    "BUILT_IN", "DEFAULT_LIMITS", "DRAFT_LIMITS", "PRACTICAL_LIMITS", "REMOVED", "Acknowledged", "Checkpoint",
    "CheckpointTaken", "CheckpointTrigger", "Codec", "ColdKey", "ContextState", "Encoded", "Envelope",
    "ErrorCategory", "ErrorCode", "ErrorReport", "Event", "EventsDropped", "Exchange", "ExchangeClosed",
    "ExchangeOpened", "ExchangeState", "Fact", "Frame", "FrameDropped", "FrameHeld", "FrameLimits", "FrameRefused",
    "FrameText", "FrameTokens", "GrammarLimits", "HeartbeatMissed", "Intent", "LiteralKey", "Message",
    "MessageReceived", "NeedsRefs", "Peer", "Ref", "RefsNeeded", "RegistryAgreed", "RegistryUpdated", "Removed",
    "ResumeImpossible", "ResyncRequested", "Schema", "SchemaRegistry", "SequenceScope", "Session", "SessionOptions",
    "StateChanged", "StateLimits", "StoredText", "StreamChunkReceived", "StreamEnded", "Tier", "TokenBudget",
    "ToolSignature", "Value", "Writable", "error_message", "foreign_ref", "frame_head", "parse_frame", "read_error",
    "serialize_frame", "tool_error",
]  # fmt: skip
