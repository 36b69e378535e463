"""LangSmith: exported runs (`run_type` "llm"), alone or within the tree of their parents.

Sources: https://docs.langchain.com/langsmith/run-data-format and `langsmith.schemas.Run`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Request, definitions
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.traces.logged_messages import read_answer, read_prompt

__all__ = ["is_run", "read_run"]

_OWNER: Final = "a LangSmith run"


def is_run(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"run_type": str(), "inputs": _} | {"runs": [{"run_type": str()}, *_]}:
            return True
    return False


def read_run(document: Mapping[str, Any], findings: Findings) -> Iterator[Request]:
    """Yield the model calls of a run and of its children."""
    if "runs" in document:
        for run in document["runs"]:
            yield from read_run(run, findings)
        return
    if document["run_type"] == "llm":
        yield _request(document, findings)
    elif not document.get("child_runs"):
        findings.add("run", f"of type {document['run_type']!r} of LangSmith", left_out=True)
    for child in document.get("child_runs") or ():
        yield from read_run({"trace_id": document.get("trace_id") or document.get("id")} | child, findings)


def _request(run: Mapping[str, Any], findings: Findings) -> Request:
    extra = run.get("extra") or {}
    parameters = extra.get("invocation_params") or {}
    prompt, tools = read_prompt(run["inputs"], findings, _OWNER)
    return Request(
        prompt=prompt,
        output=read_answer(run.get("outputs"), findings, _OWNER),
        tools=tools or definitions(parameters.get("tools"), parameters.get("functions")),
        group=str(run.get("trace_id") or run.get("parent_run_id") or run.get("id")),
        agent=str((extra.get("metadata") or {}).get("lc_agent_name") or ""),
        started=str(run.get("start_time") or ""),
        identity=str(run.get("id") or ""),
    )
