"""What each agent of a recorded run is sent under a strategy, prompt by prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.policy import Policy
from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Role, Run, is_foreign
from accp_adapters.replay.seen_messages import SeenMessage, SeenMessages, name_of
from accp_adapters.replay.strategy import SentMessage, Strategy
from accp_core.projection import Projected, PromptProjector
from accp_core.strict_json import compact_json

__all__ = ["PromptBuilder", "SentPrompt"]


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
        messages = {position: self._as_recorded[position] for position in call.prompt}
        if self._middleware:
            changed, offers_tool = self._middleware.send(call)
            messages.update(changed)
        else:
            messages.update((position, self._rewrite(position)) for position in self._foreign(call))
            offers_tool = any(message.reference for message in messages.values())
        if offers_tool:
            self._offered.add(call.agent)
        return SentPrompt(messages=messages, definitions=tuple(filter(None, self._definitions(call))))

    def _definitions(self, call: RecordedCall) -> Iterator[str]:
        # A run that was recorded with the fetch tool would be sent it twice.
        yield without_fetch_tool(call.tools) if self._middleware else call.tools
        if call.agent in self._offered:
            yield self._strategy.fetch_tool

    def _foreign(self, call: RecordedCall) -> Iterator[int]:
        return (position for position in call.prompt if is_foreign(self._run.messages[position], call.agent))

    def _rewrite(self, position: int) -> SentMessage:
        if self._strategy.rewrite is None:
            return self._as_recorded[position]
        if position not in self._rewritten:
            self._rewritten[position] = self._strategy.rewrite(self._run.messages[position])
        return self._rewritten[position]


class _Middleware:
    """What `AccpMiddleware` sends of the messages of one run."""

    def __init__(self, run: Run, policy: Policy) -> None:
        self._messages: Final = run.messages
        self._seen: Final = SeenMessages(run)
        named = replace(policy, agent_names=policy.agent_names | run.agent_names)
        self._prompts: Final = PromptProjector(named.rules)

    def send(self, call: RecordedCall) -> tuple[dict[int, SentMessage], bool]:
        """Return the messages that change, by their positions, and whether the fetch tool is offered."""
        seen = list(self._seen.of(call))
        prompt = self._prompts.project((each.record for each in seen), agent=name_of(call.agent, Role.AGENT))
        changed = {
            position: sent
            for each, shown in zip(seen, prompt.messages, strict=True)
            if shown.is_changed
            for position, sent in self._sent(each, shown)
        }
        return changed, prompt.offers_tool

    def _sent(self, seen: SeenMessage, shown: Projected) -> Iterator[tuple[int, SentMessage]]:
        references = {stored.text: stored.reference for stored in shown.stored}
        for position, text in zip(seen.positions, shown.blocks, strict=True):
            if text is not None:
                yield position, SentMessage(text=text, reference=references.get(self._text(position), ""))

    def _text(self, position: int) -> str:
        message: RecordedMessage = self._messages[position]
        return message.text


def without_fetch_tool(definitions: str) -> str:
    """Return recorded tool definitions without that of the fetch tool."""
    if FETCH_NAME not in definitions:
        return definitions
    try:
        lines = [_without_fetch_tool(json.loads(line)) for line in definitions.split("\n")]
    except (ValueError, RecursionError):
        return definitions
    return "\n".join(compact_json(line) for line in lines if line)


def _without_fetch_tool(value: Any) -> Any:
    match value:
        case list():
            return [_without_fetch_tool(each) for each in value if not _is_fetch_tool(each)]
        case dict():
            return {name: _without_fetch_tool(each) for name, each in value.items()}
    return value


def _is_fetch_tool(value: Any) -> bool:
    """Return whether a value is the definition of the tool, in the layout of any provider."""
    inner = [value, *value.values()] if isinstance(value, dict) else []
    return any(isinstance(each, dict) and each.get("name") == FETCH_NAME for each in inner)
