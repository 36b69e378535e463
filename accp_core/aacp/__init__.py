"""AACP 1.1 (draft-mackay-aacp-01): instructions between agents as typed packets."""

from accp_core.aacp.audit import explain
from accp_core.aacp.encoding import Guard, encode_packet, sensitive_values
from accp_core.aacp.fallback import EncodingTier, FallbackEncoder, Translation
from accp_core.aacp.instruction import ValidationReport, validate
from accp_core.aacp.packet import (
    DRAFT_VOCABULARY,
    VERSION,
    Finding,
    FindingCode,
    Packet,
    Vocabulary,
    parse_packet,
    serialize_packet,
    with_fields,
)
from accp_core.aacp.registry import InstructionRegistry, InstructionStore, RegistryEntry
from accp_core.aacp.steps import Workflow, WorkflowEncoder, WorkflowRun, WorkflowStep, workflow_from_dict
from accp_core.aacp.workflows import WORKFLOWS, ContractEncoder, InvoiceEncoder, ITEncoder, PayrollEncoder

__all__ = [
    "DRAFT_VOCABULARY", "VERSION", "WORKFLOWS", "ContractEncoder", "EncodingTier", "FallbackEncoder", "Finding",
    "FindingCode", "Guard", "ITEncoder", "InstructionRegistry", "InstructionStore", "InvoiceEncoder", "Packet",
    "PayrollEncoder", "RegistryEntry", "Translation", "ValidationReport", "Vocabulary", "Workflow",
    "WorkflowEncoder", "WorkflowRun", "WorkflowStep", "encode_packet", "explain", "parse_packet",
    "sensitive_values", "serialize_packet", "validate", "with_fields", "workflow_from_dict",
]  # fmt: skip
