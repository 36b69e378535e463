"""The environment variable that switches the middleware off."""

from __future__ import annotations

import os
from typing import Final

__all__ = ["SWITCH", "is_disabled"]

SWITCH: Final = "ACCP_DISABLED"
_ON: Final = ("1", "true", "yes", "on")
_OFF: Final = ("", "0", "false", "no", "off")


def is_disabled() -> bool:
    """Return whether the middleware is switched off: ACCP_DISABLED is 1, true, yes or on.

    Raises:
        ValueError: It is none of these words, nor 0, false, no, off or empty.
    """
    value = os.environ.get(SWITCH, "")
    word = value.strip().lower()
    if word not in (*_ON, *_OFF):
        raise ValueError(f"expected {SWITCH} to be one of {', '.join((*_ON, *_OFF[1:]))}, found {value!r}")
    return word in _ON
