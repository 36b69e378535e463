"""What each agent of a recorded run is sent under a strategy, message by message."""

from __future__ import annotations

from accp_adapters.replay.recorded_run import Call, Message, Role, Run, is_foreign
from accp_adapters.replay.strategy import Birth, Rewrite, Sent, Strategy

__all__ = ["Prompts"]


class Prompts:
    """The prompts of one run; what an agent was sent once never changes."""

    def __init__(self, run: Run, strategy: Strategy) -> None:
        self._run = run
        self._strategy = strategy
        self._once: dict[int, Sent] = {}
        self._open: dict[str, tuple[tuple[int, ...], Rewrite, list[Sent]]] = {}

    def of(self, call: Call) -> dict[int, Sent]:
        """Return what the model of the next `call` is sent in the place of each message of its prompt."""
        seen, rewrite, sent = self._open.get(call.agent, ((), None, []))
        if rewrite is None or call.prompt[: len(seen)] != seen:
            rewrite, sent = self._reader(call), []
        sent += [rewrite(_birth(self._run, position, call.agent)) for position in call.prompt[len(sent) :]]
        self._open[call.agent] = (call.prompt, rewrite, sent)
        return dict(zip(call.prompt, sent, strict=True))

    def _reader(self, call: Call) -> Rewrite:
        if self._strategy.reader:
            return self._strategy.reader(call.agent, call.tools)
        return self._alone

    def _alone(self, birth: Birth) -> Sent:
        """Rewrite a foreign message by itself, and once, however many agents get it."""
        if not birth.foreign or self._strategy.rewrite is None:
            return Sent(text=birth.message.text)
        key = id(birth.message)
        if key not in self._once:
            self._once[key] = self._strategy.rewrite(birth)
        return self._once[key]


def _birth(run: Run, position: int, agent: str) -> Birth:
    """Return a message with what its reader works on: the user's last words and the call that it answers."""
    if not is_foreign(run.messages[position], agent):
        return Birth(message=run.messages[position], foreign=False)
    message, earlier = run.messages[position], run.messages[:position]
    words = [other.text for other in earlier if other.role is Role.USER][-1:]
    call = next((other for other in reversed(earlier) if _answers(message, other)), None)
    if call is None:
        return Birth(message=message, request=" ".join(words))
    beside = sum(_is_call(other) and other.turn == call.turn and other.sender == call.sender for other in earlier)
    return Birth(message=message, request=" ".join((*words, call.text)), beside=max(beside, 1))


def _answers(result: Message, call: Message) -> bool:
    if result.role is not Role.TOOL or not call.by_model:
        return False
    return call.call_id == result.call_id if result.call_id else call.sender == result.recipient


def _is_call(message: Message) -> bool:
    return message.by_model and bool(message.tool)
