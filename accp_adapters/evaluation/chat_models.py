"""Chat models that play agents: those of LangChain, an OpenAI-compatible URL, and a mailbox."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.evaluation.models import Answered, Model, langchain_model, mailbox
from accp_core.ports import TokenCounter

__all__ = ["MailboxModel", "MalformedLetter", "ToolModel", "agent_model"]

_HOW: Final = (
    'Answer with words, or call tools with JSON alone: {"tool_calls": [{"name": "…", "arguments": {…}}]}. Several '
    "calls are made at once."
)


class MalformedLetter(ValueError):
    """An answer from a mailbox holds calls that are none; the message names its file."""


def agent_model(
    name: str, *, counter: TokenCounter, base_url: str | None = None, wait: float = 86_400
) -> BaseChatModel:
    """Return a chat model by its name.

    Args:
        name: `provider:name` as `init_chat_model` takes it, or `mailbox:FOLDER`.
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
    model: BaseChatModel = langchain_model(name, base_url)
    return model


class ToolModel(BaseChatModel):
    """A chat model that is code: `_reply` gets the messages and the bound tools, in the form of OpenAI's API."""

    @property
    def _llm_type(self) -> str:
        return f"accp-{type(self).__name__}"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Return the model with tools."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages, kwargs.get("tools") or []))])

    @abstractmethod
    def _reply(self, messages: list[BaseMessage], tools: list[Any]) -> AIMessage:
        """Return the next message."""


class MailboxModel(ToolModel):
    """A chat model whose answers come from files in a folder, which a person, a batch job or a program writes.

    Each prompt is JSON with the messages and the tools as OpenAI's API takes them; the answer is words, or JSON with
    `tool_calls`.
    """

    ask: Any
    """Answers a prompt (`Model`)."""

    def _reply(self, messages: list[BaseMessage], tools: list[Any]) -> AIMessage:
        letter = {"how": _HOW, "tools": tools, "messages": convert_to_openai_messages(messages)}
        text = json.dumps(letter, ensure_ascii=False, indent=1)
        ask: Model = self.ask
        return _message(text, ask(text))


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
