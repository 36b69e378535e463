"""LiteLLM's own guardrail for headroom's server, against this service; run by `make test-others`."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

import pytest

from accp_adapters.bindings.identity import BearerTokens, Principal
from accp_adapters.gateway import compress_app
from accp_adapters.policy import Policy
from accp_adapters.serving.listening import http_server, listen_at
from tests.adapters.gateway.requests import conversation

pytest.importorskip("litellm", reason="needs openai 2: make test-others")
headroom = pytest.importorskip("litellm.proxy.guardrails.guardrail_hooks.headroom.headroom")

PREVIEWS: Final = replace(Policy(), cache_aware=False)
TOKEN: Final = "token-of-litellm"


@asynccontextmanager
async def guardrail(policy: Policy | None = None, *, token: str = TOKEN) -> AsyncIterator[Any]:
    """Serve the application at a free port and yield LiteLLM's guardrail for it."""
    app = compress_app(policy=policy, authenticate=BearerTokens({TOKEN: Principal("litellm")}))
    with listen_at("127.0.0.1", 0) as listening:
        server = http_server(app, header_seconds=30)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            guard = headroom.HeadroomGuardrail(
                api_base=url, api_key=token, guardrail_name="accp", event_hook="pre_call"
            )
            yield guard
            await guard.async_handler.close()
        finally:
            server.should_exit = True
            await serving


def request_of(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"model": "gpt-5", "messages": messages, "litellm_call_id": "call-1", "metadata": {}}


async def applied(guard: Any, messages: list[dict[str, Any]], request: dict[str, Any] | None = None) -> dict[str, Any]:
    request = request_of(messages) if request is None else request
    inputs = {"structured_messages": copy.deepcopy(messages)}
    found: dict[str, Any] = await guard.apply_guardrail(inputs, request, "request")
    return found


async def test_litellm_sends_views_of_what_it_lets_others_rewrite() -> None:
    messages = conversation()
    async with guardrail() as guard:
        shown = (await applied(guard, messages))["structured_messages"]
    changed = [index for index, each in enumerate(messages) if shown[index] != each]
    # The system prompt, the model's words, the newest question and the newest results are withheld.
    assert changed == [3, 5] and len(shown[3]["content"]) < len(messages[3]["content"]) / 2
    assert "Customer 599" in shown[3]["content"]


async def test_what_litellm_sent_stays_from_turn_to_turn_and_over_a_restart() -> None:
    messages = conversation()
    turns = []
    for length in (8, 10):
        async with guardrail(PREVIEWS) as guard:
            turns.append((await applied(guard, messages[:length]))["structured_messages"])
    # At the eighth message the results of the turn before are compressed, and they stay as they were sent.
    assert json.dumps(turns[1][:8]) == json.dumps(turns[0])
    assert turns[0][3] != messages[3]


async def test_litellm_opens_previews_by_its_retrieve_tool() -> None:
    messages = conversation()
    request = request_of(messages)
    async with guardrail(PREVIEWS) as guard:
        shown = await applied(guard, messages, request)
        assert [tool["function"]["name"] for tool in shown["tools"]] == ["headroom_retrieve"]
        name = shown["structured_messages"][3]["content"].split("headroom_retrieve ")[1][:24]
        for arguments, found in (
            ({"hash": name}, messages[3]["content"]),
            ({"hash": name, "query": "select count(*) as late from rows where status = 'late'"}, "late 12"),
            ({"hash": "0" * 24}, f"[Headroom: hash={'0' * 24} was not produced by the current request]"),
        ):
            assert await retrieved(guard, request, arguments) == found


async def retrieved(guard: Any, request: dict[str, Any], arguments: dict[str, Any]) -> Any:
    """Return what the tool gives a model that calls it in an answer to a request to which the guardrail was applied."""
    calls = [{"id": "r1", "type": "function", "name": "headroom_retrieve", "arguments": arguments}]
    plan = await guard.async_build_agentic_loop_plan(
        tools={"tool_calls": calls},
        model="gpt-5",
        messages=request["messages"],
        response={"choices": [{"message": {"role": "assistant", "content": None}}]},
        anthropic_messages_provider_config=None,
        anthropic_messages_optional_request_params={},
        logging_obj=None,
        stream=False,
        kwargs=request,
    )
    return plan.request_patch.messages[-1]["content"]


async def test_litellm_is_told_why_it_is_refused() -> None:
    async with guardrail(token="another-token") as guard:
        with pytest.raises(Exception, match=r"401.*expected a known token"):
            await applied(guard, conversation())
