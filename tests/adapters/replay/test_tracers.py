"""Forms in which tracers wrote one conversation of late: another's messages inside their own records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.replay import Role
from tests.adapters.replay.test_format_details import DETAILS, generation, read

RECORDS = json.loads((DETAILS / "tracers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_a_conversation_is_read_whichever_tracer_wrote_it(record: Any) -> None:
    (run,), findings = read(record)
    assert list(map(str, findings.not_understood())) == []
    assert [(message.role, message.text) for message in run.messages] == [
        (Role.USER, "Weather in Rome?"),
        (Role.AGENT, '{"city":"Rome"}'),
        (Role.TOOL, "Sunny"),
        (Role.AGENT, "It is sunny."),
    ]
    assert run.messages[2].tool == "weather"


def test_an_observation_that_cannot_be_read_is_counted_and_the_others_of_its_trace_are_read() -> None:
    broken = generation(input={"messages": [{"role": "user", "content": "go", "tool_calls": [{"id": "c1"}]}]})
    (run,), findings = read({"id": "t1", "observations": [broken, generation()]})
    assert [message.text for message in run.messages] == ["go", "done"]
    assert len(findings.not_understood()) == 1
