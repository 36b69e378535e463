"""What changes in the entry of one server, line by line, without what may be secret.

Of what a user wrote only the command, the URL and the names of variables and headers change; words in `args` stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import Any, Final

__all__ = ["difference"]

_HIDDEN: Final = "[hidden]"
_SECRET_MEMBERS: Final = frozenset({"env", "headers"})
"""Members of which no value is shown."""
_SECRET_PART: Final = re.compile(r'(?<=://)[^/?#"]*(?=@)|(?<=\?)[^"]+')
"""What of a URL may hold a key: user information and the query."""
_HEADER_LINES: Final = 2


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the lines of an entry that go ("-…") and that come ("+…"), one for each word of `args`."""
    lines = list(unified_diff([*_lines(before)], [*_lines(after)], n=0, lineterm=""))
    return [line for line in lines[_HEADER_LINES:] if not line.startswith("@@")]


def _lines(entry: Mapping[str, Any]) -> Iterator[str]:
    for name, value in entry.items():
        if isinstance(value, dict) and name in _SECRET_MEMBERS:
            yield from (f" {name}: {key}={_HIDDEN}" for key in value)
        else:
            words = value if isinstance(value, list) else [value]
            yield from (f" {name}: {_SECRET_PART.sub(_HIDDEN, json.dumps(word, ensure_ascii=False))}" for word in words)
