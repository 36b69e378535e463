"""What each agent of a recorded run is sent under a strategy, message by message."""

from __future__ import annotations

from dataclasses import dataclass, field

from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Role, Run, is_foreign
from accp_adapters.replay.strategy import IncomingMessage, Rewriter, SentMessage, Strategy

__all__ = ["PromptBuilder"]


@dataclass(slots=True)
class _AgentPrompt:
    """The last prompt of one agent."""

    rewrite: Rewriter
    positions: tuple[int, ...] = ()
    """Of its messages in the run."""
    sent: list[SentMessage] = field(default_factory=list)
    """The message that is sent in place of each of them."""


class PromptBuilder:
    """Builds the prompts of one run in order; a text that was sent to an agent never changes."""

    def __init__(self, run: Run, strategy: Strategy) -> None:
        """Build the prompts of `run` under `strategy`."""
        self._run = run
        self._strategy = strategy
        self._rewritten: dict[int, SentMessage] = {}
        self._prompts: dict[str, _AgentPrompt] = {}

    def build(self, call: RecordedCall) -> dict[int, SentMessage]:
        """Return what the model of the next `call` is sent, by the position of each message of its prompt."""
        prompt = self._prompts.get(call.agent)
        if prompt is None or call.prompt[: len(prompt.positions)] != prompt.positions:
            prompt = self._prompts[call.agent] = _AgentPrompt(self._new_rewriter(call))
        for position in call.prompt[len(prompt.sent) :]:
            prompt.sent.append(prompt.rewrite(_incoming(self._run, position, call.agent)))
        prompt.positions = call.prompt
        return dict(zip(call.prompt, prompt.sent, strict=True))

    def _new_rewriter(self, call: RecordedCall) -> Rewriter:
        if self._strategy.new_rewriter:
            return self._strategy.new_rewriter(call.agent, call.tools)
        return self._rewrite_once

    def _rewrite_once(self, incoming: IncomingMessage) -> SentMessage:
        """Rewrite a foreign message by itself, and only once, however many agents are sent it."""
        if not incoming.is_foreign or self._strategy.rewrite is None:
            return SentMessage(text=incoming.message.text)
        key = id(incoming.message)
        if key not in self._rewritten:
            self._rewritten[key] = self._strategy.rewrite(incoming)
        return self._rewritten[key]


def _incoming(run: Run, position: int, agent: str) -> IncomingMessage:
    """Return the message at `position` with the request of `agent` that it serves."""
    message, earlier = run.messages[position], run.messages[:position]
    if not is_foreign(message, agent):
        return IncomingMessage(message=message, is_foreign=False)
    last_words = [other.text for other in earlier if other.role is Role.USER][-1:]
    call = next((other for other in reversed(earlier) if _answers(message, other)), None)
    if call is None:
        return IncomingMessage(message=message, request=" ".join(last_words))
    calls = sum(_is_tool_call(other) and other.turn == call.turn and other.sender == call.sender for other in earlier)
    return IncomingMessage(message=message, request=" ".join((*last_words, call.text)), results_in_turn=max(calls, 1))


def _answers(result: RecordedMessage, call: RecordedMessage) -> bool:
    if result.role is not Role.TOOL or not call.by_model:
        return False
    return call.call_id == result.call_id if result.call_id else call.sender == result.recipient


def _is_tool_call(message: RecordedMessage) -> bool:
    return message.by_model and bool(message.tool)
