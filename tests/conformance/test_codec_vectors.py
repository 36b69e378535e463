"""The vectors of messages, registries and streams."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accp_core.accp.budget import PRACTICAL_LIMITS
from accp_core.accp.codec import Codec, NeedsRefs
from accp_core.accp.frame import Message
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import SchemaRegistry
from accp_core.accp.session.exchanges import FrameJoiner, StreamBuffer
from accp_core.errors import ProtocolError
from tests.conformance.vectors import build_message, build_value, exact, load

CODEC = Codec(counter=len, limits=PRACTICAL_LIMITS)


def modes(vector: dict[str, Any]) -> list[bool]:
    return [vector["mode"] == "strict"] if "mode" in vector else [True, False]


def decoded(text: str, codec: Codec = CODEC) -> Message:
    message = codec.decode(text, keep_refs=True)
    assert isinstance(message, Message)
    return message


def is_same(one: Message, other: Message) -> bool:
    rest = replace(one, payload={}) == replace(other, payload={})
    return rest and exact(one.payload) == exact(other.payload)


@pytest.mark.parametrize("vector", load("accp", "encode"))
def test_a_message_is_written_as_this_text_and_comes_back(vector: dict[str, Any]) -> None:
    registry = BUILT_IN.merged(SchemaRegistry.from_json(build_value(vector.get("registry", {"schemas": {}}))))
    for ascii_only in (True, False):
        codec = replace(CODEC, registry=registry, ascii_only=ascii_only)
        message = build_message(vector["message"])
        (frame,) = codec.encode(message).frames
        text = codec.write(frame)
        assert text == (vector.get("ascii", vector["text"]) if ascii_only else vector["text"])
        back = decoded(text, codec)
        assert exact({**back.payload, **message.payload}) == exact(back.payload)
        assert set(back.payload) - set(message.payload) <= back.defaulted


@pytest.mark.parametrize("vector", load("accp", "decode"))
def test_a_text_says_this_message(vector: dict[str, Any]) -> None:
    for strict in modes(vector):
        for kind in (float, Decimal):
            codec = replace(CODEC, strict=strict, decimal_type=kind)
            assert is_same(decoded(vector["text"], codec), build_message(vector["message"], kind))


@pytest.mark.parametrize("vector", load("accp", "undecodable"))
def test_a_frame_that_is_no_message_is_refused_with_this_code(vector: dict[str, Any]) -> None:
    for strict in modes(vector):
        with pytest.raises(ProtocolError) as refusal:
            replace(CODEC, strict=strict).decode(vector["text"])
        assert refusal.value.code == vector["error"]


@pytest.mark.parametrize("vector", load("accp", "unencodable"))
def test_a_message_that_has_no_frame_is_refused_with_this_code(vector: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as refusal:
        CODEC.encode(build_message(vector["message"]))
    assert refusal.value.code == vector["error"]


@pytest.mark.parametrize("vector", load("accp", "references"))
def test_a_frame_needs_these_references(vector: dict[str, Any]) -> None:
    result = CODEC.decode(vector["text"])
    needs = [ref.key for ref in result.refs] if isinstance(result, NeedsRefs) else []
    assert needs == vector["needs"]


@pytest.mark.parametrize("vector", load("accp", "registries"))
def test_a_registry_has_this_canonical_text_and_hash(vector: dict[str, Any]) -> None:
    for kind in (float, Decimal):
        registry = SchemaRegistry.from_json(build_value(vector["registry"], kind))
        assert (registry.canonical_json, registry.hash) == (vector["canonical"], vector["hash"])


@pytest.mark.parametrize("vector", load("accp", "offers"))
def test_an_offered_registry_is_taken_whole_or_refused_with_this_code(vector: dict[str, Any]) -> None:
    bases = [SchemaRegistry.from_json(build_value(vector["base"]))] if "base" in vector else []
    try:
        registry = SchemaRegistry.from_offer(build_value(vector["offer"]), bases)
    except ProtocolError as refusal:
        assert refusal.code == vector.get("error")
    else:
        assert registry.hash == vector["hash"]


@pytest.mark.parametrize("vector", load("accp", "streams"))
def test_a_stream_gives_its_chunks_in_order(vector: dict[str, Any]) -> None:
    buffer = StreamBuffer()
    for step in vector["steps"]:
        try:
            given = buffer.close() or () if "close" in step else buffer.add(decoded(step["receive"]))
        except ProtocolError as refusal:
            assert refusal.code == step.get("error")
        else:
            assert [chunk.payload["data"] for chunk in given] == step.get("gives", [])
            assert "error" not in step
            assert buffer.complete == step.get("complete", False)


@pytest.mark.parametrize("vector", load("accp", "pieces"))
def test_pieces_are_joined_to_this_message_or_refused_with_this_code(vector: dict[str, Any]) -> None:
    joiner = FrameJoiner()
    pieces = [joiner.add(decoded(text)) for text in vector["texts"]][-1]
    assert pieces is not None
    try:
        message = CODEC.join(pieces)
    except ProtocolError as refusal:
        assert refusal.code == vector.get("error")
    else:
        assert isinstance(message, Message)
        assert is_same(message, build_message(vector["message"]))
