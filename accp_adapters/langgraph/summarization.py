"""For LangChain's `SummarizationMiddleware`: a counter of what is sent, and a summarizer that reads what is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain.agents.middleware import ModelRequest
from langchain.agents.middleware.summarization import DEFAULT_SUMMARY_PROMPT
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    MessageLikeRepresentation,
    convert_to_messages,
    get_buffer_string,
)
from langchain_core.runnables import Runnable, RunnableLambda

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langchain.messages import calls_of, to_records, with_arguments
from accp_adapters.langgraph.projection import MessageProjector, ProjectedMessages
from accp_adapters.langgraph.runtime import agent_name
from accp_adapters.langgraph.turns import as_json
from accp_adapters.policy import Policy
from accp_core.projection import MessageRecord, Projector, attribute
from accp_core.projection.results import count_once
from accp_core.references import short_reference

__all__ = ["count_projected_tokens", "summarizing_model"]

_LEFT_OUT: Final = "(left out)"
_REQUEST: Final = DEFAULT_SUMMARY_PROMPT.format(messages="All messages before this one. Call no tool.").rstrip()


def count_projected_tokens(messages: Iterable[MessageLikeRepresentation], policy: Policy) -> int:
    """Return about how many tokens a model is sent of `messages`, which may be any part of a conversation.

    Each message is counted as if nothing were before it, so that repeat markers count as the lines that they stand for.
    """
    alone = replace(policy.rules, repeats=False)
    messages = convert_to_messages(messages)
    records = list(attribute(to_records(messages), names=alone.agent_names, agent=agent_name()))
    counter = count_once(policy.counter)
    return sum(
        counter(text)
        for message, record in zip(messages, records, strict=True)
        for text in _shown(message, record, Projector(alone))
    )


def _shown(message: BaseMessage, record: MessageRecord, projector: Projector) -> list[str]:
    """Return the texts of a message and its calls as JSON, as a model is sent them."""
    new = projector.project(record)
    calls = list(calls_of(with_arguments(message, new.arguments) if new.arguments else message))
    texts = [text for old, block in zip(record.blocks, new.blocks, strict=True) if (text := block or old)]
    return [*texts, as_json(calls)] if calls else texts


def summarizing_model(
    model: BaseChatModel,
    projector: MessageProjector,
    will_open: Callable[[str], bool],
    last_request: Callable[[], ModelRequest | None],
) -> Runnable[Any, str]:
    """Return what writes a summary of messages with `model`, which reads their projection.

    Where the messages begin the last request to the same model, the request for the summary follows them in that very
    prompt, which the provider's cache has; else, or where the model answers by a tool call, they are one new text.

    Args:
        model: Any chat model.
        projector: Projects the messages.
        will_open: Returns whether the text of a key will open when the messages are gone; other references are left
            out.
        last_request: Returns what the model of the running thread was sent last; None: it is not known.
    """

    def project(messages: Sequence[BaseMessage]) -> ProjectedMessages:
        return projector.project(messages, agent=agent_name())

    def as_text(shown: ProjectedMessages) -> str:
        text = get_buffer_string(shown.messages, format="xml")
        return DEFAULT_SUMMARY_PROMPT.format(messages=_with_references(text, shown, will_open)).rstrip()

    def summary_of(answer: BaseMessage, shown: ProjectedMessages) -> str:
        is_call = isinstance(answer, AIMessage) and bool(answer.tool_calls)
        return "" if is_call else _with_references(answer.text, shown, will_open)

    def summarize(messages: Sequence[BaseMessage]) -> str:
        shown = project(messages)
        request = _continuing(last_request(), model, shown)
        summary = summary_of(request.model.invoke(request.messages), shown) if request else ""
        return summary or str(model.invoke(as_text(shown)).text)

    async def asummarize(messages: Sequence[BaseMessage]) -> str:
        shown = project(messages)
        request = _continuing(last_request(), model, shown)
        summary = summary_of(await request.model.ainvoke(request.messages), shown) if request else ""
        return summary or str((await model.ainvoke(as_text(shown))).text)

    return RunnableLambda(summarize, asummarize, name="accp_summarizer")


@dataclass(frozen=True, slots=True)
class _Continued:
    """A prompt that was sent, with the request for a summary at its end."""

    model: Runnable[Any, AIMessage]
    messages: list[BaseMessage]


def _continuing(last: ModelRequest | None, model: BaseChatModel, shown: ProjectedMessages) -> _Continued | None:
    """Return the prompt that begins as the `last` one to `model` did; None: the messages do not begin it."""
    if last is None or last.model is not model or last.response_format is not None:
        return None
    if list(last.messages[: len(shown.messages)]) != shown.messages:
        return None
    settings = last.model_settings
    bound = (
        model.bind_tools(last.tools, tool_choice=last.tool_choice, **settings) if last.tools else model.bind(**settings)
    )
    system = [last.system_message] if last.system_message else []
    return _Continued(bound, [*system, *shown.messages, HumanMessage(_REQUEST)])


def _with_references(text: str, shown: ProjectedMessages, will_open: Callable[[str], bool]) -> str:
    """Return `text` without the references that will not open."""
    for key in (each.key for texts in shown.stored.values() for each in texts if not will_open(each.key)):
        reference = short_reference(key)
        text = text.replace(f"{FETCH_NAME} {reference}", _LEFT_OUT).replace(reference, _LEFT_OUT)
    return text
