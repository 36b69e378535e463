"""Counts the calls and tokens of one task, from the prompt and the answer of each call of the model."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from accp_adapters.langchain import calls_of
from accp_adapters.replay.replay import CACHE_MINIMUM, PromptCache, TokenIds
from accp_adapters.tokens import o200k_base_encoding
from accp_core.strict_json import compact_json

__all__ = ["CallMeter", "message_text"]


class CallMeter(BaseCallbackHandler):
    """Counts each model call of one task: those of all its agents, and those that write summaries."""

    run_inline = True

    def __init__(self, tools: Iterable[str]) -> None:
        """Count nothing yet; `tools` are called for the task, and any other one reads what an arm has hidden."""
        self._tools: Final = frozenset(tools)
        self._cache: Final = PromptCache()
        self._lock: Final = threading.Lock()
        self.figures: Final[dict[str, float]] = dict.fromkeys(
            ("calls", "fetches", "tokens", "cached", "written", "cost", "output", "usage_in", "usage_out"), 0
        )
        """Model calls; calls of tools that read what is hidden; tokens of prompts, of these read from and written to
        the provider's cache; the same weighted; tokens of answers; prompts and answers as the provider counts them."""

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Count a prompt: the definitions of its tools and its messages."""
        tools = (kwargs.get("invocation_params") or {}).get("tools") or []
        texts = [compact_json(tools) if tools else "", *(message_text(message) for message in messages[0])]
        agent = str((kwargs.get("metadata") or {}).get("lc_agent_name") or "")
        with self._lock:
            charge = self._cache.charge(agent, [_encode(text) for text in texts if text])
            self.figures["calls"] += 1
            self.figures["tokens"] += charge.tokens
            self.figures["cached"] += charge.cached
            self.figures["written"] += charge.tokens - charge.cached if charge.tokens >= CACHE_MINIMUM else 0
            self.figures["cost"] += charge.cost

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Count an answer."""
        for message in _answers(response):
            usage: Mapping[str, Any] = message.usage_metadata or {}
            with self._lock:
                self.figures["output"] += len(_encode(message_text(message)))
                self.figures["fetches"] += sum(call["name"] not in self._tools for call in calls_of(message))
                self.figures["usage_in"] += usage.get("input_tokens") or 0
                self.figures["usage_out"] += usage.get("output_tokens") or 0


def message_text(message: BaseMessage) -> str:
    """Return the words of a message, and its calls as compact JSON."""
    calls = [{"name": call["name"], "args": call["args"]} for call in calls_of(message)]
    return f"{message.text}{compact_json(calls) if calls else ''}"


def _answers(response: LLMResult) -> Iterator[AIMessage]:
    for generation in (each for several in response.generations for each in several):
        if isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
            yield generation.message


@functools.lru_cache(maxsize=1_000)
def _encode(text: str) -> TokenIds:
    """Return the tokens of a text; they are cached, since many prompts contain the same message."""
    return o200k_base_encoding().encode_ordinary(text)
