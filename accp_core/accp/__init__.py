"""ACCP (draft-benzing-accp-00): frames between agents, as values and as text."""

from accp_core.accp.budget import DRAFT_LIMITS, PRACTICAL_LIMITS, FrameLimits, FrameTokens, TokenBudget
from accp_core.accp.codec import Codec, Encoded, NeedsRefs
from accp_core.accp.error_codes import ErrorCategory, ErrorCode
from accp_core.accp.frame import REMOVED, Envelope, Frame, LiteralKey, Ref, Removed, Value
from accp_core.accp.grammar import DEFAULT_LIMITS, Limits
from accp_core.accp.message import Message
from accp_core.accp.parser import parse_frame
from accp_core.accp.profiles import BUILT_IN, ErrorReport, ToolSignature, error_message, read_error, tool_error
from accp_core.accp.schema import Schema, SchemaRegistry
from accp_core.accp.serializer import serialize_frame
from accp_core.accp.vocabulary import Intent

__all__ = [
    "BUILT_IN",
    "DEFAULT_LIMITS",
    "DRAFT_LIMITS",
    "PRACTICAL_LIMITS",
    "REMOVED",
    "Codec",
    "Encoded",
    "Envelope",
    "ErrorCategory",
    "ErrorCode",
    "ErrorReport",
    "Frame",
    "FrameLimits",
    "FrameTokens",
    "Intent",
    "Limits",
    "LiteralKey",
    "Message",
    "NeedsRefs",
    "Ref",
    "Removed",
    "Schema",
    "SchemaRegistry",
    "TokenBudget",
    "ToolSignature",
    "Value",
    "error_message",
    "parse_frame",
    "read_error",
    "serialize_frame",
    "tool_error",
]
