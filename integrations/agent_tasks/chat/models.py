"""The chat models of a run: those of LangChain, an OpenAI-compatible URL, a mailbox, and the model without weights."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from langchain.chat_models import init_chat_model
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult

from accp_adapters.evaluation.models import Answered, Model, full_name, mailbox
from accp_core.ports import TokenCounter
from integrations.agent_tasks.chat.tool_model import ToolModel
from integrations.agent_tasks.scripted.model import ScriptedModel
from integrations.agent_tasks.task import Task

__all__ = ["MailboxModel", "MalformedLetter", "task_model"]

_HOW: Final = (
    'Answer with words, or call tools with JSON alone: {"tool_calls": [{"name": "…", "arguments": {…}}]}. Several '
    "calls are made at once."
)


class MalformedLetter(ValueError):
    """An answer from a mailbox holds calls that are none; the message names its file."""


def task_model(
    name: str, *, tasks: Iterable[Task], counter: TokenCounter, base_url: str | None = None, wait: float = 86_400
) -> BaseChatModel:
    """Return a chat model by its name.

    Args:
        name: `provider:name` as `init_chat_model` takes it, `mailbox:FOLDER`, or `scripted`.
        tasks: What `scripted` has plans for.
        counter: Counts the tokens of a mailbox.
        base_url: The address of an OpenAI-compatible server; the name is then that of its model.
        wait: Seconds that a mailbox is waited for.

    Raises:
        ImportError: the package of the provider is not installed.
        ValueError: there is no such provider.
    """
    kind, _, rest = name.partition(":")
    if kind == "mailbox":
        return MailboxModel(ask=mailbox(Path(rest), counter=counter, wait=wait))
    if name == "scripted":
        return ScriptedModel(tasks)
    options: dict[str, Any] = {"base_url": base_url} if base_url else {}
    model: BaseChatModel = init_chat_model(full_name(name, base_url), temperature=0, **options)
    return model


class MailboxModel(ToolModel):
    """A chat model that is played by whoever answers the letters of a mailbox: a person, a batch job, a program.

    Each prompt is JSON with the messages and the tools as OpenAI's API takes them; the answer is words, or JSON with
    `tool_calls`.
    """

    ask: Any
    """Answers a prompt (`Model`)."""

    @property
    def _llm_type(self) -> str:
        return "accp-mailbox"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        letter = {"how": _HOW, "tools": kwargs.get("tools") or [], "messages": convert_to_openai_messages(messages)}
        text = json.dumps(letter, ensure_ascii=False, indent=1)
        ask: Model = self.ask
        return ChatResult(generations=[ChatGeneration(message=_message(text, ask(text)))])


def _message(prompt: str, answered: Answered) -> AIMessage:
    """Return the turn that an answer means; MalformedLetter where it holds calls that are none."""
    answer = answered.text.strip()
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or "tool_calls" not in value:
        return AIMessage(answer)
    calls = value["tool_calls"]
    if not isinstance(calls, list) or not all(map(_is_call, calls)):
        where = f"{answered.source}: " if answered.source else ""
        raise MalformedLetter(f"{where}expected tool_calls with a name and arguments each, found {answer[:200]!r}")
    # The same in a run that is started again, so that its next prompt is the same letter.
    key = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    made = [
        {"name": call["name"], "args": call.get("arguments") or {}, "id": f"call_{key}_{number}", "type": "tool_call"}
        for number, call in enumerate(calls)
    ]
    return AIMessage(str(value.get("content") or ""), tool_calls=made)


def _is_call(call: object) -> bool:
    return (
        isinstance(call, dict) and isinstance(call.get("name"), str) and isinstance(call.get("arguments") or {}, dict)
    )
