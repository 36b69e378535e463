"""An agent of deepagents edits files by lines that it copies from its prompt."""

from __future__ import annotations

import re
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from accp_adapters.langgraph import AccpMiddleware, Policy
from tests.adapters.editing.files import FILES, NEW, OLD, SIZES, line_to_edit
from tests.scripted_model import ScriptedModel, call, calls


def edit(path: str) -> Any:
    """Return a step that edits the line that the model was shown, or asks for that line."""

    def step(messages: list[BaseMessage]) -> AIMessage:
        old = line_to_edit(message.text for message in messages if isinstance(message, ToolMessage))
        if old is not None:
            return calls(call("edit_file", "c9", file_path=path, old_string=old, new_string=old.replace(OLD, NEW)))
        reference = re.search(r"\$cold\.[0-9]+", messages[-1].text)
        assert reference, messages[-1].text
        return calls(call("accp_fetch", "c2", ref=reference[0], query=OLD))

    return step


@pytest.mark.parametrize("policy", ["default", "lossless"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FILES)
def test_a_line_that_was_copied_from_the_prompt_is_found_in_the_file(name: str, size: str, policy: str) -> None:
    path, source = f"/{name}", FILES[name](SIZES[size])
    model = ScriptedModel(
        script=[calls(call("read_file", file_path=path, limit=100_000)), edit(path), edit(path), "done", "done"],
        strict=False,
    )
    graph = create_deep_agent(model, middleware=[AccpMiddleware(Policy.named(policy))])
    file: Any = {"content": source, "encoding": "utf-8", "created_at": "2026-01-01", "modified_at": "2026-01-01"}
    asked: Any = {"messages": "set the port to 9090", "files": {path: file}}
    assert graph.invoke(asked)["files"][path]["content"] == source.replace(OLD, NEW)
