"""The words of a packet: version, TASK, DOM, priorities and keys (AACP sections 4, 5, 13 and 14)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final

__all__ = [
    "DRAFT_VOCABULARY",
    "FIELD_TYPES",
    "ORDER",
    "PRIORITIES",
    "PRIORITY",
    "RETURN",
    "TASK_FIELDS",
    "VERSION",
    "VERSION_KEY",
    "Vocabulary",
]

# "aacp: The protocol version. REQUIRED. MUST be "1.1" for packets conforming to this specification." (section 4.2)
VERSION: Final = "1.1"
"""The version that we write; other versions are read with a warning (section 14)."""

RETURN: Final = "return"
"""The key of the agent that receives the result."""
PRIORITY: Final = "p"
"""The key of the priority."""
VERSION_KEY: Final = "aacp"
"""The key of the protocol version."""

PRIORITIES: Final = {"1": "critical", "2": "medium", "3": "low"}
"""Priority to its meaning (section 5.3)."""

_PERIOD: Final = re.compile(r"[0-9]{4}(?:-(?:0[1-9]|1[0-2]|Q[1-4]))?")
_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_AMOUNT: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


# "period: A time period, expressed as YYYY-MM or similar." (section 4.2)
def is_period(text: str) -> bool:
    """Return whether a text is a year, a quarter, a month or a day that exists."""
    if _PERIOD.fullmatch(text):
        return True
    try:
        return len(text) == 10 and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


FIELD_TYPES: Final[Mapping[str, tuple[Callable[[str], object], str]]] = MappingProxyType(
    {
        "period": (is_period, "a month such as 2024-08 or a quarter such as 2024-Q3"),
        "ccy": (_CURRENCY.fullmatch, "a currency of three letters, such as GBP"),
        "amt": (_AMOUNT.fullmatch, "a number such as 4200.50"),
    }
)
"""Key to the check of its values, and what it expects in words; the values of other keys are any text."""

_ORDER = """
return p aacp res period filter fields fmt src src_prev rules validate tmpl data_ptr amt ccy sup match terms type
party clause issue risk block flags flags_inherit req highlight status to subj att flag_msg sentiment tone prog
actor chain ltv loyalty urgency
"""
ORDER: Final = tuple(_ORDER.split())
"""The keys in the order in which we write them: that of the reference encoder; the draft defines none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The words that a validator knows; it warns about others."""

    tasks: frozenset[str]
    """TASK values (section 5.1)."""
    domains: frozenset[str]
    """DOM values (section 5.2)."""
    keys: frozenset[str]
    """Keys of named fields (sections 4.2 and 4.3)."""

    # "Implementors MAY define organisation-private fields using a namespacing convention" (section 13)
    # "Implementors MAY define additional domain values." (section 5.2)
    def adding(self, *, tasks: Iterable[str] = (), domains: Iterable[str] = (), keys: Iterable[str] = ()) -> Vocabulary:
        """Return a vocabulary with an organisation's own words added, such as the key "org_ticket"."""
        return Vocabulary(
            tasks=self.tasks.union(tasks), domains=self.domains.union(domains), keys=self.keys.union(keys)
        )


_TASKS = "FETCH PROC FLAG RESOLVE LOG SEND BUILD MERGE CALC REPORT ACK SYNC"
_DOMAINS = "HR FIN SALES LEGAL IT CS MKT"
DRAFT_VOCABULARY: Final = Vocabulary(
    tasks=frozenset(_TASKS.split()),
    domains=frozenset(_DOMAINS.split()),
    # Section 4.3 does not list flags_inherit, which the reference encoder writes.
    keys=frozenset(ORDER) - {"flags_inherit"},
)
"""The words that the draft defines."""


def _keys(*groups: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(group.split()) for group in groups)


TASK_FIELDS: Final[Mapping[str, tuple[frozenset[str], ...]]] = MappingProxyType(
    {
        "FETCH": _keys("res src data_ptr"),
        "PROC": _keys("res src data_ptr match"),
        "FLAG": _keys("res data_ptr type party clause issue flags match"),
        "RESOLVE": _keys("res data_ptr issue match flags"),
        "LOG": _keys("res data_ptr filter type status actor chain match"),
        "SEND": _keys("to", "res src data_ptr att subj tmpl flag_msg"),
        "BUILD": _keys("res type tmpl"),
        "MERGE": _keys("res src data_ptr rules"),
        "CALC": _keys("res src data_ptr rules amt"),
        "REPORT": _keys("res src data_ptr tmpl fmt period status"),
        "SYNC": _keys("res src data_ptr"),
    }
)
"""TASK to the fields without which nobody can act on it: one of each group. The draft names none; its own packets and
those of its encoder have them. ACK and tasks of an organisation need none."""
