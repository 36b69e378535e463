"""The pipelines of section 7 and what each step does."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.accp import Envelope, Frame, GrammarLimits, Intent, LiteralKey, Ref
from accp_core.accp.budget import FrameLimits
from accp_core.accp.codec import Codec, cut_text
from accp_core.accp.frame import Message, json_to_value
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import SchemaRegistry
from accp_core.errors import DecodeError, EncodeError
from accp_core.packing.expansion import ExpansionLimits
from accp_core.references import StoredText
from tests.core.accp.refusals import code_of

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


def test_two_keys_that_a_frame_could_not_tell_apart_are_refused_e1001() -> None:
    assert code_of(CODEC.encode, message({"d": 1, LiteralKey("d"): 2})) == "E1001"


@pytest.mark.parametrize("payload", [{"k": float("nan")}, {"k": object()}, {1: 2}, {"k": {1: 2}}])
def test_what_has_no_spelling_is_refused_e1004(payload: dict[Any, Any]) -> None:
    assert code_of(CODEC.encode, message(payload)) == "E1004"


@pytest.mark.requirement("3.3-5", "10.3-3")
def test_defaults_are_left_out_in_type_as_well() -> None:
    payload = {"currency": "USD", "status": "pending", "retryable": False}
    assert text_of(message(payload, "TX")) == "@a>req:op{schema:TX}"
    assert decoded("@a>req:op{schema:TX}").payload == payload
    assert decoded("@a>req:op{schema:TX}").defaulted == set(payload)
    assert text_of(message({"status": 0, "deps": [0]}, "TA")) == "@a>req:op{stat:0|deps:[0]|schema:TA}"


LONG = {"text": "x y " * 20, "rows": [{"id": n} for n in range(30)], "short": "x" * 50}


@pytest.mark.requirement("3.3-4")
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


def piece(data: Any, sender: str = "a") -> Message:
    return Message(sender=sender, intent=Intent.STREAM, operation="frame", payload={"data": data}, schema="ST")


@pytest.mark.requirement("8.3-3")
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


@pytest.mark.requirement("8.3-3")
def test_a_chunk_over_its_limits_is_refused_all_the_same_e2003() -> None:
    # A counter that finds a short index dearer than the long one a chunk was measured with.
    def moody(text: str) -> int:
        return 1_000 if "idx:0" in text or "op{k" in text else len(text) // 4

    with pytest.raises(EncodeError, match="E2003: expected chunks"):
        Codec(counter=moody).encode(message({"k": "x" * 3_000}))


def test_without_the_stream_schema_nothing_is_split_e1003() -> None:
    assert code_of(replace(CODEC, registry=SchemaRegistry()).encode, message(BIG)) == "E1003"


def test_a_schema_of_another_name_is_refused_e1004() -> None:
    assert code_of(CODEC.register_schema, "report", BUILT_IN.get("SR")) == "E1004"


def test_a_text_is_read_as_the_codec_was_told() -> None:
    assert decoded("@a>req:op{who:@b|k:1.5}").payload == {"who": "@b", "k": 1.5}
    assert code_of(replace(CODEC, strict=True).decode, "@a>req:op{who:@b}") == "E1001"
    assert decoded("@a>req:op{k:1.5}", replace(CODEC, decimal_type=Decimal)).payload == {"k": Decimal("1.5")}
    assert code_of(replace(CODEC, grammar=GrammarLimits(members=1)).decode, "@a>req:op{k:1|l:2}") == "E1001"


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


# A frame cut into chunks.


def test_a_text_of_which_nothing_fits_is_refused_e2003() -> None:
    with pytest.raises(EncodeError, match="E2003"):
        cut_text("x", lambda piece: False, 5)
