"""Makes shadow calls beside the real ones: after the answer, without a caller who waits for them."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain.agents.middleware import ModelRequest, ModelResponse

from accp_adapters.langgraph.prepared_call import falls_back
from accp_adapters.langgraph.runtime import thread_id
from accp_adapters.langgraph.shadow.actions import Action, action_of, fetches
from accp_adapters.langgraph.shadow.comparison import Outcomes, Shadow, ShadowCount
from accp_adapters.policy import Policy
from accp_adapters.telemetry import Telemetry

__all__ = ["ShadowRunner"]

_log: Final = logging.getLogger("accp")
_MAX_AT_ONCE: Final = 4
"""Shadow calls at one time; a call that would be one more is not compared."""
_ACTIONS: Final = 3
"""What the model does with the projected prompt, with the unprojected one, and with that again."""
_PRESETS: Final = ("default", "lossless")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A call of the model that is compared."""

    request: ModelRequest
    """The request with the unprojected messages, and the tools of the projected one."""
    answer: Sequence[Any]
    """What the model answered to the projected messages."""
    tool: str
    """The tool or agent that the newest projected message comes from."""


class ShadowRunner:
    """Compares some calls of one middleware, each in its own context, so that nothing of it is streamed."""

    def __init__(self, options: Shadow, policy: Policy, telemetry: Telemetry) -> None:
        """Compare what `policy` sends, by `options`."""
        self._options: Final = options
        self._policy: Final = policy
        self._name: Final = next((name for name in _PRESETS if Policy.named(name) == policy), "own")
        self._telemetry: Final = telemetry
        self._outcomes = Outcomes(margin=options.margin, next_look=options.min_calls)
        self._running: Final[set[threading.Thread | asyncio.Task[None]]] = set()

    def __deepcopy__(self, _memo: dict[int, Any]) -> ShadowRunner:
        """Return one that goes on with the same outcomes: no thread can be copied."""
        other = ShadowRunner(self._options, self._policy, self._telemetry)
        other._outcomes = self._outcomes
        return other

    @property
    def is_harmful(self) -> bool:
        """Whether a verdict was against the policy."""
        return self._outcomes.harmful

    def counts(self) -> tuple[ShadowCount, ...]:
        """Return the counts by policy and tool."""
        return self._outcomes.counts()

    def start(
        self,
        request: ModelRequest,
        sent: ModelRequest,
        answer: ModelResponse[Any],
        handler: Callable[[ModelRequest], ModelResponse[Any]],
    ) -> None:
        """Compare a call, if it is one of those, in a thread that ends with the process.

        Args:
            request: The request with the messages of the state.
            sent: What the model was sent.
            answer: What it answered.
            handler: Calls the model.
        """
        if call := self._chosen(request, sent, answer):
            run = contextvars.Context().run
            thread = threading.Thread(target=run, args=(self._compare, call, handler), name="accp-shadow", daemon=True)
            self._running.add(thread)
            try:
                thread.start()
            except RuntimeError as error:  # the process may have no more threads
                self._running.discard(thread)
                self._telemetry.shadow_failed(type(error).__name__)

    def start_task(
        self,
        request: ModelRequest,
        sent: ModelRequest,
        answer: ModelResponse[Any],
        handler: Callable[[ModelRequest], Awaitable[ModelResponse[Any]]],
    ) -> None:
        """`start`, in a task of the running loop."""
        if call := self._chosen(request, sent, answer):
            loop = asyncio.get_running_loop()
            task = loop.create_task(self._acompare(call, handler), context=contextvars.Context())
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def wait(self, seconds: float) -> bool:
        """Wait for the calls that run in threads; return whether all have ended."""
        end = time.monotonic() + seconds
        threads = [each for each in self._running.copy() if isinstance(each, threading.Thread)]
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    async def await_tasks(self, seconds: float) -> None:
        """Wait for the calls that run in tasks of this loop."""
        if tasks := [each for each in self._running if isinstance(each, asyncio.Task)]:
            await asyncio.wait(tasks, timeout=seconds)

    def _chosen(self, request: ModelRequest, sent: ModelRequest, answer: ModelResponse[Any]) -> _Call | None:
        """Return the call as it is made again, where it is among those that are and its prompt is projected."""
        projected = [new for old, new in zip(request.messages, sent.messages, strict=False) if new is not old]
        if not projected or falls_back(request.state) or len(self._running) >= _MAX_AT_ONCE:
            return None
        if not self._options.chooses((thread_id(), len(request.messages), request.messages[-1].text)):
            return None
        tool = projected[-1].name or projected[-1].type
        return _Call(request=sent.override(messages=request.messages), answer=answer.result, tool=tool)

    def _compare(self, call: _Call, handler: Callable[[ModelRequest], ModelResponse[Any]]) -> None:
        end = time.monotonic() + self._options.timeout
        try:
            actions = [action_of(call.answer)]
            # A call that is under way cannot be ended: it is let go, and no other one is made.
            while len(actions) < _ACTIONS and not fetches(actions[0]):
                actions.append(action_of(handler(call.request).result))
                if time.monotonic() > end:
                    raise TimeoutError
            self._tell(call, actions)
        except Exception as error:
            self._telemetry.shadow_failed(type(error).__name__)
        finally:
            self._running.discard(threading.current_thread())

    async def _acompare(self, call: _Call, handler: Callable[[ModelRequest], Awaitable[ModelResponse[Any]]]) -> None:
        try:
            actions = [await asyncio.to_thread(action_of, call.answer)]
            async with asyncio.timeout(self._options.timeout):
                while len(actions) < _ACTIONS and not fetches(actions[0]):
                    again = await handler(call.request)
                    actions.append(await asyncio.to_thread(action_of, again.result))
            await asyncio.to_thread(self._tell, call, actions)
        except Exception as error:
            self._telemetry.shadow_failed(type(error).__name__)

    def _tell(self, call: _Call, actions: Sequence[Action]) -> None:
        if len(actions) < _ACTIONS:
            return
        projected, unprojected, repeated = actions
        changed, noise, was_harmful = projected != unprojected, repeated != unprojected, self.is_harmful
        self._outcomes.add(self._name, call.tool, noise=noise, changed=changed)
        self._telemetry.compared(self._name, call.tool, changed=changed, noise=noise)
        if self.is_harmful and not was_harmful:
            _log.warning("shadow: the policy %s changes what the model does next", self._name)
