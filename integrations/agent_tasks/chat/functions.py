"""A chat model as a function over plain messages, for agents of other frameworks than LangGraph.

What lets them do the tasks are three parts:

- `evaluate_tasks(model, options=…, worker=my_worker)` calls `my_worker(task, model, arm, world, meter)` for each task
  in each arm, grades the text that it returns (the last words of the agent) and makes the report. A worker builds the
  agents of its framework with `INSTRUCTIONS`, says `task.turns` to them one after the other, and leaves `world` to
  their tools; `arm.policy` is None where they are to be without us, `task.layout` says who works.
- `world_functions(world, task.areas)` are the tools: plain functions with type hints and docstrings.
- `completion(model, meter)` is the model: a function from messages and tools to the next message, all of them as
  OpenAI's chat API writes them. The meter counts its calls, its fetches and the tokens of its prompts.

With `ScriptedModel(tasks)` as the model no key is needed: from what a prompt shows it makes the next call, so that an
agent whose prompts show the same comes to the same answers with the same calls, whatever framework runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import convert_to_messages, convert_to_openai_messages

from integrations.agent_tasks.meter import CallMeter

__all__ = ["Completion", "completion"]

Completion: TypeAlias = Callable[..., dict[str, Any]]
"""`complete(messages, tools=(), agent="")`: returns the next message of the assistant."""


def completion(model: BaseChatModel, meter: CallMeter) -> Completion:
    """Return a chat model as a function over the messages of OpenAI's chat API.

    Args:
        model: Any chat model, such as `ScriptedModel(tasks)`.
        meter: Counts each call.

    Returns:
        A function of `messages` ({"role": "system" | "user" | "assistant" | "tool", "content": …, "tool_calls": […],
        "tool_call_id": …}), of `tools` ({"type": "function", "function": {"name": …, "parameters": …}}) and of the name
        of the agent that asks. It returns {"role": "assistant", "content": str} and, where tools are called,
        "tool_calls" of {"type": "function", "id": …, "function": {"name": …, "arguments": JSON text}}.
    """

    def complete(
        messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), agent: str = ""
    ) -> dict[str, Any]:
        asked = model.bind(tools=list(tools)) if tools else model
        config: Any = {"callbacks": [meter], "metadata": {"lc_agent_name": agent}}
        answer = asked.invoke(convert_to_messages([dict(each) for each in messages]), config)
        (message,) = convert_to_openai_messages([answer])
        return dict(message)

    return complete
