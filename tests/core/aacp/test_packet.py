"""Packets as values and texts: what cannot be written, limits, and any text at all."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.aacp import Packet, encoding, parse_packet, serialize_packet, validate
from accp_core.aacp import packet as packets
from accp_core.aacp.packet import MAX_FIELDS, MAX_PACKET_CHARS
from accp_core.errors import DecodeError, EncodeError
from tests.work import count_calls, count_patterns, unbounded_repeats

BASE = {"return": "A", "p": "1", "aacp": "1.1"}

PLAIN = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="|")).filter(
    lambda text: text == text.strip()
)
WORDS = PLAIN.filter(lambda text: text and ":" not in text)
ANYTHING = st.text() | st.text("|:\n\r %ABCreturn\u2028\ud800 ", max_size=40)


def packet(**fields: str) -> Packet:
    return Packet(task="FETCH", domain="HR", fields={**BASE, **fields})


@pytest.mark.requirement("aacp:15-1")
@given(st.dictionaries(WORDS, st.text(), max_size=6), st.text(), st.text())
def test_no_value_adds_or_changes_a_field(fields: dict[str, str], task: str, domain: str) -> None:
    said = Packet(task=task, domain=domain, fields=fields)
    try:
        text = serialize_packet(said)
    except EncodeError:
        return
    assert parse_packet(text) == said


@given(ANYTHING)
def test_a_validator_never_raises(text: str) -> None:
    report = validate(text)
    assert report.valid == (not report.errors)


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


@pytest.mark.requirement("aacp:15-1")
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
def test_hostile_texts_are_looked_at_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = count_patterns(monkeypatch, packets, encoding)
    calls = count_calls(lambda: validate(text))
    # A pattern of the guard reads all values in one text, with a line break between each two.
    assert max(pattern.characters for pattern in patterns) <= len(text)
    slots = text.count("|") + 1 if text.count("|") <= MAX_FIELDS + 1 else 0
    assert calls < 500 + 500 * slots


@pytest.mark.parametrize(
    "pattern", [pattern for _, _, pattern, _ in encoding._PATTERNS], ids=lambda found: found.pattern
)
def test_a_pattern_of_the_guard_reads_a_bounded_text_at_each_place(pattern: re.Pattern[str]) -> None:
    assert unbounded_repeats(pattern) == 0
