"""ACCP (draft-benzing-accp-00): frames between agents, as values and as text."""

from accp_core.accp.error_codes import ErrorCategory, ErrorCode
from accp_core.accp.frame import REMOVED, Envelope, Frame, LiteralKey, Ref, Removed, Value
from accp_core.accp.grammar import DEFAULT_LIMITS, Limits
from accp_core.accp.parser import parse_frame
from accp_core.accp.serializer import serialize_frame
from accp_core.accp.vocabulary import Intent

__all__ = [
    "DEFAULT_LIMITS",
    "REMOVED",
    "Envelope",
    "ErrorCategory",
    "ErrorCode",
    "Frame",
    "Intent",
    "Limits",
    "LiteralKey",
    "Ref",
    "Removed",
    "Value",
    "parse_frame",
    "serialize_frame",
]
