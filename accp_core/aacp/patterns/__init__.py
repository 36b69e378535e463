"""How people say the steps of the workflows: instructions in English that need no model (AACP section 6.3)."""

from typing import Final

from accp_core.aacp.patterns.contracts import CONTRACT_PATTERNS
from accp_core.aacp.patterns.invoices import INVOICE_PATTERNS
from accp_core.aacp.patterns.matching import Pattern, PatternBook
from accp_core.aacp.patterns.payroll import PAYROLL_PATTERNS
from accp_core.aacp.patterns.provisioning import PROVISIONING_PATTERNS

__all__ = ["PATTERNS", "Pattern", "PatternBook"]

PATTERNS: Final[tuple[Pattern, ...]] = (
    *PAYROLL_PATTERNS,
    *PROVISIONING_PATTERNS,
    *INVOICE_PATTERNS,
    *CONTRACT_PATTERNS,
)
"""The patterns of the workflows of the draft."""
