"""Queries as models write them, with the answers that a person works out: `queries.json`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.fetching.answers import GRAMMAR
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from accp_core.view import read

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "queries.json").read_text(encoding="utf-8"))
QUERIES: list[dict[str, Any]] = DATA["queries"]


def ask(query: dict[str, Any]) -> str:
    text = DATA["documents"][query["document"]]
    return answer({"": text}, FetchRequest(query=query["query"]), limit=1_000, counter=count_o200k)


def rows_of(shown: str, key: str | None) -> Any:
    """Return the rows of an answer; one row is shown as a map."""
    value: Any = read(re.sub(r"\n….*", "", shown, flags=re.DOTALL))
    value = value[key] if key else value
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("query", [query for query in QUERIES if "rows" in query], ids=lambda query: query["query"])
def test_a_query_finds_its_rows(query: dict[str, Any]) -> None:
    assert rows_of(ask(query), query.get("key")) == query["rows"]


@pytest.mark.parametrize("query", [query for query in QUERIES if "text" in query], ids=lambda query: query["query"])
def test_a_query_is_answered_word_for_word(query: dict[str, Any]) -> None:
    assert ask(query) == query["text"]


@pytest.mark.parametrize("query", [query for query in QUERIES if "refused" in query], ids=lambda query: query["query"])
def test_what_is_not_understood_is_refused_with_what_there_is(query: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as refusal:
        ask(query)
    assert refusal.value.code == query["refused"]
    assert query.get("names", "") in refusal.value.reason and refusal.value.reason.endswith(GRAMMAR)
    assert "\n" not in refusal.value.reason


@pytest.mark.parametrize("query", DATA["keywords"]["answers"])
def test_a_column_may_be_called_like_any_word_of_sql(query: str) -> None:
    for word in DATA["keywords"]["words"].lower().split():
        rows = json.dumps([{word: 1, "b": "x"}, {word: 2, "b": "y"}, {word: 2, "b": None}])
        asked = FetchRequest(query=query.replace("WORD", word))
        shown = answer({"": rows}, asked, limit=1_000, counter=count_o200k).replace('"', "")
        assert shown == DATA["keywords"]["answers"][query].replace("WORD", word)
