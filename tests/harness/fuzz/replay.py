"""Any bytes are a log of runs, or findings and a refusal that name their place; what is read of it stays bounded."""

from accp_adapters.replay import Findings, UnreadableRun, parse_runs

__all__ = ["check"]

PATH = "log.jsonl"


def check(data: bytes) -> None:
    """Check the invariant for one input."""
    text = data.decode("utf-8", "surrogateescape")
    findings, lines = Findings(), text.count("\n") + 1
    try:
        runs = parse_runs(text, path=PATH, findings=findings)
    except UnreadableRun as refusal:
        assert (refusal.path, 1 <= refusal.line <= lines) == (PATH, True), refusal
        assert len(str(refusal)) < 2_000, refusal
        runs = []
    assert all(1 <= finding.line <= lines for finding in findings)
    assert all(len(str(finding)) < 2_000 for finding in findings)
    for run in runs:
        size = len(run.messages)
        assert run.calls, run
        assert all(0 <= position < size for call in run.calls for position in (*call.prompt, *call.output))
    assert sum(len(message.text) for run in runs for message in run.messages) <= 8 * len(text)
