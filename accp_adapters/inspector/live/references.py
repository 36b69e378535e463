"""The references of a thread: who put the text there, who opened it, how large it is, until when it can be opened."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accp_adapters.fetching import FETCH_NAME, FetchRequest, answer, read_request
from accp_adapters.fetching.source_text import is_refusal
from accp_adapters.inspector.live.prompts import count_tokens
from accp_adapters.inspector.live.sources.cold_texts import ColdTexts
from accp_adapters.inspector.live.threads import Thread
from accp_adapters.inspector.page.plain_text import shorten
from accp_adapters.replay import RecordedMessage, Role, Run
from accp_adapters.replay.contents.secrets import hide_secrets, secrets_in
from accp_adapters.tokens import count_o200k
from accp_core.accp.debug import DEFAULT_REDACTION
from accp_core.accp.debug.redaction import HIDDEN_VALUE
from accp_core.errors import ProtocolError
from accp_core.references import find_references, key_of, match_keys, parse_reference, uri_to_key
from accp_core.strict_json import compact_json

__all__ = ["MAX_LISTED", "Reference", "ask", "references_of", "refused_fetches"]

MAX_LISTED: Final = 500
"""References of a thread that are listed."""
_MAX_NAME: Final = 60
_ANSWER: Final = 4_000
"""Tokens of the answer to a query."""
_KEY: Final = re.compile(r"[A-Za-z0-9_.]{1,100}")


@dataclass(slots=True, kw_only=True)
class Reference:
    """A stored text that agents may open by its key."""

    key: str
    """Its key."""
    put_by: str = ""
    """The agent that stored it; empty: not recorded."""
    place: tuple[int, int] | None = None
    """The run and the position of the message that is the text; None: it is none."""
    opened: list[str] = field(default_factory=list)
    """The agents that asked for it, in order, each with the outcome."""
    refused: int = 0
    """How many of them were refused."""
    text: str | None = None
    """The text; None: the source does not hold it."""
    kept: str = ""
    """Until when it can be opened."""

    @property
    def tokens(self) -> int | None:
        """Tokens of its text."""
        return None if self.text is None else count_tokens(self.text)


def references_of(
    thread: Thread, projected: Mapping[str, tuple[int, int]], store: ColdTexts | None = None
) -> dict[str, Reference]:
    """Return the references of a thread by their keys, at most 500.

    Args:
        thread: The thread.
        projected: The references that projected prompts cite, with the run and the position of their texts.
        store: Keeps texts of the thread's sessions; None: there is none.

    Raises:
        ProtocolError, UnreadableRun: the store cannot be read.
    """
    found: dict[str, Reference] = {}
    for key in _whole_keys(thread, filter(_KEY.fullmatch, _cited(thread, projected))):
        if len(found) >= MAX_LISTED:
            break
        found.setdefault(key, Reference(key=key))
    _find_texts(thread, found)
    if store is not None:
        _find_stored(thread, found, store)
    for run in thread.runs:
        _find_fetches(run, found)
    return found


def refused_fetches(thread: Thread) -> Iterator[tuple[str, str]]:
    """Yield agent and reason of each fetch that was refused."""
    for run in thread.runs:
        for asked, reply in _fetches(run):
            if reply is not None and _is_refusal(reply.text):
                yield asked.sender, hide_secrets(shorten(reply.text, 300))


def ask(text: str, query: str) -> tuple[str, bool]:
    """Return the answer of `accp_fetch` to a query over a text without its secrets, and whether it is a refusal."""
    try:
        request = FetchRequest(query=query)
        return answer({"": _without_secrets(text)}, request, limit=_ANSWER, counter=count_o200k), False
    except ProtocolError as error:
        return str(error), True


def _cited(thread: Thread, projected: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    for reference in projected:
        yield parse_reference(reference)
    for run in thread.runs:
        for message in run.messages:
            yield from find_references(message.text)
    for context in thread.contexts:
        yield from filter(None, map(uri_to_key, context.context_uri))
    yield from thread.texts
    yield from sorted(thread.stored)
    for event in thread.events:
        if event.frame is not None:
            yield from find_references(event.frame.text or event.frame.words)


def _whole_keys(thread: Thread, names: Iterable[str]) -> Iterator[str]:
    """Yield the whole keys that names mean in the thread; a name of none that it knows as it is."""
    known = {key_of(message.text) for run in thread.runs for message in run.messages}
    cited = list(names)
    meant = match_keys(cited, {*known, *thread.texts, *thread.stored})
    yield from (meant.get(name, name) for name in cited)


def _find_texts(thread: Thread, found: Mapping[str, Reference]) -> None:
    for number, run in enumerate(thread.runs):
        for position, message in enumerate(run.messages):
            reference = found.get(key_of(message.text)) if len(message.text) > len(message.sender) else None
            if reference is not None and reference.text is None:
                reference.text, reference.place = message.text, (number, position)
                reference.put_by = shorten(message.tool or message.sender, _MAX_NAME)
                reference.kept = "as long as the thread holds the message"
    for key, text in thread.texts.items():
        if key in found and found[key].text is None:
            found[key].text, found[key].put_by = text, "handed over"
            found[key].kept = "as long as the state of the agent holds it"
    for key in thread.stored:
        if key in found and not found[key].kept:
            found[key].kept = "by the rules of the store"


def _find_stored(thread: Thread, found: Mapping[str, Reference], store: ColdTexts) -> None:
    for key, reference in found.items():
        kept = store.find(sorted(thread.sessions), key)
        if kept is not None and (reference.text is None or reference.text == kept.text):
            reference.text = kept.text
            when = "the store does not delete it by itself" if kept.seconds is None else _time_left(kept.seconds)
            reference.kept = f"{reference.kept}; {when}" if reference.place else when


def _time_left(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"the store deletes it in {hours} h {minutes} min" if hours else f"the store deletes it in {minutes} min"


def _find_fetches(run: Run, found: Mapping[str, Reference]) -> None:
    for asked, reply in _fetches(run):
        refused = reply is not None and _is_refusal(reply.text)
        outcome = "" if reply else " (no answer)"
        for key in match_keys(_keys_of(asked), found).values():
            if (reference := found.get(key)) is not None:
                reference.opened.append(f"{shorten(asked.sender, _MAX_NAME)}{' (refused)' if refused else outcome}")
                reference.refused += refused


def _fetches(run: Run) -> Iterator[tuple[RecordedMessage, RecordedMessage | None]]:
    """Yield each call of `accp_fetch` and its answer."""
    answers = {message.call_id: message for message in run.messages if message.role is Role.TOOL and message.call_id}
    for message in run.messages:
        if message.by_model and message.tool == FETCH_NAME:
            yield message, answers.get(message.call_id)


def _keys_of(asked: RecordedMessage) -> list[str]:
    try:
        return [parse_reference(reference) for reference in read_request(asked.value).references]
    except ProtocolError:
        return []


def _is_refusal(text: str) -> bool:
    return is_refusal(text.removeprefix("Error: "))


def _without_secrets(text: str) -> str:
    """Return a text with its secrets hidden; one without any as it is, JSON as JSON."""
    if not secrets_in(text):
        return text
    try:
        return hide_secrets(compact_json(_hidden(json.loads(text))))
    except (ValueError, RecursionError):
        return hide_secrets(text)


def _hidden(value: Any) -> Any:
    match value:
        case dict():
            return {key: HIDDEN_VALUE if DEFAULT_REDACTION.hides(key) else _hidden(item) for key, item in value.items()}
        case list():
            return [_hidden(item) for item in value]
        case str():
            return hide_secrets(value)
    return value
