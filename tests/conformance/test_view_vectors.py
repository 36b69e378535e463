"""Every vector of the view's notation, both ways."""

import json
from pathlib import Path
from typing import Any

import pytest

from accp_core import DecodeError, read, render
from accp_core.view import Options
from tests.conformance.vectors import ROOT, build_value, files, load

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


@pytest.mark.parametrize("kind", ["views", "reads", "refuse"])
def test_there_are_vectors_of_every_kind(kind: str) -> None:
    assert len(load("view", kind)) > 20


@pytest.mark.parametrize("path", files("view"), ids=lambda path: path.stem)
def test_a_file_has_the_shape_of_the_schema(path: Path) -> None:
    schema = json.loads((ROOT / "schema.json").read_text(encoding="utf-8"))
    content = json.loads(path.read_text(encoding="utf-8"))
    assert set(schema["required"]) <= set(content) <= {*schema["required"], "views", "reads", "refuse"}
    for kind in set(content) & set(schema["$defs"]):
        shape = schema["$defs"][kind]
        for vector in content[kind]:
            assert set(shape["required"]) <= set(vector) <= set(shape["properties"]), vector["name"]
        names = [vector["name"] for vector in content[kind]]
        assert len(names) == len(set(names)), kind


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
