"""What each agent of a recorded run is sent under a strategy, prompt by prompt.

A strategy sends messages as recorded, as compact JSON, or as `AccpMiddleware` does by a policy.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial
from itertools import groupby, islice, takewhile
from typing import Any, Final, TypeAlias

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.messages.openai_chat import fetch_tool, read_messages
from accp_adapters.messages.placed import TextPath
from accp_adapters.policy import Policy
from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Role, Run, is_foreign
from accp_adapters.tokens import count_remembered
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.projection import MessageRecord, Projected, ProjectionRules, Projector, attribute
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
        self.together: Final = list(map(self._said_together, range(len(run.messages))))
        """Of each text what those beside it have in common that are parts of the same message."""

    def of(self, call: RecordedCall, start: int = 0) -> Iterator[SeenMessage]:
        """Yield the messages that are seen before a model call; the instructions at its beginning are none.

        Args:
            call: The model call.
            start: How many texts at the beginning of its prompt are left out.
        """
        roles = (self._messages[position].role for position in call.prompt)
        first = sum(1 for _ in takewhile(Role.INSTRUCTIONS.__eq__, roles))
        for _, positions in groupby(call.prompt[max(first, start) :], self.together.__getitem__):
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


@dataclass(slots=True, kw_only=True)
class SentPrompt:
    """What the model of one call is sent; a later call of its agent whose prompt goes on from there adds to it."""

    messages: dict[int, SentMessage] = field(default_factory=dict)
    """Each message of the prompt, by its position in the run."""
    definitions: tuple[str, ...] = ()
    """The tool definitions: those of the request, then that of the fetch tool where it is offered."""
    records: deque[MessageRecord] = field(default_factory=deque)
    """The next message for the middleware, which `projected` takes."""
    projected: Iterator[Projected] = field(default_factory=lambda: iter(()))
    """What the middleware sends of each message of `records`."""


class PromptBuilder:
    """Builds the prompts of one run in order; a text that was sent to an agent never changes."""

    def __init__(self, run: Run, strategy: Strategy) -> None:
        """Build the prompts of `run` under `strategy`."""
        self._run: Final = run
        self._fetch_tool: Final = strategy.fetch_tool
        rewrite = strategy.rewrite or (lambda message: SentMessage(text=message.text))
        self._rewrite: Final = cache(lambda position: rewrite(run.messages[position]))
        self._seen: Final = SeenMessages(run)
        self._rules: Final = _rules_for(run, strategy.policy) if strategy.policy else None
        self._offered: Final[set[str]] = set()
        """The agents that have been offered the fetch tool, which then stays."""

    def goes_on(self, call: RecordedCall, size: int) -> bool:
        """Return whether the prompt of `call` ends behind its first `size` texts, or goes on with another message."""
        texts, together = call.prompt, self._seen.together
        return not 0 < size < len(texts) or together[texts[size - 1]] != together[texts[size]]

    def build(self, call: RecordedCall, before: SentPrompt | None = None, start: int = 0) -> SentPrompt:
        """Return what the model of the next `call` is sent.

        Args:
            call: The call.
            before: What an earlier call of the agent was sent from whose prompt this one's goes on; it is added to.
            start: How many texts that was.
        """
        sent, messages = before or self._begin(call.agent), self._run.messages
        new = {position: SentMessage(text=messages[position].text) for position in call.prompt[start:]}
        sent.messages |= new
        if self._rules:
            offers_tool = True in [self._project(sent, each) for each in self._seen.of(call, start)]
        else:
            foreign = {each: self._rewrite(each) for each in new if is_foreign(messages[each], call.agent)}
            sent.messages |= foreign
            offers_tool = any(message.reference for message in foreign.values())
        if offers_tool:
            self._offered.add(call.agent)
        offered = self._fetch_tool if call.agent in self._offered else ""
        sent.definitions = tuple(filter(None, (call.tools, offered)))
        return sent

    def _begin(self, agent: str) -> SentPrompt:
        """Return what an agent was sent before its first call."""
        sent, rules = SentPrompt(), self._rules
        if rules:
            records, own = iter(sent.records.popleft, None), name_of(agent, Role.AGENT)
            sent.projected = map(Projector(rules).project, attribute(records, names=rules.agent_names, agent=own))
        return sent

    def _project(self, sent: SentPrompt, seen: SeenMessage) -> bool:
        """Add a message as `AccpMiddleware` sends it; return whether the fetch tool belongs to a prompt with it."""
        sent.records.append(seen.record)
        shown = next(sent.projected)
        references = {stored.text: stored.reference for stored in shown.stored}
        for position, text in zip(seen.positions, shown.blocks, strict=True):
            recorded = self._run.messages[position].text
            if text is not None:
                sent.messages[position] = SentMessage(text=text, reference=references.get(recorded, ""))
            elif shown.kept:
                sent.messages[position] = SentMessage(text=recorded, kept=shown.kept)
        opens = self._rules and self._rules.open_with
        return bool(shown.stored) or any(call.name == opens for call in seen.record.calls)


def _rules_for(run: Run, policy: Policy) -> ProjectionRules:
    """Return the rules of a policy that knows the agents of a run."""
    names, known = policy.agent_names, run.agent_names
    return (policy if names is None or known <= names else replace(policy, agent_names=names | known)).rules
