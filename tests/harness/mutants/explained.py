"""Why a change that no test notices changes nothing: of one change in `explained.json`, of a kind of changes here."""

import json
import re
from pathlib import Path
from typing import Final

from tests.harness.mutants.changes import Change

__all__ = ["reason"]

_ONE: Final[dict[str, str]] = json.loads((Path(__file__).parent / "explained.json").read_text(encoding="utf-8"))
_STRICT: Final = "The lengths are the same; `strict` only checks our own code."
_FALSE: Final = "It is only asked whether it is true."
_NAMES: Final = r"\b(nested|keyed|literals|is_last|self\.has_derived)( ?= ?)"
_KINDS: Final = (
    (r"(zip\(.*), strict=True\)", r"\1, strict=None)", _STRICT),
    (r"(zip\(.*), strict=True\)", r"\1, strict=False)", _STRICT),
    (r"(zip\(.*), strict=True\)", r"\1, )", _STRICT),
    (rf"{_NAMES}False", r"\1\2None", _FALSE),
    (r"\bcast\([\w\[\]]+, ", "cast(None, ", "`cast` returns its second argument as it is."),
    (r'"utf-8"', '"UTF-8"', "The name of an encoding has no case: the same bytes."),
)
"""What stands there, what comes in its place, and the reason."""


def reason(change: Change) -> str | None:
    """Return why a change changes nothing, None where it is not explained."""
    if change.difference in _ONE:
        return _ONE[change.difference]
    return next((why for pattern, put, why in _KINDS if change.after in _replaced(pattern, put, change.before)), None)


def _replaced(pattern: str, put: str, text: str) -> list[str]:
    """Return `text` with `put` in one place of `pattern`, for each place."""
    found = re.finditer(pattern, text)
    return [f"{text[: each.start()]}{each.expand(put)}{text[each.end() :]}" for each in found]
