"""What answers: any chat model of LangChain, any OpenAI-compatible URL, or a folder that somebody else answers."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from accp_core.ports import TokenCounter

__all__ = ["Answered", "Model", "chat_model", "langchain_model", "mailbox", "model_named"]

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


def model_named(name: str, *, counter: TokenCounter, base_url: str | None = None, wait: float = 86_400) -> Model:
    """Return a model by its name.

    Args:
        name: `provider:name` as `init_chat_model` takes it, or `mailbox:FOLDER`.
        counter: Counts tokens where a provider does not.
        base_url: The address of an OpenAI-compatible server; the name is then that of its model.
        wait: Seconds that a mailbox is waited for.

    Raises:
        ImportError: the package of the provider is not installed.
        ValueError: there is no such provider.
    """
    kind, _, rest = name.partition(":")
    if kind == "mailbox":
        return mailbox(Path(rest), counter=counter, wait=wait)
    return chat_model(langchain_model(name, base_url), counter=counter)


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


def chat_model(model: Any, *, counter: TokenCounter) -> Model:
    """Return a chat model of LangChain (`BaseChatModel`) as a model."""

    def ask(prompt: str) -> Answered:
        message = model.invoke(prompt)
        usage = message.usage_metadata or {}
        return Answered(
            text=message.text,
            tokens_in=usage.get("input_tokens") or counter(prompt),
            tokens_out=usage.get("output_tokens") or counter(message.text),
        )

    return ask


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
