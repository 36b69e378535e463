"""How a model's arguments become a request."""

from __future__ import annotations

import json

import pytest

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_PARAMETERS
from accp_adapters.fetching.request import FetchRequest, read_request
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from accp_core.references import key_of, reference_to, reference_to_uri


@pytest.mark.parametrize(
    "arguments", [{}, None, [], "ref", {"ref": None, "query": None, "offset": None, "limit": None}]
)
def test_missing_arguments_and_null_ask_for_everything(arguments: object) -> None:
    assert read_request(arguments) == FetchRequest(ref="", query="", offset=0, limit=None)


def test_a_request_takes_numbers_and_text_as_models_write_them() -> None:
    arguments = {"ref": " $cold.1 ", "query": " id ", "offset": "5", "limit": 0}
    assert read_request(arguments) == FetchRequest(ref="$cold.1", query="id", offset=5, limit=None)
    assert read_request({"ref": 7, "query": 0, "limit": "3"}) == FetchRequest(ref="7", query="0", limit=3)
    assert read_request({"ref": "$cold.1#/a/0"}) == FetchRequest(ref="$cold.1", query="#/a/0")


@pytest.mark.parametrize(("name", "value"), [("offset", -1), ("offset", "many"), ("limit", -1), ("limit", 1.5)])
def test_other_numbers_are_refused_by_name(name: str, value: object) -> None:
    expected = f"E1004: expected {name!r} to be a whole number from 0 on, found {value!r}"
    with pytest.raises(ProtocolError, match=expected):
        read_request({name: value})


def test_a_call_without_a_reference_is_refused_by_the_name_of_the_argument() -> None:
    with pytest.raises(ProtocolError, match="E1004: expected the argument 'ref' with a reference"):
        assert read_request({"reference": ONE, "query": "id = 3"}).references


KEYS = [key_of("one"), key_of("other")]
ONE, OTHER = map(reference_to, KEYS)


@pytest.mark.parametrize(
    ("ref", "query", "references"),
    [
        (ONE, "", (ONE,)),
        (KEYS[0], "", (ONE,)),
        (reference_to_uri(ONE), "", (ONE,)),
        (f"`{ONE}`", "", (ONE,)),
        (f"[{ONE}]", "", (ONE,)),
        (f"accp_fetch {ONE}", "", (ONE,)),
        (f"{ONE}, {OTHER}", "", (ONE, OTHER)),
        (f'["{ONE}", "{OTHER}"]', "", (ONE, OTHER)),
        (ONE, f"SELECT * FROM {OTHER} JOIN `{ONE}` USING (id)", (ONE, OTHER)),
        ("", f"select * from {ONE}.orders", (ONE,)),
        (ONE, f"SELECT * FROM lines WHERE text LIKE '%it''s {OTHER}%'", (ONE,)),
        ("`$warm.x`, $cold.c95", "", ("$warm.x", "$cold.c95")),
        ("the result", "", ("the result",)),
    ],
)
def test_the_references_are_those_in_ref_and_in_the_query(ref: str, query: str, references: tuple[str, ...]) -> None:
    assert read_request({"ref": ref, "query": query}).references == references


def test_too_many_references_are_refused() -> None:
    many = " ".join(reference_to(key_of(str(number))) for number in range(9))
    with pytest.raises(ProtocolError, match="E1004: expected at most 8 references, found 9"):
        _ = FetchRequest(ref=many).references


# What the tool costs a model in every call.


def test_the_description_takes_few_tokens() -> None:
    assert count_o200k(FETCH_DESCRIPTION) <= 90
    assert count_o200k(json.dumps(FETCH_PARAMETERS, separators=(",", ":"))) < 50
