"""The pipelines of section 7 and what each step does."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.accp import Envelope, Frame, GrammarLimits, Intent, LiteralKey, Ref
from accp_core.accp.budget import PRACTICAL_LIMITS, FrameLimits
from accp_core.accp.codec import Codec, NeedsRefs
from accp_core.accp.message import Message
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import Schema, SchemaRegistry
from accp_core.accp.session.streams import FrameJoiner
from accp_core.accp.values import json_to_value
from accp_core.errors import DecodeError, EncodeError, ProtocolError
from accp_core.packing.expansion import ExpansionLimits
from accp_core.references import StoredText

CODEC = Codec(counter=o200k_base())
BIG = {"rows": [{"id": row, "name": f"row {row}: é|@"} for row in range(60)], "d": 1.5}


def message(payload: Mapping[Any, Any], schema: str | None = None, intent: Intent = Intent.REQUEST) -> Message:
    return Message(sender="a", intent=intent, operation="op", payload=payload, schema=schema)


def text_of(original: Message, codec: Codec = CODEC) -> str:
    (frame,) = codec.encode(original).frames
    return codec.write(frame)


def decoded(text: str | Frame, codec: Codec = CODEC, **options: Any) -> Message:
    result = codec.decode(text, **options)
    assert isinstance(result, Message)
    return result


def code_of(call: Any, *arguments: Any) -> str:
    with pytest.raises(ProtocolError) as refusal:
        call(*arguments)
    return refusal.value.code


def test_a_callers_own_abbreviation_comes_back_as_it_is() -> None:
    payload = {"d": 1, "data": 2, "schema": "mine", "status": 3}
    assert text_of(message(payload)) == "@a>req:op{_x64_:1|d:2|_x73_chema:mine|status:3}"
    assert decoded(text_of(message(payload))).payload == payload


def test_two_keys_that_a_frame_could_not_tell_apart_are_refused_e1001() -> None:
    assert code_of(CODEC.encode, message({"d": 1, LiteralKey("d"): 2})) == "E1001"


@pytest.mark.parametrize(
    "text", ["@a>req:op{d:1|data:2}", "@a>req:op{tool:1|tool_name:2|schema:TC}", "@a>req:op{d:1|_x64_ata:2}"]
)
def test_one_key_in_two_spellings_is_refused_e1001(text: str) -> None:
    assert code_of(CODEC.decode, text) == "E1001"


def test_an_unknown_schema_is_refused_both_ways_e1003() -> None:
    assert code_of(CODEC.encode, message({}, "XY")) == "E1003"
    assert code_of(CODEC.decode, "@a>req:op{schema:XY}") == "E1003"


@pytest.mark.parametrize("code", ["1", "[TC]", "~", "$warm.schema"])
def test_a_schema_that_is_no_string_is_refused_e1004(code: str) -> None:
    assert code_of(CODEC.decode, f"@a>req:op{{schema:{code}}}") == "E1004"


def test_a_field_of_another_type_is_refused_both_ways_e1004() -> None:
    with pytest.raises(EncodeError, match="E1004"):
        CODEC.encode(message({"amount": "1.5"}, "TX"))
    assert code_of(CODEC.decode, '@a>req:op{amt:"1.5"|schema:TX}') == "E1004"


@pytest.mark.parametrize("payload", [{"k": float("nan")}, {"k": object()}, {1: 2}, {"k": {1: 2}}])
def test_what_has_no_spelling_is_refused_e1004(payload: dict[Any, Any]) -> None:
    assert code_of(CODEC.encode, message(payload)) == "E1004"


def test_defaults_are_left_out_in_type_as_well() -> None:
    payload = {"currency": "USD", "status": "pending", "retryable": False}
    assert text_of(message(payload, "TX")) == "@a>req:op{schema:TX}"
    assert decoded("@a>req:op{schema:TX}").payload == payload
    assert decoded("@a>req:op{schema:TX}").defaulted == set(payload)
    assert text_of(message({"status": 0, "deps": [0]}, "TA")) == "@a>req:op{stat:0|deps:[0]|schema:TA}"


def test_a_failure_is_neither_shortened_nor_filled() -> None:
    failure = message({"status": "ok"}, "TC", Intent.FAILURE)
    assert text_of(failure) == "@a>fail:op{stat:ok|schema:TC}"
    assert decoded("@a>fail:op{schema:TC}").payload == {}


def test_references_may_stay() -> None:
    kept = decoded("@a>req:op{src:$ctx.sales_db|k:[$warm.x]}", keep_refs=True)
    assert kept.payload == {"source": Ref("ctx.sales_db"), "k": [Ref("warm.x")]}


def test_the_types_of_fields_are_those_of_what_was_resolved_e1004() -> None:
    assert isinstance(CODEC.decode("@a>req:op{amt:$warm.x|schema:TX}"), NeedsRefs)
    assert code_of(CODEC.decode, "@a>req:op{amt:$warm.x|schema:TX}", {Ref("warm.x"): "1.5"}) == "E1004"


LONG = {"text": "x y " * 20, "rows": [{"id": n} for n in range(30)], "short": "x" * 50}


def test_long_values_stay_where_no_store_is_shared_and_that_is_noted() -> None:
    codec = replace(CODEC, limits=PRACTICAL_LIMITS)
    encoded = codec.encode(message(LONG))
    assert encoded.stored == ()
    assert [note.split(":")[0] for note in encoded.notes if "store" in note] == ["text", "rows"]


def test_long_values_leave_as_references_where_a_store_is_shared() -> None:
    codec = replace(CODEC, shared_store=True)
    encoded = codec.encode(message({**LONG, "ref": [Ref("warm.x")] * 30}))
    (frame,) = encoded.frames
    assert [type(value) for value in frame.params.values()] == [Ref, Ref, str, list]
    assert encoded.stored == tuple(StoredText.of(stored.text) for stored in encoded.stored)
    values = {Ref(stored.key): json_to_value(stored.text) for stored in encoded.stored}
    back = decoded(codec.write(frame), codec, resolved={**values, Ref("warm.x"): 0})
    assert back.payload == {**LONG, "ref": [0] * 30}
    assert codec.encode(message(LONG)).stored == encoded.stored


@pytest.mark.parametrize("intent", ["sync", "fail", "stream", "end", "ping", "pong"])
def test_what_must_be_understood_without_a_store_stays(intent: str) -> None:
    codec = replace(CODEC, shared_store=True, limits=PRACTICAL_LIMITS)
    assert codec.encode(message(LONG, intent=Intent(intent))).stored == ()


def test_a_default_is_left_out_before_it_is_stored() -> None:
    schema = Schema(name="n", code="N", version=1, fields=("text",), defaults={"text": "x" * 60})
    codec = replace(CODEC, shared_store=True).register_schema("n", schema)
    encoded = codec.encode(message({"text": "x" * 60}, "N"))
    assert encoded.stored == ()
    assert encoded.frames[0].params == {"schema": "N"}


def test_tokens_are_those_of_the_frame_with_an_envelope() -> None:
    envelope = Envelope(msg_id="49679033e07c", sequence=3, timestamp=1714000000)
    encoded = CODEC.encode(replace(message({"k": 1}), envelope=envelope))
    assert encoded.tokens == CODEC.counter("@a>req:op{k:1}[mid:49679033e07c,seq:3,ts:1714000000]")
    assert CODEC.encode(message({"k": 1})).tokens >= encoded.tokens


def test_a_soft_limit_is_noted_and_the_frame_sent_whole() -> None:
    encoded = CODEC.encode(message({"k": " ".join(["word"] * 60)}))
    assert len(encoded.frames) == 1
    assert any("soft limit 50" in note for note in encoded.notes)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_frame_over_its_limits_leaves_in_chunks_that_keep_them(ascii_only: bool) -> None:
    codec = replace(CODEC, ascii_only=ascii_only)
    encoded = codec.encode(message(BIG))
    assert len(encoded.frames) > 3
    texts = [codec.write(frame) for frame in encoded.frames]
    assert texts[0].startswith(f"@a>stream:frame{{idx:0|tot:{len(texts)}|d:")
    assert "|done:true|" in texts[-1]
    assert len({frame.envelope.correlation_id for frame in encoded.frames}) == 1
    for frame in encoded.frames:
        full = replace(frame.envelope, msg_id="0a1b2c3d4e5f", sequence=123_456, timestamp=1_714_000_000)
        tokens = codec.count(replace(frame, envelope=full))
        assert tokens.body <= 200
        assert tokens.total <= 240
    joiner = FrameJoiner()
    joined = [joiner.add(decoded(text, codec)) for text in reversed(texts)][-1]
    assert joined is not None
    back = codec.join(joined)
    assert back == replace(message(BIG), envelope=encoded.frames[-1].envelope)


def test_chunks_share_the_correlation_of_their_message() -> None:
    frames = CODEC.encode(replace(message(BIG), envelope=Envelope(correlation_id="c", ttl=9))).frames
    assert {(frame.envelope.correlation_id, frame.envelope.ttl) for frame in frames} == {("c", 9)}


def test_joined_pieces_say_which_references_they_need() -> None:
    frames = CODEC.encode(message({**BIG, "k": Ref("warm.x")})).frames
    pieces = [decoded(frame) for frame in frames]
    assert isinstance(CODEC.join(pieces), NeedsRefs)
    joined = CODEC.join(pieces, {Ref("warm.x"): 1})
    assert isinstance(joined, Message)
    assert joined.payload == {**BIG, "k": 1}
    kept = CODEC.join(pieces, keep_refs=True)
    assert isinstance(kept, Message)
    assert kept.payload["k"] == Ref("warm.x")


def piece(data: Any, sender: str = "a") -> Message:
    return Message(sender=sender, intent=Intent.STREAM, operation="frame", payload={"data": data}, schema="ST")


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [piece(1)],
        [piece("@a>req:op{}"), piece(None)],
        [piece("@a>req:op{}", sender="b")],
        [piece("@a>stream:frame{}")],
        [piece("no frame")],
    ],
)
def test_pieces_that_make_no_frame_are_refused_e1001(pieces: list[Message]) -> None:
    assert code_of(CODEC.join, pieces) == "E1001"


def test_an_empty_frame_can_be_joined() -> None:
    joined = CODEC.join([piece("@a>req:op{}")])
    assert isinstance(joined, Message)
    assert joined == message({})


@pytest.mark.parametrize(
    ("codec", "original"),
    [
        (replace(CODEC, split=False), message(BIG)),
        (CODEC, replace(piece("x" * 5_000))),
        (replace(CODEC, limits=FrameLimits(body_hard=5)), message(BIG)),
        (CODEC, replace(message({}), envelope=Envelope(correlation_id="c" * 3_000))),
    ],
)
def test_what_fits_no_frames_is_refused_e2003(codec: Codec, original: Message) -> None:
    with pytest.raises(EncodeError, match="E2003"):
        codec.encode(original)


def test_a_chunk_over_its_limits_is_refused_all_the_same_e2003() -> None:
    # A counter that finds a short index dearer than the long one a chunk was measured with.
    def moody(text: str) -> int:
        return 1_000 if "idx:0" in text or "op{k" in text else len(text) // 4

    with pytest.raises(EncodeError, match="E2003: expected chunks"):
        Codec(counter=moody).encode(message({"k": "x" * 3_000}))


def test_without_the_stream_schema_nothing_is_split_e1003() -> None:
    assert code_of(replace(CODEC, registry=SchemaRegistry()).encode, message(BIG)) == "E1003"


def test_a_schema_is_registered_as_a_value_or_as_its_json() -> None:
    data = {"code": "INV", "version": 1, "fields": ["number"], "aliases": {"n": "number"}}
    codec = CODEC.register_schema("invoice", data)
    assert text_of(message({"number": 7}, "INV"), codec) == "@a>req:op{n:7|schema:INV}"
    assert codec.register_schema("invoice", codec.registry.get("INV")) == codec
    assert CODEC.registry is BUILT_IN


def test_a_schema_of_another_name_is_refused_e1004() -> None:
    assert code_of(CODEC.register_schema, "report", BUILT_IN.get("SR")) == "E1004"


def test_a_text_is_read_as_the_codec_was_told() -> None:
    assert decoded("@a>req:op{who:@b|k:1.5}").payload == {"who": "@b", "k": 1.5}
    assert code_of(replace(CODEC, strict=True).decode, "@a>req:op{who:@b}") == "E1001"
    assert decoded("@a>req:op{k:1.5}", replace(CODEC, decimal_type=Decimal)).payload == {"k": Decimal("1.5")}
    assert code_of(replace(CODEC, grammar=GrammarLimits(members=1)).decode, "@a>req:op{k:1|l:2}") == "E1001"


def test_tuples_and_maps_of_other_kinds_are_read_as_lists_and_dicts() -> None:
    frame = Frame(sender="a", intent=Intent.REQUEST, operation="op", params={"k": ({"n": (1,)},)})
    assert decoded(frame).payload == {"k": [{"n": [1]}]}


def test_a_reference_in_many_places_is_bounded_by_what_came_e2003() -> None:
    text, value = f"@a>req:op{{k:[{','.join(['$cold.x'] * 200)}]}}", ["y" * 1000]
    with pytest.raises(DecodeError, match=r"found '\$cold.x'") as refusal:
        CODEC.decode(text, {Ref("cold.x"): value})
    assert (refusal.value.code, refusal.value.position) == ("E2003", text.index("$cold.x"))
    with pytest.raises(DecodeError) as refusal:
        CODEC.decode(CODEC.read(text), {Ref("cold.x"): value})
    assert (refusal.value.code, refusal.value.text, refusal.value.position) == ("E2003", "$cold.x", 0)
    wider = replace(CODEC, expansion=ExpansionLimits(times=200))
    assert wider.decode(text, {Ref("cold.x"): value}).payload["k"] == [value] * 200  # type: ignore[union-attr]


def test_a_value_in_one_place_may_have_any_size() -> None:
    value = "y" * 100_000
    assert decoded("@a>req:op{k:$cold.x}", resolved={Ref("cold.x"): value}).payload == {"k": value}
