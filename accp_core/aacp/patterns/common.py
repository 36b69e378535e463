"""Groups of phrases that the patterns of several steps have."""

from __future__ import annotations

from typing import Final

__all__ = ["AUDIT_LOG", "FETCH", "FOR_US", "IN_JSON", "LOG", "MAKE", "PERIOD", "STATUS", "STORE"]

FETCH: Final = (
    "(fetch|get|pull|retrieve|grab|load|collect|obtain|read|query|look up|extract|provide|gather|"
    "download|fetching|getting|pulling|retrieving) [me|us] [up|out|together]",
    "(send|give|show|bring|provide) (me|us|over)",
    "(supply|provide|list|load)",
    "(i|we) (need|want|require)",
    "(i'd|we'd|i would|we would) like [to (have|get|see)]",
    "let (me|us) have",
)
"""Actions that mean FETCH."""
MAKE: Final = (
    "(create|generate|make|produce|prepare|build|draw up|put together|creating|generating|making|producing|preparing)"
)
"""Actions that mean that something is made."""
LOG: Final = (
    "(log|record|audit log|logging|recording)",
    "(write|make|add|create|store|save|put|enter|writing|making|adding|append) "
    "[new|deterministic] (audit [log|trail]|log) (record|entry) [of|for|that|about]",
)
"""Actions that mean LOG."""
STORE: Final = (
    "(write|make|add|create|store|save|put|enter|note|writing|adding|storing|append) [record of|entry for]",
)
"""Actions that mean LOG together with `AUDIT_LOG` only."""
AUDIT_LOG: Final = ("[in|to|into|on] [our] audit (log|trail)", "for audit [purposes]")
"""Where it is logged."""
PERIOD: Final = (
    "[for|in|of|covering|during] [payroll] [(period|month) [of]] {period} ['s]",
    "[for|in|of|covering] {period} payroll [run|period|cycle]",
    "[for|in|of|covering|during] [payroll] (period|month) (ending|ended) {period:month_end}",
)
"""The period that a packet is about."""
IN_JSON: Final = (
    "[return|returned|output|formatted|return it|return them|return result] (as|in) json [array|format]",
    "json [format|array]",
)
"""The format of the answer."""
FOR_US: Final = ("for (me|us)",)
"""Who wants it."""
STATUS: Final = (
    "[with|has|set] [its] status [of|is|as|to] {status}",
    "(as|marked|marked as) {status}",
)
"""The status that is logged."""
