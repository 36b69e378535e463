"""Whatever a model writes, it is answered or refused with a code, within the limit."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from accp_adapters.fetching import answer, read_request
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from accp_core.references import key_of, reference_to

ORDERS = json.dumps({"n": 1, "orders": [{"id": n, "by": "x", "paid": n > 1, "items": [{"k": n}]} for n in range(4)]})
USERS = json.dumps({"u1": {"age": 2**64, "tags": ["a"]}, "u2": {"age": 7}})
LOG = "start\nERROR 5 = x\n" + "y" * 900
REFERENCES = [reference_to(key_of(text)) for text in (ORDERS, USERS, LOG)]
WORDS = [
    "SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "IS", "LIKE", "BETWEEN", "GROUP", "ORDER", "BY", "DESC",
    "LIMIT", "JOIN", "ON", "AS", "WITH", "CASE", "WHEN", "THEN", "ELSE", "END", "UNION", "CAST", "OVER", "USING",
    "DISTINCT", "orders", "orders.items", "items", "rows", "lines", "id", "by", "paid", "k", "age", "tags", "text", "n",
    "x", "o", "*", "(", ")", ",", ".", "=", "==", "!=", "<", ">", "||", "+", "-", ":", "'x'", '"x"', '"id"', "`id`",
    "5", "1.5", "2026-01-01", "true", "null", "None", "count(*)", "max(id)", "json_each(tags)", "nosuch", "$cold.x",
    *REFERENCES,
]  # fmt: skip
queries = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
selects = queries.map(lambda rest: f"SELECT {rest}")
texts = st.sampled_from([{REFERENCES[0]: ORDERS}, {REFERENCES[1]: USERS}, {REFERENCES[2]: LOG}]) | st.just(
    dict(zip(REFERENCES, (ORDERS, USERS, LOG), strict=True))
)


@given(texts, queries | selects | st.text(max_size=30), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=400, deadline=None)
def test_any_query_is_answered_or_refused(texts: dict[str, str], query: str, offset: int, limit: int) -> None:
    given_texts = {reference.removeprefix("$"): text for reference, text in texts.items()}
    request = read_request({"query": query, "offset": offset, "limit": limit})
    try:
        shown = answer(given_texts, request, limit=200, counter=count_o200k)
    except ProtocolError as refusal:
        assert refusal.code in ("E1004", "E2003")
        assert count_o200k(refusal.reason) < 400
    else:
        assert shown
        assert count_o200k(shown) <= 260
