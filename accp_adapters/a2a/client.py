"""Frames at the edge of an A2A client: the application sends and receives plain objects.

    await create_client(url, interceptors=[AccpClientInterceptor()])

It acts where the agent's card declares the extension; calls to any other agent pass unchanged.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from a2a.client import ClientCallContext, ClientCallInterceptor
from a2a.client.errors import A2AClientError
from a2a.client.interceptors import AfterArgs, BeforeArgs
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types import AgentCard, ListTasksResponse, SendMessageRequest, SendMessageResponse, StreamResponse, Task

from accp_adapters.a2a.extension import EXTENSION, VIEWS, is_declared
from accp_adapters.a2a.frames import EventEncoder, Safely, decode, is_unread, with_message
from accp_adapters.policy import is_disabled
from accp_core.bounded import BoundedDict

__all__ = ["AccpClientInterceptor"]

_MAX_PLAIN: Final = 1_000


class AccpClientInterceptor(ClientCallInterceptor):
    """Requests frames, sends them and decodes them; one interceptor may serve many clients.

    With `ACCP_DISABLED=1` in the environment it only decodes what arrives.
    """

    def __init__(self, *, never_larger: bool = True) -> None:
        """Create an interceptor.

        Args:
            never_larger: Send a message plain where frames would take more bytes or tokens; False: always frame it.

        Raises:
            ValueError: `ACCP_DISABLED` is neither yes nor no.
        """
        self._never_larger: Final = never_larger
        self._is_off: Final = is_disabled()
        self._safely: Final = Safely()
        self._plain: Final = BoundedDict[bytes, bool](_MAX_PLAIN)
        """The cards of agents that have not read a frame."""

    @property
    def faults(self) -> int:
        """How many objects were passed on as they came, because our own work on them failed."""
        return self._safely.faults

    async def before(self, args: BeforeArgs) -> None:
        """Request frames by the call's header, and replace the parts of its message by frames."""
        if self._is_off or not is_declared(args.agent_card) or self._plain.get(_name(args.agent_card)):
            return
        args.context = _requesting(args.context)
        if isinstance(args.input, SendMessageRequest):
            args.input = await self._encoded(args.input, views=is_declared(args.agent_card, VIEWS))

    async def after(self, args: AfterArgs) -> None:
        """Replace the frames of a result, or of one event of a stream, by plain parts.

        Raises:
            A2AClientError: An agent that declares our own forms has not read a frame; later messages to it stay plain.
        """
        if not is_declared(args.agent_card):
            return
        is_answer = isinstance(args.result, SendMessageResponse | StreamResponse) and "send" in args.method
        if is_answer and is_declared(args.agent_card, VIEWS) and is_unread(args.result.task):
            self._plain.put(_name(args.agent_card), True)
            raise A2AClientError(
                f"expected {args.agent_card.name!r} to read the frames that its card declares, found them in its "
                "history as they were sent: its server has lost AccpRequestHandler. Send again: messages now stay plain"
            )
        args.result = await self._decoded(args.result)

    async def _encoded(self, request: SendMessageRequest, *, views: bool) -> SendMessageRequest:
        encoder = EventEncoder(never_larger=self._never_larger, views=views)
        return with_message(request, await self._safely.run(encoder.encode, request.message))

    async def _decoded(self, result: Any) -> Any:
        if isinstance(result, Task):
            return await self._safely.run(decode, result)
        decoded, events = deepcopy(result), list[Any]()
        if isinstance(decoded, ListTasksResponse):
            events = list(decoded.tasks)
        elif isinstance(decoded, SendMessageResponse | StreamResponse) and (field := decoded.WhichOneof("payload")):
            events = [getattr(decoded, field)]
        for event in events:
            event.CopyFrom(await self._safely.run(decode, event))
        return decoded


def _name(card: AgentCard) -> bytes:
    return card.SerializeToString(deterministic=True)


def _requesting(context: ClientCallContext | None) -> ClientCallContext:
    """Return the context of a call that requests the extension; it shares the state of the caller's context."""
    given = context or ClientCallContext()
    updates = [with_a2a_extensions([EXTENSION, VIEWS])]
    parameters = ServiceParametersFactory.create_from(given.service_parameters, updates)
    return given.model_copy(update={"service_parameters": parameters})
