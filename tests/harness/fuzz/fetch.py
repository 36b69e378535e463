"""Any query of stored texts is answered within the limit or refused with a code, and finds nothing in other texts."""

import json
from typing import Any, Final

from accp_adapters.fetching import FetchRequest, answer, read_request
from accp_adapters.fetching.answers import DATABASES, value_at
from accp_core.errors import ProtocolError
from accp_core.references import key_of
from tests.harness.fuzz.view import count

__all__ = ["ORDERS", "check"]

ORDERS: Final = json.dumps(
    {"n": 1, "orders": [{"id": n, "by": "x", "paid": n > 1, "items": [{"k": n}]} for n in range(4)]}
)
TEXTS: Final = (
    ORDERS,
    json.dumps({"u1": {"age": 2**64, "tags": ["a"]}, "u2": {"age": 7}}),
    "start\nERROR 5 = x\n" + "y" * 900,
)
SECRET: Final = "zqj-not-granted"
LIMIT: Final = 200
DATABASES.get(json.dumps({"orders": [{"id": SECRET, "by": SECRET}] * 3}))


def check(data: bytes) -> None:
    """Check the invariant for one input: which texts, where to begin, then the query or all arguments as JSON."""
    choice, text = data[0] if data else 0, data[1:].decode("utf-8", "surrogateescape")
    granted = {key_of(each): each for bit, each in enumerate(TEXTS) if choice >> bit & 1} or {key_of(ORDERS): ORDERS}
    try:
        request = read_request(arguments(text, choice >> 3))
        assert len(request.references) <= 8
        shown = answer(granted, request, limit=LIMIT, counter=count)
    except ProtocolError as refusal:
        assert refusal.code in {"E1004", "E2003"}, refusal
        assert SECRET not in refusal.reason or SECRET in text
    else:
        assert shown
        assert count(shown) <= LIMIT + 400, shown
        assert SECRET not in shown or SECRET in text
        check_value(request, next(iter(granted.values())))


def arguments(text: str, choice: int) -> Any:
    """Return the arguments of the call that a model wrote."""
    if text.startswith("{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
    return {"query": text, "offset": choice & 3, "limit": choice >> 2 & 3}


def check_value(request: FetchRequest, source: str) -> None:
    """Check that a program gets a value or a refusal."""
    try:
        value_at(source, request.query)
    except ProtocolError as refusal:
        assert refusal.code in {"E1004", "E2003"}, refusal
