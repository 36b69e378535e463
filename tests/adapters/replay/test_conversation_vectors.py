"""One conversation, written in each format: the same model calls and, within 3 %, the same tokens."""

import pytest

from accp_adapters.replay import AS_RECORDED, Findings, Role, Run, read_runs, replay
from accp_adapters.replay.formats.run_files import FORMATS, detect, read_documents
from tests.conformance.vectors import ROOT

VECTORS = sorted((ROOT / "replay").glob("*.json*"))
CALLS = 4


def read(name: str) -> tuple[Run, Findings]:
    findings = Findings()
    (run,) = read_runs(ROOT / "replay" / name, findings=findings)
    return run, findings


def tokens(run: Run) -> list[int]:
    return [call.charge.tokens for call in replay(run, AS_RECORDED).calls]


def test_each_format_has_a_vector() -> None:
    found = set()
    for path in VECTORS:
        with path.open("rb") as stream:
            found |= {each.name for _, document in read_documents(stream, path.name) if (each := detect(document))}
    assert found == {each.name for each in FORMATS}


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.name)
def test_each_format_has_the_same_calls_and_tokens(path: object) -> None:
    expected = tokens(read("openai_list.json")[0])
    name = getattr(path, "name", "")
    run, findings = read(name)
    assert findings.not_understood() == []
    assert len(run.calls) == CALLS
    assert tokens(run) == pytest.approx(expected, rel=0.03, abs=13)
    # The input of a batch has no answers.
    assert all(call.output for call in run.calls) or name == "openai_batch.jsonl"
    assert sum(tokens(run)) == pytest.approx(sum(expected), rel=0.03)


def test_results_and_agents_have_their_names_in_each_format() -> None:
    for path in VECTORS:
        run, _ = read(path.name)
        results = [message for message in run.messages if message.role is Role.TOOL]
        assert [message.tool for message in results] == ["search_trains", "hold_seat"], path.name
