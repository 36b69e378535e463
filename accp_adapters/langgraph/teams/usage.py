"""What an agent's work cost: the calls of its models and their tokens, counted by a callback."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from accp_adapters.langgraph.turns import count_tokens
from accp_core.aci import Usage
from accp_core.ports import TokenCounter

__all__ = ["UsageCounter", "usage_of"]


class UsageCounter(BaseCallbackHandler):
    """Counts the calls of all models below one run, those of sub-agents included.

    Tokens are those that a provider reports (`usage_metadata`); where it reports none, those of the messages are
    counted, without the definitions of tools. A call that failed counts as a call without tokens.
    """

    run_inline = True

    def __init__(self, counter: TokenCounter) -> None:
        """Count with `counter` where a model reports nothing."""
        self._counter: Final = counter
        self._prompts: Final[dict[UUID, list[BaseMessage]]] = {}
        self._lock: Final = Lock()
        self.usage = Usage()

    def added_to(self, config: RunnableConfig) -> RunnableConfig:
        """Return `config` for a run that this object counts."""
        return merge_configs(config, {"callbacks": [self]})

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Remember the prompt until the model has answered."""
        self._prompts[run_id] = [message for batch in messages for message in batch]

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Add what the call cost."""
        prompt = self._prompts.pop(run_id, [])
        answers = [generation for generations in response.generations for generation in generations[:1]]
        said = [each.message for each in answers if isinstance(each, ChatGeneration)]
        self._add(_usage(said, prompt, self._counter))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Add a call that gave no answer."""
        self._prompts.pop(run_id, None)
        self._add(Usage(calls=1))

    def _add(self, usage: Usage) -> None:
        with self._lock:
            self.usage = self.usage + usage


def _usage(said: list[BaseMessage], prompt: list[BaseMessage], counter: TokenCounter) -> Usage:
    reported = [found for message in said if (found := _reported(message))]
    if reported:
        return _sum(reported)
    return Usage(
        calls=1,
        input_tokens=sum(count_tokens(message, counter) for message in prompt),
        output_tokens=sum(count_tokens(message, counter) for message in said),
    )


def usage_of(messages: Iterable[BaseMessage]) -> Usage:
    """Return what the calls cost that left `messages` with `usage_metadata`, those before an interrupt included."""
    return _sum(found for message in messages if (found := _reported(message)))


def _reported(message: BaseMessage) -> UsageMetadata | None:
    return message.usage_metadata if isinstance(message, AIMessage) else None


def _sum(reported: Iterable[UsageMetadata]) -> Usage:
    each = [
        Usage(calls=1, input_tokens=max(0, found["input_tokens"]), output_tokens=max(0, found["output_tokens"]))
        for found in reported
    ]
    return sum(each, Usage())
