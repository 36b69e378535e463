"""Any text is an AACP packet or is refused with a position in it; a packet survives its text."""

from typing import Final

from accp_core import DecodeError, EncodeError
from accp_core.aacp import Packet, explain, parse_packet, serialize_packet, validate
from accp_core.aacp.instruction import Instruction, find_omissions
from tests.harness.fuzz.choices import choose

__all__ = ["check", "check_all"]


def check(data: bytes) -> None:
    """Check the invariant for one input, as a packet or as an instruction."""
    choose(data, WAYS)(data.decode("utf-8", "surrogateescape"))


def check_all(data: bytes) -> None:
    """Check the invariant for one input in every way."""
    for way in WAYS:
        way(data.decode("utf-8", "surrogateescape"))


def check_packet(text: str) -> None:
    """Check that a text is a packet or refused."""
    report = validate(text)
    try:
        packet = parse_packet(text)
    except DecodeError as refusal:
        assert refusal.code == "E1001", refusal
        assert 0 <= refusal.position <= len(text), refusal
        assert not report.valid
        return
    assert report.packet in (packet, None)
    check_written(packet)


def check_written(packet: Packet) -> None:
    """Check that a packet survives its text."""
    assert explain(packet).endswith(".")
    try:
        assert parse_packet(serialize_packet(packet)) == packet
    except EncodeError as refusal:
        assert refusal.code == "E1001", refusal


def check_instruction(text: str) -> None:
    """Check that white space changes neither key nor pattern of an instruction."""
    try:
        instruction = Instruction(english=text, domain="HR", return_agent="A")
    except EncodeError as refusal:
        assert refusal.code == "E1004", refusal
        return
    again = Instruction(english=f"  {' '.join(text.split())}\n", domain="HR", return_agent="A")
    assert (instruction.key, instruction.pattern) == (again.key, again.pattern)
    list(find_omissions(instruction, Packet(task="ACK", domain="HR", fields={})))


WAYS: Final = (check_packet, check_instruction)
