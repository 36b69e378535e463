"""Runs put together from what the records of files say: snapshots that grow, single calls, turn after turn."""

from __future__ import annotations

import hashlib
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from operator import attrgetter, itemgetter
from typing import Any, Final

from accp_adapters.replay.formats import conversation
from accp_adapters.replay.formats.conversation import Item, Kind, Part, Request, Snapshot, Step, Turn, text
from accp_adapters.replay.recorded_run import Findings, RecordedCall, RecordedMessage, Role, Run, calls_in_order

__all__ = ["MAX_OPEN", "Assembler"]

MAX_OPEN: Final = 64
"""Runs that later records may continue; the one that was continued longest ago is closed."""
_SHARE: Final = 1 << 20
"""Characters of each of them, if they have all that room; a larger one leaves room for fewer."""
_MODEL: Final = "assistant"
_Key = tuple[str, ...]


class Assembler:
    """Puts runs together, also over several files; a run without a model call is no run, which is a finding."""

    def __init__(self, findings: Findings, agent_names: Collection[str] = ()) -> None:
        """Start without a run.

        Args:
            findings: Collects what is not counted.
            agent_names: What messages of these names say is an agent's, whatever their role.
        """
        self.begun = 0
        """How many runs have begun."""
        self._findings = findings
        self._agents = frozenset(agent_names)
        self._open: dict[str, _Growing] = {}
        self._continues: dict[str, str] = {}
        """The key of an open run by what a later prompt begins with that continues it, or by another trace of it."""

    def add(self, item: Item) -> Iterator[Run]:
        """Add what a record says, and yield the runs that are complete."""
        match item:
            case Snapshot():
                key, growing = self._of_snapshot(item)
            case Request():
                key, growing = self._of_request(item)
                growing.add_call(item)
            case Step():
                # What comes next in a file does not come next in another one.
                key = f"group {self._findings.path} {item.group}"
                growing = self._open.get(key) or self._new()
                growing.add_step(item)
        self._open.pop(key, None)
        key = growing.key or key
        if key in self._open:
            # Two equal conversations: a later record continues the later one.
            yield from self._closed(key)
        self._open[key] = growing
        self._continues |= dict.fromkeys(growing.beginnings, key)
        while len(self._open) > 1 and sum(max(_SHARE, each.size) for each in self._open.values()) > MAX_OPEN * _SHARE:
            yield from self._closed(next(iter(self._open)))

    def close(self) -> Iterator[Run]:
        """Yield the runs that are still open, in the order of their first records."""
        for growing in sorted(self._open.values(), key=lambda growing: growing.number):
            self._findings.move_to(growing.path, growing.line)
            yield from self._checked(growing.run())
        self._open.clear()

    def _new(self) -> _Growing:
        self.begun += 1
        return _Growing(self._findings.path, self._findings.line, self.begun, self._agents)

    def _known(self, *names: str) -> tuple[str, _Growing] | None:
        """Return the open run of the first of `names` that belongs to one: its key, or one of its beginnings."""
        for name in names:
            key = self._continues.get(name, name)
            if key in self._open:
                self._forget_beginnings(self._open[key])
                return key, self._open[key]
        return None

    def _continued(self, turns: Sequence[Turn], *, whole: bool = False) -> tuple[str, _Growing]:
        """Return the open run whose whole conversation is the beginning of `turns`, or a new one.

        Args:
            turns: A conversation.
            whole: Whether it may be no longer than that run's.
        """
        keys = list(_running_keys(turns))
        return self._known(*reversed(keys if whole else keys[:-1])) or ("", self._new())

    def _of_snapshot(self, snapshot: Snapshot) -> tuple[str, _Growing]:
        """Return the run that a conversation continues, with its turns added."""
        gap = f"ask {_last_key(snapshot.turns)}"
        later = self._known(gap) if snapshot.awaits_answer else None
        if later and later[1].has_snapshots:
            later[1].fill(gap, snapshot.tools)
            return later
        key, growing = self._continued(snapshot.turns)
        if growing.has_calls and snapshot.awaits_answer:
            growing.add_call(Request(prompt=snapshot.turns, output=(), tools=snapshot.tools))
            return key, growing
        if growing.has_calls:
            # Which of its turns are calls that the run has already is not recorded.
            self._remember(key, growing)
            key, growing = "", self._new()
        growing.extend(snapshot)
        return key, growing

    def _of_request(self, request: Request) -> tuple[str, _Growing]:
        """Return the run of the same trace, or else the one that the prompt continues: some tracers trace each call."""
        if not request.group:
            whole = _last_key((*request.prompt, *request.output))
            if later := self._known(f"call {request.identity}", f"gap {whole}"):
                return later
            key, growing = self._continued(request.prompt, whole=True)
            if not growing.asks_another(request):
                return key, growing
            self._remember(key, growing)
            return "", self._new()
        key = f"group {request.group}"
        if known := self._known(key):
            return known
        continued, growing = self._continued(request.prompt, whole=True)
        if growing.has_snapshots:
            return key, self._new()
        return continued or key, growing

    def _closed(self, key: str) -> Iterator[Run]:
        growing = self._open.pop(key)
        self._forget_beginnings(growing)
        yield from self._checked(growing.run())

    def _remember(self, key: str, growing: _Growing) -> None:
        """Let later records continue a run that was looked up and not continued."""
        self._continues |= dict.fromkeys(growing.beginnings, key)

    def _forget_beginnings(self, growing: _Growing) -> None:
        for beginning in growing.beginnings:
            self._continues.pop(beginning, None)

    def _checked(self, run: Run) -> Iterator[Run]:
        if len(run.messages) > conversation.MAX_MESSAGES:
            self._findings.add("run", f"of more than {conversation.MAX_MESSAGES:,} messages")
        elif run.calls:
            yield replace(run, agent_names=self._agents)
        else:
            self._findings.add("record", "without a model call")


class _Growing:
    """A run that later records may continue."""

    def __init__(self, path: str, line: int, number: int, agents: frozenset[str]) -> None:
        self.path, self.line = path, line
        """The place of its first record."""
        self.number = number
        """How many runs began before."""
        self.key = ""
        """What a record begins with that continues it; empty: it is continued by its group."""
        self.beginnings: tuple[str, ...] = ()
        """What a later record begins with, or has as a whole or as its id, that belongs to this run; and its traces."""
        self.size = 0
        """Characters of its texts."""
        self._ends: set[str] = set()
        self._gaps: dict[str, range] = {}
        """What later prompts have shown of calls that are not recorded yet, and the positions of their answers."""
        self._traces: set[str] = set()
        self._agents = agents
        self._messages: list[RecordedMessage] = []
        self._calls: list[RecordedCall] = []
        self._requests: list[Request] = []
        self._exported: dict[str, int] = {}
        self._once: dict[Turn, Turn] = {}
        self._starts: list[int] = []
        self._awaits_answer = False
        self._tool_names: dict[str, str] = {}
        self._positions: defaultdict[_Key, list[int]] = defaultdict(list)
        self._responses: dict[str, int] = {}
        self._turns = 0
        self._counted = 0
        self._unanswered: list[int] = []
        self._sent: set[int] = set()
        self._tools: list[tuple[int, str]] = [(0, "")]
        """From which message on calls were sent which tool definitions."""
        self._identity = ""

    @property
    def has_calls(self) -> bool:
        """Whether it has calls whose prompts are recorded."""
        return bool(self._calls or self._requests)

    @property
    def has_snapshots(self) -> bool:
        """Whether it has calls that are found in a conversation."""
        return bool(self._counted) and not self.has_calls

    def asks_another(self, request: Request) -> bool:
        """Return whether this run ends with a request that says the same and is another one."""
        same = self.has_snapshots and self.key == _last_key(request.prompt) and bool(self._unanswered)
        return same and (not request.identity or request.identity != self._identity)

    def extend(self, snapshot: Snapshot) -> None:
        """Add the turns of a conversation that begins with this one's."""
        start, answers = len(self._messages), {}
        keys = ["", *_running_keys(snapshot.turns)]
        for before, turn in list(zip(keys, snapshot.turns, strict=False))[self._counted :]:
            at = len(self._messages)
            self._append(self._recorded(turn))
            if turn.role is Role.AGENT:
                answers[f"ask {before}"] = range(at, len(self._messages))
        self._counted = len(snapshot.turns)
        # What follows an earlier request is its answer, and was sent the tools of that one.
        first = min(start + (self._unanswered[-1:] == [start]), len(self._messages))
        if snapshot.awaits_answer and self._messages and not self._messages[-1].by_model:
            # All other turns of the model are a part of this prompt.
            self._sent.update(range(first, len(self._messages)))
            self._gaps |= {key: answer for key, answer in answers.items() if answer.start >= first}
            self._unanswered.append(len(self._messages))
            first = len(self._messages)
        self._set_tools(snapshot.tools, first)
        self._identity = snapshot.identity
        self.key = keys[-1]
        self.beginnings = tuple(self._gaps)

    def fill(self, gap: str, tools: str) -> None:
        """Count a call whose request is recorded after a later one, which holds its answer."""
        answer = self._gaps.pop(gap)
        self._sent.difference_update(answer)
        if tools:
            insort(self._tools, (answer.start, tools), key=itemgetter(0))
        self.beginnings = tuple(self._gaps)

    def add_call(self, request: Request) -> None:
        """Add a call whose prompt is recorded; messages that this run has already are the same messages."""
        if self.has_snapshots:
            self._settle(request)
        whole = _last_key((*request.prompt, *request.output))
        if request.group:
            # Traces are exported in any order.
            self._add_traced(request)
            self._traces.add(f"group {request.group}")
            self.beginnings = (whole, *self._traces)
        elif not request.identity or request.identity not in self._exported:
            self._place_call(request)
            self.key = self.key if self._gaps.pop(f"gap {whole}", None) is not None else whole
            self._ends.add(whole)
            said = zip(_running_keys(request.prompt), request.prompt, strict=True)
            missing = [key for key, turn in said if turn.role is Role.AGENT and key not in self._ends]
            self._gaps |= {} if self._counted else {f"gap {key}": range(0) for key in missing}
            self._exported[request.identity] = 0
            self.beginnings = (*self._gaps, *(f"call {identity}" for identity in self._exported if identity))

    def _add_traced(self, request: Request) -> None:
        """Add a call of a trace; one that is exported again counts once, with its answer."""
        known = self._exported.setdefault(request.identity, len(self._requests)) if request.identity else None
        # Each prompt repeats those before it: their texts are kept once.
        self.size += sum(len(part.text) for turn in {*request.prompt}.difference(self._once) for part in turn.parts)
        request = replace(request, prompt=tuple(self._once.setdefault(turn, turn) for turn in request.prompt))
        if known is None or known == len(self._requests):
            self._requests.append(request)
        elif request.output:
            self._requests[known] = request

    def _settle(self, request: Request) -> None:
        """Make calls of the requests and turns before `request`, which is recorded with its answer."""
        if _last_key(request.prompt) != self.key:
            self.extend(Snapshot(turns=request.prompt, awaits_answer=True))
        if self._unanswered[-1:] == [len(self._messages)]:
            # That call is `request` itself.
            self._unanswered.pop()
        found = self._found_calls(tuple(self._messages))
        self._calls += sorted(found, key=lambda call: call.prompt[-1:])

    def _place_call(self, request: Request) -> None:
        prompt = self._place(request.prompt)
        output = self._place(request.output, after=prompt[-1:])
        agent = request.agent or next((self._messages[i].sender for i in output), _MODEL)
        call = RecordedCall(agent=agent, prompt=prompt, output=output, tools=request.tools)
        # Without a trace, each prompt begins with those of the calls before, however they are recorded.
        later = (
            len(self._calls) if request.group else bisect_right(self._calls, len(prompt), key=lambda c: len(c.prompt))
        )
        self._calls.insert(later, call)

    def add_step(self, step: Step) -> None:
        """Add what comes next."""
        self._set_tools(step.tools, len(self._messages))
        self._awaits_answer |= step.awaits_answer
        if step.restarts:
            self._starts.append(len(self._messages))
        if step.turn is None or len(self._messages) > conversation.MAX_MESSAGES:
            return
        messages = self._recorded(step.turn)
        if step.once and all(_key(message) in self._positions for message in messages):
            return
        number = self._responses.get(step.response) if step.response else self._joined(step, messages)
        if number is not None:
            messages = [replace(message, turn=number) for message in messages]
        elif step.response:
            self._responses[step.response] = self._turns
        self._append(messages)

    def run(self) -> Run:
        """Return the run."""
        for request in sorted(self._requests, key=lambda request: request.started):
            self._place_call(request)
        messages, calls = tuple(self._messages), self._calls
        if not calls and len(messages) <= conversation.MAX_MESSAGES:
            calls = sorted(self._found_calls(messages), key=lambda call: call.prompt[-1:])
        return Run(
            name=f"{self.path}:{self.line}", source=self.path, messages=messages, calls=tuple(self._answered(calls))
        )

    def _answered(self, calls: Sequence[RecordedCall]) -> Iterator[RecordedCall]:
        """Yield calls; one without an answer has what a later prompt shows behind its own, or was tried again."""
        for number, call in enumerate(calls):
            size, later = len(call.prompt), calls[number + 1 : number + 1 + MAX_OPEN] if not call.output else ()
            same = [each for each in later if each.prompt[:size] == call.prompt]
            if any(each.output and len(each.prompt) == size and each.tools == call.tools for each in same):
                continue
            behind = next((each.prompt[size:] for each in same if len(each.prompt) > size), ())
            said = [self._messages[position] for position in behind]
            answer = [each for each in takewhile(attrgetter("by_model"), said) if each.turn == said[0].turn]
            if answer:
                agent = answer[0].sender if call.agent == _MODEL else call.agent
                call = replace(call, agent=agent, output=behind[: len(answer)])
            yield call

    def _found_calls(self, messages: Sequence[RecordedMessage]) -> Iterator[RecordedCall]:
        """Yield the calls of a conversation whose requests are not recorded."""
        for call in calls_in_order(messages):
            if call.output[0] in self._sent:
                continue
            first = max((start for start in self._starts if start <= call.output[0]), default=0)
            yield replace(call, prompt=call.prompt[first:], tools=self._tools_at(call.output[0]))
        if self._awaits_answer and messages and messages[-1].role is Role.TOOL:
            self._unanswered.append(len(messages))
        for end in self._unanswered:
            if end == len(messages) or not messages[end].by_model:
                agent = next((m.sender for m in reversed(messages[:end]) if m.by_model), _MODEL)
                yield RecordedCall(agent=agent, prompt=tuple(range(end)), output=(), tools=self._tools_at(end))

    def _set_tools(self, tools: str, position: int) -> None:
        """Let calls from `position` on be sent `tools`; empty: those of before."""
        if tools and tools != self._tools[-1][1]:
            self._tools.append((position, tools))

    def _tools_at(self, position: int) -> str:
        """Return the definitions in the prompt of the call whose answer is at `position`."""
        return self._tools[bisect_right(self._tools, position, key=itemgetter(0)) - 1][1]

    def _joined(self, step: Step, messages: Sequence[RecordedMessage]) -> int | None:
        last = self._messages[-1] if self._messages else None
        if step.joined and last and last.by_model and messages and messages[0].sender == last.sender:
            return last.turn
        return None

    def _place(self, turns: Iterable[Turn], after: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Return the positions of the messages of `turns`, in order; those that are new are appended.

        Args:
            turns: A prompt or an answer.
            after: The last position before them, if any.
        """
        placed = [*after]
        for turn in turns:
            for message in self._recorded(turn):
                last = placed[-1] if placed else -1
                known = (i for i in self._positions[_key(message)] if i > last)
                placed.append(next(known, len(self._messages)))
                if placed[-1] == len(self._messages):
                    self._append([message])
        return tuple(placed[len(after) :])

    def _append(self, messages: Iterable[RecordedMessage]) -> None:
        for message in messages:
            self._positions[_key(message)].append(len(self._messages))
            self._messages.append(message)
            self.size += len(message.text)

    def _recorded(self, turn: Turn) -> list[RecordedMessage]:
        """Return the messages of the next turn."""
        self._turns += 1
        role = Role.AGENT if turn.role is Role.USER and turn.agent in self._agents else turn.role
        sender = turn.agent or role.value
        # A model that only thought has answered all the same.
        parts = turn.parts or ((text(""),) if role is Role.AGENT else ())
        return [self._message(part, role, sender, turn.by_model) for part in parts]

    def _message(self, part: Part, role: Role, sender: str, written_by_model: bool) -> RecordedMessage:
        common: dict[str, Any] = {"text": part.text, "turn": self._turns, "call_id": part.call_id}
        if part.kind is Kind.RESULT:
            tool = part.tool or self._tool_names.get(part.call_id, "tool")
            common |= {"sender": tool, "recipient": _MODEL, "role": Role.TOOL, "tool": tool}
            return RecordedMessage(**common)
        if part.kind is Kind.CALL:
            self._tool_names[part.call_id] = part.tool
            common |= {"sender": sender, "recipient": part.tool, "role": Role.AGENT, "tool": part.tool}
            return RecordedMessage(**common, by_model=True)
        by_model = role is Role.AGENT and written_by_model
        recipient = "user" if role is Role.AGENT else _MODEL
        return RecordedMessage(**common, sender=sender, recipient=recipient, role=role, by_model=by_model)


def _key(message: RecordedMessage) -> _Key:
    """Return what makes two messages of a run the same one."""
    return (message.sender, message.recipient, message.role, message.text, message.tool, message.call_id)


def _last_key(turns: Iterable[Turn]) -> str:
    *_, last = ("", *_running_keys(turns))
    return last


def _running_keys(turns: Iterable[Turn]) -> Iterator[str]:
    """Yield what identifies the first turn, the first two turns, and so on."""
    digest = hashlib.blake2b(digest_size=16)
    for turn in turns:
        digest.update(_identity(turn))
        yield digest.hexdigest()


def _identity(turn: Turn) -> bytes:
    parts = [f"{part.kind}\0{part.tool}\0{part.call_id}\0{part.text}\0" for part in turn.parts]
    return f"{turn.role}\0{turn.agent}\0{len(parts)}\0{''.join(parts)}".encode("utf-8", "surrogatepass")
