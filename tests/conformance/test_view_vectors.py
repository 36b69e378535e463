"""Every vector of the view's notation, both ways."""

import json
from typing import Any

import pytest

from accp_core import DecodeError, read, render
from accp_core.view import Options
from tests.conformance.vectors import build_value, load

CONSTRUCTS = [
    '\\"\\"\\"\\n',
    '\\"\\"\\"\\"\\n',
    "{\\n",
    "[{\\n",
    "}]",
    "[a, ",
    "[2]:\\n",
    "[2] a b\\n",
    "{2} key: n m\\n",
    "[:a b: ",
    "{:key: a b: ",
    "&1 ",
    "&1: ",
    "*1",
    "!json ",
    "!json2u ",
    "name, ",
    "(kind=",
    "user{",
    "user={",
    "items[",
    "g[[",
    "id==key",
    "forks_url=${url}/forks",
    "(url=https://api.example.com/users/${login}",
    "\\n- 3",
]


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_every_construct_of_the_notation_has_a_vector(construct: str) -> None:
    texts = [json.dumps(vector.values[0]["text"]) for kind in ("views", "reads") for vector in load("view", kind)]
    assert any(construct in text for text in texts)


@pytest.mark.parametrize("vector", load("view", "views"))
def test_a_value_has_this_view(vector: dict[str, Any]) -> None:
    options = Options(**vector.get("options", {}))
    assert render(build_value(vector["value"]), counter=len, options=options) == vector["text"]


@pytest.mark.parametrize("vector", [*load("view", "views"), *load("view", "reads")])
def test_a_view_is_read_as_this_value(vector: dict[str, Any]) -> None:
    # JSON tells types and the order of keys apart, and does not ask how a number was spelled.
    assert json.dumps(read(vector["text"])) == json.dumps(build_value(vector["value"]))


@pytest.mark.parametrize("vector", load("view", "refuse"))
def test_a_refused_text_is_refused_with_this_code_at_this_place(vector: dict[str, Any]) -> None:
    with pytest.raises(DecodeError) as refusal:
        read(vector["text"])
    assert (refusal.value.code, refusal.value.position) == (vector["error"], vector["position"])
    assert refusal.value.text == vector["text"]
