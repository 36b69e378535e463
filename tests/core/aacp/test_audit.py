"""Records as lines, and done again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.aacp import Packet
from accp_core.aacp.audit import AuditRecord, digest_of, read_record, replay_records, write_record
from accp_core.errors import DecodeError, LocalProtocolError

PACKET = "FETCH|HR|return:A|p:1|aacp:1.1|res:x"
RECORDS = st.builds(AuditRecord, at=st.integers(), run=st.text(), packet=st.text(), status=st.text(), result=st.text())


@pytest.mark.requirement("aacp:8-2")
@given(RECORDS)
def test_a_record_comes_back_from_its_line(record: AuditRecord) -> None:
    line = write_record(record)
    assert read_record(line) == record
    assert "\n" not in line


def test_members_of_later_versions_are_passed_over() -> None:
    assert read_record('{"at":1,"run":"r","packet":"p","new":[]}') == AuditRecord(at=1, run="r", packet="p")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"at":1,"run":"r","pac', ""),
        ("", ""),
        ("[]", "expected an object, found list"),
        ("3", "expected an object, found int"),
        ("{}", "expected the members at, run, packet, found no members"),
        ('{"a":1}', "expected the members at, run, packet, found 'a'"),
        ('{"at":1}', "expected the members run, packet, found 'at'"),
        ('{"at":"1","run":"r","packet":"p"}', "at: expected int, found '1'"),
        ('{"at":true,"run":"r","packet":"p"}', "at: expected int, found True"),
        ("[" * 100_000, ""),
    ],
)
def test_a_line_that_is_no_record_is_refused(line: str, reason: str) -> None:
    with pytest.raises(DecodeError, match=f"expected an audit record: {reason}") as refusal:
        read_record(line)
    assert (refusal.value.code, refusal.value.position) == ("E1001", 0)


@pytest.mark.requirement("aacp:8-2", "aacp:15-3")
def test_a_replay_tells_what_came_out_otherwise() -> None:
    def perform(packet: Packet) -> str:
        if packet.task == "SEND":
            raise LocalProtocolError("nobody to send to", code="E4001")
        return packet.fields["res"]

    records = [
        AuditRecord(at=1, run="r", packet=PACKET, result=digest_of("x")),
        AuditRecord(at=2, run="r", packet=PACKET, result=digest_of("y")),
        AuditRecord(at=3, run="r", packet=PACKET.replace("FETCH", "SEND"), result=""),
        AuditRecord(at=4, run="r", packet="FETCH|HR|res:x", result=digest_of("x")),
    ]
    done = list(replay_records(records, perform))
    assert [each.record for each in done] == records
    assert [each.same for each in done] == [True, False, False, False]
    assert [each.reason for each in done[:3]] == ["", "", "nobody to send to"]
    assert "return: is missing" in done[3].reason
