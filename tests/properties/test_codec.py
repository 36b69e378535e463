"""What holds of every message: nothing is lost on its way through frames, whatever they look like."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accp_core import Envelope, parse_frame
from accp_core.accp import Intent, Ref
from accp_core.accp.budget import PRACTICAL_LIMITS
from accp_core.accp.codec import Codec, NeedsRefs
from accp_core.accp.frame import ABBREVIATIONS, KeyTable, Message, json_to_value
from accp_core.accp.profiles import BUILT_IN, FIELD_KINDS, PINNED
from accp_core.accp.schema import Schema, SchemaRegistry
from accp_core.accp.session.exchanges import FrameJoiner
from accp_core.errors import ProtocolError
from tests.conformance.vectors import exact
from tests.properties.abnf import is_frame
from tests.properties.strategies import ALPHABET, floats, integers, keys, names, strings, texts, values


def quarter(text: str) -> int:
    """Count without a vocabulary; four characters are a token."""
    return (len(text) + 3) // 4


def wide(**options: Any) -> Codec:
    return Codec(counter=quarter, limits=PRACTICAL_LIMITS, **options)


scalars = st.none() | st.booleans() | integers | floats | strings
json_values = st.recursive(
    scalars, lambda members: st.lists(members, max_size=4) | st.dictionaries(keys, members, max_size=4), max_leaves=12
)
known_keys = st.sampled_from(
    sorted(
        {"schema", "delta", *ABBREVIATIONS, *ABBREVIATIONS.values()}
        | {key for schema in BUILT_IN.schemas for key in (*schema.fields, *schema.aliases)}
    )
)
default_values = st.sampled_from([value for schema in BUILT_IN.schemas for value in schema.defaults.values()])


@st.composite
def messages(draw: st.DrawFn, members: st.SearchStrategy[Any] = json_values) -> Message:
    """Draw a message under any schema or none, often with keys and values that the schema knows."""
    schema = draw(st.none() | st.sampled_from(sorted(PINNED)))
    payload = draw(st.dictionaries(keys | known_keys, members | default_values, max_size=6))
    for field, kind in FIELD_KINDS.get(schema or "", {}).items():
        if field in payload and not (isinstance(payload[field], Ref) or kind.accepts(payload[field])):
            del payload[field]
    return Message(
        sender=draw(names(ALPHABET + "-")),
        intent=draw(st.sampled_from(Intent)),
        operation=draw(names(ALPHABET) | st.just("state")),
        payload=payload,
        schema=schema,
        envelope=draw(st.builds(Envelope, correlation_id=st.none() | names(ALPHABET))),
    )


def filled(message: Message) -> dict[str, Any]:
    """Return the payload as it arrives."""
    if message.schema is None or message.intent is Intent.FAILURE:
        return dict(message.payload)
    return {**message.payload, **BUILT_IN.get(message.schema).missing(message.payload)}


@pytest.mark.requirement("7.1-1")
@given(messages(), st.booleans(), st.booleans())
def test_any_payload_survives_type_for_type_under_every_schema(
    message: Message, ascii_only: bool, strict: bool
) -> None:
    codec = wide(ascii_only=ascii_only, strict=strict)
    (frame,) = codec.encode(message).frames
    text = codec.write(frame)
    back = codec.decode(text)
    assert isinstance(back, Message)
    assert exact(back.payload) == exact(filled(message))
    assert replace(back, payload={}, defaulted=frozenset()) == replace(message, payload={})
    assert is_frame(text) or not ascii_only


@given(messages(), st.booleans())
def test_what_was_decoded_is_encoded_byte_for_byte(message: Message, ascii_only: bool) -> None:
    codec = wide(ascii_only=ascii_only)
    text = codec.write(codec.encode(message).frames[0])
    back = codec.decode(text)
    assert isinstance(back, Message)
    assert codec.write(codec.encode(back).frames[0]) == text


@given(messages(values(floats)))
def test_references_stay_or_are_all_asked_for(message: Message) -> None:
    codec = wide()
    frame = codec.encode(message).frames[0]
    kept = codec.decode(frame, keep_refs=True)
    assert isinstance(kept, Message)
    assert exact(kept.payload) == exact(filled(message))
    needs = codec.decode(frame)
    if isinstance(needs, NeedsRefs):
        resolved: dict[Ref, Any] = dict.fromkeys(needs.refs, 1.5)
        some = dict(list(resolved.items())[1:])
        assert codec.decode(frame, some) == NeedsRefs(refs=needs.refs[:1], frame=frame)


@pytest.mark.requirement("3.4-1")
@given(messages(), st.integers(40, 80), st.booleans(), st.randoms())
@example(
    Message(sender="a", intent=Intent.REQUEST, operation="op", payload={"k": '"' * 80 + "=" * 80 + "true"}),
    40,
    True,
    None,
)
def test_a_message_survives_in_pieces_of_any_size_and_order(
    message: Message, total: int, ascii_only: bool, randomness: Any
) -> None:
    limits = replace(PRACTICAL_LIMITS, total_hard=total)
    codec = Codec(counter=quarter, limits=limits, ascii_only=ascii_only)
    frames = list(codec.encode(message).frames)
    if randomness is not None:
        randomness.shuffle(frames)
    joiner, joined = FrameJoiner(), None
    for frame in frames:
        assert limits.fits(codec.count(frame))
        piece = codec.decode(codec.write(frame))
        assert isinstance(piece, Message)
        if len(frames) == 1:
            return
        joined = joiner.add(piece)
    assert joined is not None
    back = codec.join(joined)
    assert isinstance(back, Message)
    assert exact(back.payload) == exact(filled(message))
    assert (back.sender, back.intent, back.operation) == (message.sender, message.intent, message.operation)


@pytest.mark.requirement("3.3-4")
@given(messages())
def test_a_message_survives_a_shared_store(message: Message) -> None:
    codec = wide(shared_store=True)
    encoded = codec.encode(message)
    stored = {Ref(stored.key): json_to_value(stored.text) for stored in encoded.stored}
    back = codec.decode(codec.write(encoded.frames[0]), stored)
    assert isinstance(back, Message)
    assert exact(back.payload) == exact(filled(message))
    assert codec.encode(back) == encoded


@pytest.mark.requirement("7.1-2")
@given(texts)
def test_any_text_is_decoded_or_refused_with_a_code(text: str) -> None:
    try:
        wide().decode(text)
    except ProtocolError as refusal:
        assert refusal.code in {"E1001", "E1002", "E1003", "E1004"}


aliases = st.dictionaries(names("abd_x").filter(lambda short: "_" not in short), keys, max_size=4)


@given(aliases, st.sets(keys | known_keys, max_size=8))
def test_no_aliases_make_one_key_of_two(table: dict[str, str], full: set[str]) -> None:
    known = KeyTable(table)
    wire = [known.to_wire(key) for key in full]
    assert len(set(wire)) == len(full)
    assert [known.to_full(key) for key in wire] == list(full)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Draw a schema that no other draw conflicts with in name or code."""
    code = draw(st.sampled_from(["A", "B", "C"]))
    fields = draw(st.lists(keys.filter(lambda key: key not in ("", "schema")), unique=True, max_size=4))
    defaults = draw(st.fixed_dictionaries({}, optional=dict.fromkeys(fields, json_values)))
    return Schema(name=code, code=code, version=draw(st.integers(1, 3)), fields=tuple(fields), defaults=defaults)


def registry_of(drawn: list[Schema]) -> SchemaRegistry:
    registry = BUILT_IN
    for schema in drawn:
        try:
            registry = registry.register(schema)
        except ProtocolError as refusal:
            assert refusal.code == "E5001"
    return registry


registries = st.lists(schemas(), max_size=4).map(registry_of)


@given(registries, st.booleans())
def test_an_offered_registry_survives_its_frame(registry: SchemaRegistry, on_base: bool) -> None:
    offer = registry.offer(BUILT_IN if on_base else None)
    message = Message(sender="a", intent=Intent.SYNCHRONIZE, operation="registry", payload=offer)
    codec = wide(ascii_only=True)
    back = codec.decode(parse_frame(codec.write(codec.encode(message).frames[0])))
    assert isinstance(back, Message)
    again = SchemaRegistry.from_offer(back.payload, bases=[BUILT_IN])
    assert (again.hash, again.version) == (registry.hash, registry.version)


@pytest.mark.requirement("8.3-2")
@pytest.mark.slow
@given(registries, registries)
def test_agents_that_merge_agree_or_both_refuse(mine: SchemaRegistry, theirs: SchemaRegistry) -> None:
    def merged(one: SchemaRegistry, other: SchemaRegistry) -> tuple[str, int] | str:
        try:
            union = one.merged(other, pinned=PINNED)
        except ProtocolError as refusal:
            return refusal.code
        return union.hash, union.version

    assert merged(mine, theirs) == merged(theirs, mine)
