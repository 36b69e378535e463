"""AACP 1.1 (draft-mackay-aacp-01): instructions between agents as typed packets."""

from accp_core.aacp.encoding import encode_packet
from accp_core.aacp.english import explain
from accp_core.aacp.fallback import FallbackEncoder, Tier, Translation
from accp_core.aacp.findings import Code, Finding
from accp_core.aacp.guard import Guard, sensitive_values
from accp_core.aacp.packet import Packet, parse_packet, serialize_packet, stamp
from accp_core.aacp.registry import Entry, InstructionRegistry, Registry
from accp_core.aacp.steps import Run, Step, Workflow, WorkflowEncoder, workflow_from_dict
from accp_core.aacp.validation import Report, validate
from accp_core.aacp.vocabulary import DRAFT, VERSION, Vocabulary
from accp_core.aacp.workflows import WORKFLOWS, ContractEncoder, InvoiceEncoder, ITEncoder, PayrollEncoder

__all__ = [
    "DRAFT",
    "VERSION",
    "WORKFLOWS",
    "Code",
    "ContractEncoder",
    "Entry",
    "FallbackEncoder",
    "Finding",
    "Guard",
    "ITEncoder",
    "InstructionRegistry",
    "InvoiceEncoder",
    "Packet",
    "PayrollEncoder",
    "Registry",
    "Report",
    "Run",
    "Step",
    "Tier",
    "Translation",
    "Vocabulary",
    "Workflow",
    "WorkflowEncoder",
    "encode_packet",
    "explain",
    "parse_packet",
    "sensitive_values",
    "serialize_packet",
    "stamp",
    "validate",
    "workflow_from_dict",
]
