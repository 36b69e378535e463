"""Chat models that play agents: those of LangChain, an OpenAI-compatible URL, and a mailbox."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_core.ports import TokenCounter

__all__ = ["Answered", "MailboxModel", "MalformedLetter", "ToolModel", "agent_model", "mailbox"]

_HOW: Final = (
    'Answer with words, or call tools with JSON alone: {"tool_calls": [{"name": "…", "arguments": {…}}]}. Several '
    "calls are made at once."
)


_PAUSE: Final = 0.2
"""Seconds between two looks into a mailbox."""
_SETTLED: Final = 5.0
"""Seconds after which no answer is expected any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a model answered."""

    text: str
    """Its words."""
    tokens_in: int
    """Tokens of the prompt, as the provider counts them, else as we do."""
    tokens_out: int
    """Tokens of the answer."""
    source: str = ""
    """The file that it was read from."""


Model: TypeAlias = Callable[[str], Answered]
"""Answers a prompt. Threads may call it at once."""


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


def langchain_model(name: str, base_url: str | None = None) -> Any:
    """Return a chat model of LangChain by its name; OpenAI's API is spoken wherever an address is given.

    Raises:
        ImportError: the package of the provider is not installed.
        ValueError: there is no such provider.
    """
    from langchain.chat_models import init_chat_model

    if base_url is None:
        return init_chat_model(name, temperature=0)
    full = name if name.startswith("openai:") else f"openai:{name}"
    return init_chat_model(full, temperature=0, base_url=base_url)


def mailbox(folder: Path, *, counter: TokenCounter, wait: float) -> Model:
    """Return a model that is played by a person, a batch job or another program.

    Each prompt is written to `FOLDER/<key>.prompt.txt`, and `FOLDER/<key>.answer.txt` is awaited: some text that no
    longer grows, so that its writer needs no other name first. The key is a hash of the prompt: a run that is started
    again finds the answers that are there, and those of one folder may be of several runs at once.

    Raises, when called:
        TimeoutError: nobody answered within `wait` seconds.
        ValueError: a folder or something else that is no file stands where the answer is awaited.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def ask(prompt: str) -> Answered:
        key = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        answer = folder / f"{key}.answer.txt"
        if not answer.exists():
            _write(folder / f"{key}.prompt.txt", prompt)
        text = _awaited(answer, time.monotonic() + wait, wait)
        return Answered(text=text, tokens_in=counter(prompt), tokens_out=counter(text), source=str(answer))

    return ask


def _awaited(answer: Path, deadline: float, wait: float) -> str:
    """Return the text of a file as soon as two looks at it find the same, and not nothing."""
    before = b""
    while True:
        if answer.exists() and not answer.is_file():
            raise ValueError(f"expected a file with an answer at {str(answer)!r}, found a folder or another kind")
        found = answer.read_bytes() if answer.exists() else b""
        if found.strip() and (found == before or time.time() - answer.stat().st_mtime > _SETTLED):
            return found.decode("utf-8", errors="replace")
        if time.monotonic() > deadline:
            raise TimeoutError(f"expected an answer in {str(answer)!r} within {wait:g} seconds")
        before = found
        time.sleep(_PAUSE)


def _write(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all, also where another thread writes it at the same time."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    part.write_text(text, encoding="utf-8", errors="surrogatepass")
    os.replace(part, path)
