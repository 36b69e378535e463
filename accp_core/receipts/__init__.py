"""Where the numbers, identifiers, dates and quotations of an answer come from: shown, derivable or nowhere.

`check` compares an answer with the texts that the agent was shown, `check_prompt` with a conversation as projected.
"""

from accp_core.receipts.check import Origin, Receipt, check
from accp_core.receipts.claims import ClaimKind
from accp_core.receipts.prompts import check_prompt

__all__ = ["ClaimKind", "Origin", "Receipt", "check", "check_prompt"]
