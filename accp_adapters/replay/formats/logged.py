"""Model calls as LangSmith and Langfuse export them, and the prompts and answers that any tracer logged.

A tracer keeps the messages in the form of a provider or of a framework, or in that of OpenTelemetry's conventions.

Sources: https://docs.langchain.com/langsmith/run-data-format, https://api.reference.langfuse.com (`Observation`) and
https://opentelemetry.io/docs/specs/semconv/gen-ai/ (gen-ai-input-messages.json).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats import anthropic, bedrock, conversation, gemini, langchain, openai
from accp_adapters.replay.formats.gemini import bare_result
from accp_adapters.replay.recorded_run import Findings, Role

__all__ = [
    "Prompt", "is_observation", "is_run", "opened", "read_answer", "read_genai_message",
    "read_genai_part", "read_observation", "read_prompt", "read_run",
]  # fmt: skip


_GENAI: Final = "a message of a GenAI span"


def is_genai_messages(document: Any) -> bool:
    """Return whether a document is messages of these conventions."""
    match document:
        case [{"role": str(), "parts": [{"type": str(), "content": _}, *_]}, *_]:
            return True
        case [{"role": str(), "parts": [{"type": "tool_call" | "tool_call_response"}, *_]}, *_]:
            return True
    return False


def read_genai_message(message: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Turn]:
    """Yield the turn in one message."""
    findings.fields(message, ("parts", "name"), _GENAI)
    role = conversation.ROLES.get(message["role"])
    if role is None:
        findings.role(message["role"], "a GenAI span")
        return
    agent = message.get("name") or "" if role is Role.AGENT else ""
    yield conversation.Turn(
        role=role, parts=tuple(conversation.content_parts(message["parts"], read_genai_part, findings)), agent=agent
    )


def read_genai_part(part: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Part]:
    """Yield the parts in one block of a message."""
    match part:
        case {"type": "text", "content": str(words)}:
            yield conversation.text(words)
        case {"type": "tool_call" | "server_tool_call", "name": str(tool)}:
            yield conversation.call(tool, part.get("arguments"), part.get("id"))
        case {"type": "tool_call_response" | "server_tool_call_response"}:
            answer = part.get("response", part.get("result"))
            yield conversation.result(_bare_answer(answer), part.get("id"), part.get("name"))
        case {"type": "reasoning" | "thinking" as kind}:
            findings.thoughts(kind, _GENAI)
        case _:
            findings.block(part.get("type"), _GENAI)


def _bare_answer(answer: object) -> object:
    """Return a tool's answer without the blocks or the object in which a framework hands on its text."""
    if isinstance(answer, list) and all(isinstance(each, Mapping) and each.keys() == {"text"} for each in answer):
        return "\n".join(conversation.written(each["text"]) for each in answer)
    return bare_result(answer)


_LABELS: Final = re.compile(rf"^(?:{'|'.join(conversation.ROLES)}) ?:", re.IGNORECASE | re.MULTILINE)
"""How a line of a text begins that says who speaks."""
Prompt = tuple[tuple[conversation.Turn, ...], str]
"""The turns of a prompt and its tool definitions."""

_READERS: Final[tuple[tuple[Callable[[object], bool], conversation.ReadMessage], ...]] = (
    (langchain.is_message_dump, langchain.read_message),
    (bedrock.is_converse, bedrock.LAYOUT.read_message),
    (anthropic.is_messages, anthropic.read_message),
    (is_genai_messages, read_genai_message),
    (gemini.is_contents, gemini.LAYOUT.read_message),
    (openai.is_responses, openai.read_item),
    (openai.is_chat, openai.read_chat_message),
)


def opened(value: object) -> Any:
    """Return the JSON value that a text is, or the value as it is."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[", '"')):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def read_prompt(logged: object, findings: Findings, owner: str) -> Prompt:
    """Return the prompt that a record logged: a text, messages, or an object with messages and tools.

    Args:
        logged: The input of the call, perhaps as JSON in a text.
        findings: Collects what is not counted.
        owner: What findings call the record, such as "a Langfuse generation".
    """
    match opened(logged):
        case str(words):
            return _flat(words, findings, owner), ""
        case {"messages": [[*messages], *others]}:
            if others:
                findings.add("prompt", f"beside the first one of {owner}")
            return _read(messages, findings, owner), ""
        case {"messages": [*_]} | {"input": [*_] | str()} as body:
            return _read_request(body, findings, owner)
        case {"contents": [*_]} as body:
            return gemini.LAYOUT.read_request(body, findings)
        case {"prompts": [str(words), *_]} | {"prompt": str(words)}:
            return _flat(words, findings, owner), ""
        case {"role": _} | {"type": _} | {"lc": _} as message:
            return _read([message], findings, owner), ""
        case [[*messages]]:
            return _read(messages, findings, owner), ""
        case [*messages]:
            return _read(messages, findings, owner), ""
        case _:
            findings.add("input", f"of {owner} that is no prompt")
    return (), ""


def _flat(words: str, findings: Findings, owner: str) -> tuple[conversation.Turn, ...]:
    """Return a prompt that is one text; where it holds several messages, its results cannot be told from the rest."""
    if len(_LABELS.findall(words)) > 1:
        findings.add("prompt", f"of {owner} that is one text, so that no result in it can be found")
    return (conversation.Turn(role=Role.USER, parts=(conversation.text(words),)),)


def _read_request(body: Mapping[str, Any], findings: Findings, owner: str) -> Prompt:
    """Return the prompt of a request: of Anthropic, of OpenAI chat, or of OpenAI Responses."""
    messages = body["messages"] if "messages" in body else body["input"]
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    given = conversation.instructions(body.get("instructions") or "")
    if "system" in body:
        given = anthropic.LAYOUT.read_instructions(body, findings)
    return (*given, *_read(messages, findings, owner)), conversation.definitions(
        body.get("tools"), body.get("functions")
    )


def read_answer(logged: object, findings: Findings, owner: str) -> tuple[conversation.Turn, ...]:
    """Return the turns that a record logged as the answer of the model; see `read_prompt`."""
    match opened(logged):
        case nothing if not nothing and nothing != 0:
            return ()
        case str(words):
            return (conversation.Turn(role=Role.AGENT, parts=(conversation.text(words),)),)
        case {"choices": [*_]} as body:
            return openai.read_choices(body, findings)
        case {"candidates": [*_]} | {"content": {"parts": [*_]}} as body:
            return gemini.LAYOUT.read_response(body if "candidates" in body else {"candidates": [body]}, findings)
        case {"generations": [[*generations], *_]}:
            return tuple(turn for each in generations for turn in read_answer(each, findings, owner))
        case {"text": str(words)} | {"completion": str(words)} | {"content": str(words)} as body if _is_bare(body):
            return (conversation.Turn(role=Role.AGENT, parts=(conversation.text(words),)),)
        case {"output": [*items], "object": "response"}:
            return openai.RESPONSES.read_response({"output": items}, findings)
        case {"messages": [*messages]} | [*messages]:
            return _read(messages, findings, owner)
        case {"message": {**message}} | {**message}:
            return _read([message], findings, owner)
        case _:
            findings.add("output", f"of {owner} that is no answer")
    return ()


def _is_bare(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer is words in one field, and no message, which may have calls beside its words."""
    is_generation = str(answer.get("type")).endswith("Generation")
    return answer.keys().isdisjoint({"message", "role"} if is_generation else {"message", "role", "type"})


def _read(messages: list[Any], findings: Findings, owner: str) -> tuple[conversation.Turn, ...]:
    """Return the turns of messages in the form that any of them shows."""
    for holds, read_message in _READERS:
        if holds(messages) or any(isinstance(each, Mapping) and holds([each]) for each in messages):
            turns = conversation.read_turns(messages, read_message, findings)
            return tuple(openai.RESPONSES.arrange(turns)) if read_message is openai.read_item else turns
    if messages:
        findings.add("message", f"of {owner} in an unknown form")
    return ()


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


def read_run(document: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Request]:
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


def _example(example: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Request]:
    """Yield an example as a model call, where its input is a prompt."""
    prompt, tools = read_prompt(example["inputs"], findings, _EXAMPLE)
    if prompt:
        yield conversation.Request(
            prompt=prompt, output=read_answer(example["outputs"], findings, _EXAMPLE), tools=tools
        )


def _request(run: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Request]:
    """Yield a model call, unless its prompt cannot be read."""
    broken = {name for name in ("inputs", "outputs", "extra") if _breaks_off(run.get(name))}
    for name in sorted(broken):
        findings.add("run", f"of LangSmith whose {name} are JSON that breaks off")
    if "inputs" in broken:
        return
    extra = {} if "extra" in broken else opened(run.get("extra")) or {}
    parameters = extra.get("invocation_params") or {}
    prompt, tools = read_prompt(run["inputs"], findings, _OWNER)
    yield conversation.Request(
        prompt=prompt,
        output=() if "outputs" in broken else read_answer(run.get("outputs"), findings, _OWNER),
        tools=tools or conversation.definitions(parameters.get("tools"), parameters.get("functions")),
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


_GENERATION: Final = "a Langfuse generation"
_ROLES: Final = frozenset({"system", "developer", "human", "user", "ai", "assistant", "tool", "function", "generic"})
"""Those that the handlers for LangChain write."""


def is_observation(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"observations": [{"type": str()}, *_]} | {"data": [{"type": str(), "traceId": _}, *_]}:
            return True
        case {"type": str(kind), "input": _} if kind.isupper():
            return "traceId" in document or "trace_id" in document
    return False


def read_observation(document: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Request]:
    """Yield the model call of an observation, or those of a trace."""
    inner = document.get("observations") or document.get("data")
    if isinstance(inner, list):
        for observation in inner:
            try:
                found = list(read_observation({"traceId": document.get("id")} | observation, findings))
            except (KeyError, TypeError, ValueError, AttributeError):
                findings.add("observation", "of Langfuse that cannot be read")
                continue
            yield from found
    elif document.get("type") != "GENERATION":
        findings.add("observation", f"of type {document.get('type')!r} of Langfuse", left_out=True)
    else:
        prompt, tools = read_prompt(_of_langchain(opened(document.get("input"))), findings, _GENERATION)
        yield conversation.Request(
            prompt=prompt,
            output=read_answer(_of_langchain(opened(document.get("output"))), findings, _GENERATION),
            tools=tools,
            group=str(document.get("traceId") or document.get("trace_id") or document.get("id")),
            started=str(document.get("startTime") or document.get("start_time") or ""),
        )


def _of_langchain(logged: Any) -> Any:
    """Return what the handler for LangChain logged as LangChain's messages; anything else as it is."""
    if isinstance(logged, Mapping):
        return _as_langchain(logged) if _is_of_langchain(logged) else logged
    if not isinstance(logged, list) or not any(map(_is_of_langchain, logged)):
        return logged
    messages = [each if isinstance(each, Mapping) else {} for each in logged]
    tools = [each["content"] for each in messages if _is_definition(each)]
    return {"messages": [_as_langchain(each) for each in messages if not _is_definition(each)], "tools": tools}


def _as_langchain(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with its type.

    The handler for LangChain.js writes the name of a tool as the role of its result.
    """
    role = message.get("role")
    written: dict[str, Any] = {"type": role, **{name: value for name, value in message.items() if name != "role"}}
    if isinstance(role, str) and role not in _ROLES:
        written |= {"type": "tool", "name": message.get("name") or role}
    if isinstance(calls := message.get("tool_calls"), list):
        written["tool_calls"] = [_call(each) for each in calls]
    return written


def _call(written: Any) -> Any:
    """Return a call as LangChain writes it, from OpenAI's form as well."""
    match written:
        case {"function": {"name": name, **asked}}:
            return {"name": name, "args": opened(asked.get("arguments")), "id": written.get("id")}
    return written


def _is_of_langchain(message: Any) -> bool:
    match message:
        case {"role": str(), "tool_calls": [{"args": _}, *_]} | {"role": str(), "additional_kwargs": _}:
            return True
    return _is_definition(message)


def _is_definition(message: Any) -> bool:
    match message:
        case {"role": "tool", "content": {"type": "function", "function": {}}}:
            return True
    return False
