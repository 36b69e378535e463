"""LangSmith: exported runs of models, alone or within the tree of their parents, and examples of a data set.

Their `run_type` is "llm"; LangChain's own tracers also write "chat_model". A bulk export has the inputs,
outputs and extras of a run as JSON in texts.

Sources: https://docs.langchain.com/langsmith/run-data-format and `langsmith.schemas.Run`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Request, definitions
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.traces.logged_messages import opened, read_answer, read_prompt

__all__ = ["is_run", "read_run"]

_OWNER: Final = "a LangSmith run"
_EXAMPLE: Final = "a LangSmith example"


def is_run(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"run_type": str(), "inputs": _} | {"runs": [{"run_type": str()}, *_]}:
            return True
        case {"dataset_id": _, "inputs": {**_inputs}, "outputs": _}:
            return True
    return False


def read_run(document: Mapping[str, Any], findings: Findings) -> Iterator[Request]:
    """Yield the model calls of a run and of its children."""
    if "runs" in document:
        for run in document["runs"]:
            yield from read_run(run, findings)
        return
    if "run_type" not in document:
        yield from _example(document, findings)
        return
    if document["run_type"] in ("llm", "chat_model"):
        yield from _request(document, findings)
    elif not document.get("child_runs"):
        findings.add("run", f"of type {document['run_type']!r} of LangSmith", left_out=True)
    for child in document.get("child_runs") or ():
        yield from read_run({"trace_id": document.get("trace_id") or document.get("id")} | child, findings)


def _example(example: Mapping[str, Any], findings: Findings) -> Iterator[Request]:
    """Yield an example as a model call, where its input is a prompt."""
    prompt, tools = read_prompt(example["inputs"], findings, _EXAMPLE)
    if prompt:
        yield Request(prompt=prompt, output=read_answer(example["outputs"], findings, _EXAMPLE), tools=tools)


def _request(run: Mapping[str, Any], findings: Findings) -> Iterator[Request]:
    """Yield a model call, unless its prompt cannot be read."""
    broken = {name for name in ("inputs", "outputs", "extra") if _breaks_off(run.get(name))}
    for name in sorted(broken):
        findings.add("run", f"of LangSmith whose {name} are JSON that breaks off")
    if "inputs" in broken:
        return
    extra = {} if "extra" in broken else opened(run.get("extra")) or {}
    parameters = extra.get("invocation_params") or {}
    prompt, tools = read_prompt(run["inputs"], findings, _OWNER)
    yield Request(
        prompt=prompt,
        output=() if "outputs" in broken else read_answer(run.get("outputs"), findings, _OWNER),
        tools=tools or definitions(parameters.get("tools"), parameters.get("functions")),
        group=_trace(run),
        agent=str((extra.get("metadata") or {}).get("lc_agent_name") or ""),
        started=str(run.get("start_time") or ""),
        identity=str(run.get("id") or ""),
    )


def _breaks_off(value: object) -> bool:
    """Return whether the inputs, outputs or extras of a run are text that begins as JSON does and is none."""
    return isinstance(value, str) and value.lstrip().startswith(("{", "[{", "[[")) and opened(value) is value


def _trace(run: Mapping[str, Any]) -> str:
    """Return the trace of a run; a dotted order names all its ancestors, the root first: `<time>Z<id>.<time>Z<id>`."""
    root = str(run.get("dotted_order") or "").partition(".")[0].rpartition("Z")[2]
    return str(run.get("trace_id") or root or run.get("parent_run_id") or run.get("id"))
