"""Packets as values and texts: what cannot be written, the percent form, limits, and any text at all."""

from __future__ import annotations

import copy
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.aacp import Packet, guard, parse_packet, serialize_packet, validate, with_fields
from accp_core.aacp import packet as packets
from accp_core.aacp.packet import MAX_FIELDS, MAX_PACKET_CHARS
from accp_core.errors import DecodeError, EncodeError
from tests.work import count_calls, count_patterns, unbounded_repeats

BASE = {"return": "A", "p": "1", "aacp": "1.1"}

PLAIN = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="|")).filter(
    lambda text: text == text.strip()
)
WORDS = PLAIN.filter(lambda text: text and ":" not in text)
PACKETS = st.builds(Packet, task=WORDS, domain=WORDS, fields=st.dictionaries(WORDS, PLAIN, max_size=8))
ANYTHING = st.text() | st.text("|:\n\r %ABCreturn\u2028\ud800 ", max_size=40)


def packet(**fields: str) -> Packet:
    return Packet(task="FETCH", domain="HR", fields={**BASE, **fields})


@given(PACKETS)
def test_a_packet_comes_back_from_its_text(said: Packet) -> None:
    assert parse_packet(serialize_packet(said)) == said
    assert parse_packet(serialize_packet(said, escaped=True), escaped=True) == said


@given(st.dictionaries(WORDS, st.text(), max_size=6))
def test_any_value_but_half_a_pair_comes_back_in_the_percent_form(fields: dict[str, str]) -> None:
    said = Packet(task="FETCH", domain="HR", fields=fields)
    try:
        text = serialize_packet(said, escaped=True)
    except EncodeError as error:
        assert error.code == "E1004"
        assert any("\ud800" <= letter <= "\udfff" for value in fields.values() for letter in value)
        return
    assert parse_packet(text, escaped=True) == said
    assert not any(letter in text for letter in "\r\n\t")


@given(st.dictionaries(WORDS, st.text(), max_size=6), st.text(), st.text())
def test_no_value_adds_or_changes_a_field(fields: dict[str, str], task: str, domain: str) -> None:
    said = Packet(task=task, domain=domain, fields=fields)
    try:
        text = serialize_packet(said)
    except EncodeError:
        return
    assert parse_packet(text) == said


@given(ANYTHING)
def test_any_text_is_a_packet_or_refused_at_a_place_within_it(text: str) -> None:
    try:
        said = parse_packet(text)
    except DecodeError as error:
        assert error.code == "E1001"
        assert 0 <= error.position <= len(text)
        assert not validate(text).valid
    else:
        assert parse_packet(serialize_packet(said)) == said


@given(ANYTHING)
def test_a_validator_never_raises(text: str) -> None:
    report = validate(text, escaped=True)
    assert report.valid == (not report.errors)


def test_equal_packets_have_equal_texts() -> None:
    other = Packet(task="FETCH", domain="HR", fields={"aacp": "1.1", "p": "1", "return": "A"})
    assert other == packet()
    assert str(other) == str(packet()) == "FETCH|HR|return:A|p:1|aacp:1.1"


def test_the_required_fields_are_read_by_name() -> None:
    said = packet()
    assert (said.return_agent, said.priority, said.version) == ("A", "1", "1.1")
    empty = Packet(task="FETCH", domain="HR", fields={})
    assert (empty.return_agent, empty.priority, empty.version) == ("", "2", "")


def test_a_packet_can_be_copied_and_pickled() -> None:
    said = parse_packet("FETCH|HR|return:A|aacp:1.1")
    assert copy.deepcopy(said) == pickle.loads(pickle.dumps(said)) == said


def test_a_stamp_replaces_fields_and_nothing_else() -> None:
    assert str(with_fields(packet(res="x"), **{"return": "B", "p": "3"})) == "FETCH|HR|return:B|p:3|aacp:1.1|res:x"


def test_the_percent_form_is_readable_and_decoded_only_where_it_is_said() -> None:
    said = packet(res="50%|a\nb ")
    text = serialize_packet(said, escaped=True)
    assert text.endswith("|res:50%25%7Ca%0Ab%20")
    assert parse_packet(text, escaped=True) == said
    assert parse_packet(text).fields["res"] == "50%25%7Ca%0Ab%20"


@pytest.mark.parametrize("value", ["50%", "%zz", "%41", "%ff", "%7c", "%C3"])
def test_what_the_percent_form_never_writes_is_refused_in_it(value: str) -> None:
    with pytest.raises(DecodeError, match="percent form"):
        parse_packet(f"FETCH|HR|res:{value}", escaped=True)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (packet(res="a|b"), "res: "),
        (packet(res="a\x00b"), "res: "),
        (packet(res=" a"), "white space"),
        (packet(res="\ud800"), "res: "),
        (packet(**{"": "x"}), "the key ''"),
        (packet(**{"a:b": "x"}), "the key 'a:b'"),
        (packet(**{"a|b": "x"}), "the key 'a|b'"),
        (packet(res=7), "res: expected text, found 7"),  # type: ignore[arg-type]  # what a caller may do
        (Packet(task="", domain="HR", fields=BASE), "TASK: "),
        (Packet(task="FETCH", domain="H:R", fields=BASE), "DOM: "),
        (Packet(task="FETCH", domain="H\nR", fields=BASE), "DOM: "),
    ],
)
def test_what_no_text_could_say_is_not_written_and_not_valid(broken: Packet, reason: str) -> None:
    with pytest.raises(EncodeError, match="E1004") as refusal:
        serialize_packet(broken)
    assert reason in str(refusal.value)
    (error,) = validate(broken).errors
    assert (error.code, error.field) == ("cannot-be-written", "packet")


def test_length_and_count_are_bounded_in_both_directions() -> None:
    for text in (f"FETCH|HR|res:{'x' * MAX_PACKET_CHARS}", "FETCH|HR" + "|a:1" * (MAX_FIELDS + 1)):
        with pytest.raises(DecodeError, match="at most"):
            parse_packet(text)
        assert [error.code for error in validate(text).errors] == ["too-long"]
    for fields in ({"res": "x" * MAX_PACKET_CHARS}, {f"k{number}": "1" for number in range(MAX_FIELDS + 1)}):
        with pytest.raises(EncodeError, match="at most"):
            serialize_packet(Packet(task="FETCH", domain="HR", fields=fields))
    most = Packet(task="FETCH", domain="HR", fields={f"k{number}": "1" for number in range(MAX_FIELDS)})
    assert parse_packet(serialize_packet(most)) == most


@pytest.mark.parametrize(
    "text",
    [
        " " * MAX_PACKET_CHARS,
        f"FETCH|HR|res:{' ' * 60_000}x",
        "|" * 60_000,
        "F|H|a:" + "@" * 60_000,
        "F|H" + "".join(f"|k{number}:{'%41' * 80}" for number in range(MAX_FIELDS)),
    ],
    ids=["blanks", "blanks in a value", "pipes", "at signs", "fields"],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_hostile_texts_are_looked_at_once(text: str, escaped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = count_patterns(monkeypatch, packets, guard)
    calls = count_calls(lambda: validate(text, escaped=escaped))
    # A pattern of the guard reads all values in one text, with a line break between each two.
    assert max(pattern.characters for pattern in patterns) <= len(text)
    slots = text.count("|") + 1 if text.count("|") <= MAX_FIELDS + 1 else 0
    assert calls < 500 + 500 * slots


@pytest.mark.parametrize("pattern", [pattern for _, _, pattern, _ in guard._PATTERNS], ids=lambda found: found.pattern)
def test_a_pattern_of_the_guard_reads_a_bounded_text_at_each_place(pattern: re.Pattern[str]) -> None:
    assert unbounded_repeats(pattern) == 0


def test_half_a_pair_has_no_percent_form() -> None:
    with pytest.raises(EncodeError, match="half of a surrogate pair"):
        serialize_packet(packet(res="\ud800"), escaped=True)
