"""How a model's arguments become a request."""

from __future__ import annotations

import pytest

from accp_adapters.fetching.request import FetchRequest, read_request
from accp_core.errors import ProtocolError


@pytest.mark.parametrize(
    "arguments", [{}, None, [], "ref", {"ref": None, "query": None, "offset": None, "limit": None}]
)
def test_missing_arguments_and_null_ask_for_everything(arguments: object) -> None:
    assert read_request(arguments) == FetchRequest(ref="", query="", offset=0, limit=None)


def test_a_request_takes_numbers_and_text_as_models_write_them() -> None:
    arguments = {"ref": " $cold.1 ", "query": " id ", "offset": "5", "limit": 0}
    assert read_request(arguments) == FetchRequest(ref="$cold.1", query="id", offset=5, limit=None)
    assert read_request({"ref": 7, "query": 0, "limit": "3"}) == FetchRequest(ref="7", query="0", limit=3)


@pytest.mark.parametrize(("name", "value"), [("offset", -1), ("offset", "many"), ("limit", -1), ("limit", 1.5)])
def test_other_numbers_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(
        ProtocolError, match=f"E1004: expected {name!r} to be a whole number from 0 on, found {value!r}"
    ):
        read_request({name: value})
