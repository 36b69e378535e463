"""What each agent of a recorded run is sent under a strategy, prompt by prompt.

A strategy sends messages as recorded, as compact JSON, or as `AccpMiddleware` does by a policy.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from itertools import dropwhile, groupby, islice
from typing import Any, Final, TypeAlias

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.messages.openai_chat import fetch_tool, read_messages
from accp_adapters.messages.placed import TextPath
from accp_adapters.policy import Policy
from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Role, Run, is_foreign
from accp_adapters.tokens import count_remembered
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.projection import MessageRecord, Projected, PromptProjector
from accp_core.references import reference_to
from accp_core.strict_json import compact_json

__all__ = [
    "AS_RECORDED", "PromptBuilder", "SeenMessages", "SentMessage", "SentPrompt", "Strategy", "StrategyName",
    "compact_json_strategy", "policy_strategy", "to_strategy",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message as a model is sent it."""

    text: str
    reference: str = ""
    """The reference that opens the whole recorded text; empty: there is none."""
    kept: str = ""
    """Why it is sent as recorded, see `Projected.kept`; empty: it is rewritten, or there is no reason on record."""


Rewriter: TypeAlias = Callable[[RecordedMessage], SentMessage]
"""Returns what a model is sent in place of a message of a tool or of another agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A named way to rewrite prompts; a text that was sent never changes."""

    name: str
    """How reports call it."""
    policy: Policy | None = None
    """The policy whose middleware sends the messages; None: `rewrite` makes them."""
    rewrite: Rewriter | None = None
    """Rewrites one message of a tool or of another agent by itself, and only once, however many agents are sent it;
    None: each stays as it is."""
    fetch_tool: str = ""
    """The definition of the tool that opens references, as compact JSON; empty: none is needed. Every prompt of an
    agent is charged for it from its first reference on; that prompt also loses its cached prefix, because tools stand
    at the beginning."""
    fetch: Callable[[str, str], str] | None = None
    """Returns what that tool answers, from a whole text and the words to find in it ("": its beginning), "" where it
    finds nothing; None: the whole text."""


AS_RECORDED: Final = Strategy(name="as recorded")
"""Changes nothing: what every other strategy is compared with."""


class StrategyName(StrEnum):
    """The name of a strategy."""

    AS_RECORDED = "as-recorded"
    COMPACT = "compact-json"
    LOSSLESS = "lossless"
    DEFAULT = "default"


def to_strategy(chosen: Strategy | StrategyName | Policy) -> Strategy:
    """Return the strategy that `chosen` is, names, or is the policy of; named ones count o200k_base tokens."""
    match chosen:
        case Strategy():
            return chosen
        case Policy():
            return policy_strategy("policy", chosen)
        case StrategyName.AS_RECORDED:
            return AS_RECORDED
        case StrategyName.COMPACT:
            return compact_json_strategy(count_remembered)
    return policy_strategy(chosen.value, replace(Policy.named(chosen.value), counter=count_remembered))


def compact_json_strategy(counter: TokenCounter) -> Strategy:
    """Return the baseline: a text that is JSON becomes compact JSON where that has fewer tokens."""
    return Strategy(name="compact JSON", rewrite=lambda message: SentMessage(text=_shorten(message.text, counter)))


def _shorten(text: str, counter: TokenCounter) -> str:
    try:
        shorter = compact_json(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return shorter if counter(shorter) < counter(text) else text


def policy_strategy(name: str, policy: Policy) -> Strategy:
    """Return what `AccpMiddleware(policy)` does, where each agent of a run has its name and a thread of its own."""
    definition = compact_json(fetch_tool()) if policy.previews else ""
    return Strategy(name=name, policy=policy, fetch_tool=definition, fetch=partial(_fetch, policy))


def _fetch(policy: Policy, text: str, query: str) -> str:
    """Return the answer of `accp_fetch` to one query, "" where it is refused."""
    request = FetchRequest(ref=reference_to("text"), query=query)
    try:
        return answer({"text": text}, request, limit=policy.fetch_limit, counter=policy.counter)
    except ProtocolError:
        return ""


_MAX_PARALLEL: Final = 128
"""Calls of one turn among which that of a result without an id is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMessage:
    """One message, made of one recorded text or of several."""

    message: dict[str, Any]
    """The message in the layout of OpenAI's Chat Completions."""
    record: MessageRecord
    """Its record."""
    positions: tuple[int, ...]
    """Of each block of the record the position of its text in the run."""


class SeenMessages:
    """The messages of one run."""

    def __init__(self, run: Run) -> None:
        """Read the messages of `run`."""
        self._messages: Final = run.messages
        self._ids: Final = _call_ids(run.messages)
        self._seen: Final = cache(self._read)
        self._together: Final = list(map(self._said_together, range(len(run.messages))))

    def of(self, call: RecordedCall) -> Iterator[SeenMessage]:
        """Yield the messages that are seen before a model call; the instructions at its beginning are none."""
        prompt = dropwhile(lambda position: self._messages[position].role is Role.INSTRUCTIONS, call.prompt)
        for _, positions in groupby(prompt, self._together.__getitem__):
            yield from self._seen(tuple(positions))

    def _said_together(self, position: int) -> tuple[object, ...]:
        """Return what neighbouring texts of one message have in common; of a result, only itself."""
        message = self._messages[position]
        own = position if message.role is Role.TOOL else None
        return message.role, message.sender, message.turn, message.by_model, own

    def _read(self, positions: tuple[int, ...]) -> tuple[SeenMessage, ...]:
        parts = [self._messages[position] for position in positions]
        message = self._message(positions, parts)
        texts = tuple(position for position, part in zip(positions, parts, strict=True) if not _is_call(part))
        return tuple(
            SeenMessage(
                message=message,
                record=placed.record,
                positions=tuple(texts[_number(place)] for place in placed.places if place),
            )
            for placed in read_messages([message])
        )

    def _message(self, positions: Sequence[int], parts: Sequence[RecordedMessage]) -> dict[str, Any]:
        first = parts[0]
        texts = [part.text for part in parts if not _is_call(part)]
        parted = [{"type": "text", "text": text} for text in texts] or None
        content = texts[0] if len(texts) == 1 else parted
        match first.role:
            case Role.INSTRUCTIONS:
                return {"role": "system", "content": content}
            case Role.TOOL:
                return {"role": "tool", "content": content, "tool_call_id": self._ids[positions[0]], "name": first.tool}
            case Role.AGENT:
                calls = [
                    _call(part, self._ids[position])
                    for position, part in zip(positions, parts, strict=True)
                    if _is_call(part)
                ]
                made = {"tool_calls": calls} if calls else {}
                return {"role": "assistant", "content": content, **_named(first), **made}
        return {"role": "user", "content": content, **_named(first)}


def _number(place: TextPath) -> int:
    """Return which text of a message is at a place: its content is one text, or a list of them."""
    number = place[2] if len(place) > 2 else 0
    assert isinstance(number, int)
    return number


def name_of(participant: str, role: Role) -> str | None:
    """Return the name of a participant, None where it is not recorded."""
    return None if participant in ("", role.value) else participant


def _named(message: RecordedMessage) -> dict[str, str]:
    name = name_of(message.sender, message.role)
    return {"name": name} if name else {}


def _is_call(message: RecordedMessage) -> bool:
    return message.role is Role.AGENT and bool(message.tool)


def _call(message: RecordedMessage, call_id: str) -> dict[str, Any]:
    """Return a call; arguments that are no object, such as a command, are those of a tool with one text."""
    arguments = message.text if isinstance(message.value, dict) else compact_json({"input": message.text})
    return {"id": call_id, "type": "function", "function": {"name": message.tool, "arguments": arguments}}


def _call_ids(messages: Iterable[RecordedMessage]) -> dict[int, str]:
    """Return the id of each call, and of each result that of the call that it answers; by position.

    A result without one answers a call of the last turn of its recipient that has no result: of the same tool, else the
    first.
    """
    ids: dict[int, str] = {}
    waiting: defaultdict[str, dict[int, str]] = defaultdict(dict)
    turns: dict[str, int] = {}
    for position, message in enumerate(messages):
        if _is_call(message):
            ids[position] = message.call_id or f"call_{position}"
            if turns.get(message.sender) != message.turn:
                waiting[message.sender].clear()
            turns[message.sender] = message.turn
            waiting[message.sender][position] = message.tool
        elif message.role is Role.TOOL and message.call_id:
            ids[position] = message.call_id
        elif message.role is Role.TOOL:
            calls = waiting[message.recipient]
            first = [position for position, _ in islice(calls.items(), _MAX_PARALLEL)]
            answered = next((each for each in first if calls[each] == message.tool), first[0] if first else None)
            ids[position] = ids[answered] if answered is not None else f"result_{position}"
            if answered is not None:
                del calls[answered]
    return ids


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPrompt:
    """What the model of one call is sent."""

    messages: Mapping[int, SentMessage]
    """Each message of the prompt, by its position in the run."""
    definitions: tuple[str, ...]
    """The tool definitions: those of the request, then that of the fetch tool where it is offered."""


class PromptBuilder:
    """Builds the prompts of one run in order; a text that was sent to an agent never changes."""

    def __init__(self, run: Run, strategy: Strategy) -> None:
        """Build the prompts of `run` under `strategy`."""
        self._run: Final = run
        self._strategy: Final = strategy
        self._as_recorded: Final = [SentMessage(text=message.text) for message in run.messages]
        self._rewritten: Final[dict[int, SentMessage]] = {}
        self._middleware: Final = _Middleware(run, strategy.policy) if strategy.policy else None
        self._offered: Final[set[str]] = set()
        """The agents that have been offered the fetch tool, which then stays."""

    def build(self, call: RecordedCall) -> SentPrompt:
        """Return what the model of the next `call` is sent."""
        messages, offers_tool = {position: self._as_recorded[position] for position in call.prompt}, False
        if self._middleware:
            changed, offers_tool = self._middleware.send(call)
            messages.update(changed)
        elif rewrite := self._strategy.rewrite:
            foreign = (each for each in call.prompt if is_foreign(self._run.messages[each], call.agent))
            messages.update((position, self._rewrite(position, rewrite)) for position in foreign)
            offers_tool = any(message.reference for message in messages.values())
        if offers_tool:
            self._offered.add(call.agent)
        return SentPrompt(messages=messages, definitions=tuple(filter(None, self._definitions(call))))

    def _definitions(self, call: RecordedCall) -> Iterator[str]:
        yield call.tools
        if call.agent in self._offered:
            yield self._strategy.fetch_tool

    def _rewrite(self, position: int, rewrite: Rewriter) -> SentMessage:
        if position not in self._rewritten:
            self._rewritten[position] = rewrite(self._run.messages[position])
        return self._rewritten[position]


class _Middleware:
    """What `AccpMiddleware` sends of the messages of one run."""

    def __init__(self, run: Run, policy: Policy) -> None:
        self._messages: Final = run.messages
        self._seen: Final = SeenMessages(run)
        names, known = policy.agent_names, run.agent_names
        named = policy if names is None or known <= names else replace(policy, agent_names=names | known)
        self._prompts: Final = PromptProjector(named.rules)
        self._last: Final[dict[tuple[int, ...], tuple[Projected | None, dict[int, SentMessage]]]] = {}
        """Of the texts of each message their last projection, and what it sends."""

    def send(self, call: RecordedCall) -> tuple[dict[int, SentMessage], bool]:
        """Return the messages that change, by their positions, and whether the fetch tool is offered."""
        seen = list(self._seen.of(call))
        prompt = self._prompts.project((each.record for each in seen), agent=name_of(call.agent, Role.AGENT))
        changed: dict[int, SentMessage] = {}
        for each, shown in zip(seen, prompt.messages, strict=True):
            last, sent = self._last.get(each.positions, (None, {}))
            if last is not shown:
                sent = dict(self._sent(each, shown)) if shown.is_changed or shown.kept else {}
                self._last[each.positions] = shown, sent
            changed |= sent
        return changed, prompt.offers_tool

    def _sent(self, seen: SeenMessage, shown: Projected) -> Iterator[tuple[int, SentMessage]]:
        references = {stored.text: stored.reference for stored in shown.stored}
        for position, text in zip(seen.positions, shown.blocks, strict=True):
            if text is not None:
                yield position, SentMessage(text=text, reference=references.get(self._text(position), ""))
            elif shown.kept:
                yield position, SentMessage(text=self._text(position), kept=shown.kept)

    def _text(self, position: int) -> str:
        message: RecordedMessage = self._messages[position]
        return message.text
