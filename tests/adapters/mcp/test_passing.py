"""`tools={"write": resolve("content")}`: the server gets the text of a reference that a client wrote as an argument."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.policy import read_tool_words
from accp_core.projection import resolve
from accp_core.references import find_references, reference_to
from tests.adapters.mcp.messages import ERAS, Era, Json, call, request, response

ROWS = [{"sku": f"A-{n}", "name": f"part {n}", "price": n + 0.5} for n in range(400)]
SOURCE = json.dumps(ROWS)
WRITE = {"name": "write", "inputSchema": {"type": "object", "properties": {"content": {"type": "string"}}}}
FIND = {"name": "find", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": True}}


def passing(era: Era = "2025-11-25", **settings: Any) -> tuple[Encoder, Json, str]:
    """Return an encoder, what its client saw of the tools, and the reference of a result in the session."""
    settings = {"policy": "always", "fetch": True, "tools": {"write": resolve("content")}, **settings}
    encoder = Encoder(**settings)
    encoder.from_client(request("tools/list", era=era))
    listed = encoder.from_server(response({"tools": [FIND, WRITE]}))["result"]
    encoder.from_client(call("find", era=era))
    shown = encoder.from_server(response({"content": [{"type": "text", "text": SOURCE}]}))["result"]
    return encoder, listed, reference_to(find_references(shown["content"][0]["text"])[0])


def forwarded(encoder: Encoder, message: Json) -> Any:
    """Return the arguments that the server gets."""
    assert encoder.answer_own(message) is None
    return encoder.from_client(message)["params"]["arguments"]


@pytest.mark.parametrize("era", ERAS)
def test_the_server_gets_the_text(era: Era) -> None:
    encoder, listed, reference = passing(era)
    message = call("write", {"path": "x", "content": reference}, era=era)
    assert encoder.may_take_long(message)
    assert forwarded(encoder, message) == {"path": "x", "content": SOURCE}
    part = call("write", {"path": reference, "content": f"{reference} SELECT sku FROM rows LIMIT 2"}, era=era)
    assert forwarded(encoder, part) == {"path": reference, "content": "A-0\nA-1"}
    said = next(each for each in listed["tools"] if each["name"] == "write")["inputSchema"]["properties"]["content"]
    assert said == {"type": "string", "description": "Or $cold.… with #/a/0 or SELECT … behind it: its text."}
    telemetry = encoder.options.telemetry
    assert telemetry is not None
    assert telemetry.stats().references_passed == 2


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("$cold.414775181990", "E5002: "),
        ("{} WHERE x", "E1004: "),
        ("{}#/400/sku", "E1004: expected an index from 0 to"),
    ],
)
def test_what_does_not_open_is_an_error_result_and_the_server_gets_no_call(written: str, code: str) -> None:
    encoder, _, reference = passing()
    answer = encoder.answer_own(call("write", {"content": written.format(reference)}))
    assert answer is not None
    assert answer["result"]["isError"] is True
    assert answer["result"]["content"][0]["text"].startswith(code)
    # Of another session: nothing was granted here.
    other, _, _ = passing()
    assert other.session.stored_results is not None
    other.session.stored_results.close()
    refused = other.answer_own(call("write", {"content": reference}))
    assert refused is not None and refused["result"]["isError"] is True


def test_other_tools_and_arguments_are_given_what_the_client_wrote() -> None:
    encoder, _, reference = passing()
    for message in (call("find", {"content": reference}), call("write", {"path": reference, "content": 3})):
        assert encoder.answer_own(message) is None
        assert encoder.from_client(message) is message


def test_a_call_in_the_index_is_given_the_text() -> None:
    encoder, _, reference = passing(index=True)
    single = call("accp_tools", {"call": "write", "arguments": {"content": reference}})
    assert forwarded(encoder, single) == {"content": SOURCE}


def test_a_command_names_the_tool_and_its_arguments() -> None:
    assert read_tool_words(["write=resolve:content,body"]) == {"write": resolve("content", "body")}
    with pytest.raises(ValueError, match="found the pattern 'write_"):
        read_tool_words(["write_*=resolve:content"])
    with pytest.raises(ValueError, match="expected 'fetch' to be True where arguments take references"):
        Encoder(tools={"write": resolve("content")})
