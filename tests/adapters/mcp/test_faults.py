"""A fault of ours: the message passes as it was, one warning names the cause, and the totals count it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from accp_adapters.mcp import Decoder, Encoder, messages
from accp_adapters.stores import SqliteColdStore
from accp_adapters.telemetry import Telemetry
from accp_core.projection import Resolve
from tests.adapters.mcp.messages import Json, call, request, response, rows, served, start, started

Break = Callable[[pytest.MonkeyPatch], dict[str, Any]]


class Fault(Exception):
    """What no code of ours expects."""


def fail(*_: Any, **__: Any) -> Any:
    raise Fault


def counting(_: pytest.MonkeyPatch) -> dict[str, Any]:
    return {"counter": fail}


def storing(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    store = SqliteColdStore()
    patch.setattr(store, "put", fail)
    return {"store": store}


def telling(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    patch.setattr(Telemetry, "rewritten", fail)
    return {}


def patching(name: str) -> Break:
    def broken(patch: pytest.MonkeyPatch) -> dict[str, Any]:
        patch.setattr(name, fail)
        return {}

    return broken


VIEWS = "accp_adapters.mcp.views"
BREAKS: dict[str, Break] = {
    "counting": counting,
    "storing": storing,
    "telling": telling,
    "previewing": patching(f"{VIEWS}.compress"),
    "restoring": patching(f"{VIEWS}.restore_view"),
    "projecting": patching("accp_adapters.mcp.encoder.write_view"),
}


@pytest.fixture(autouse=True)
def _fresh(caplog: pytest.LogCaptureFixture) -> None:
    messages._warn.cache_clear()
    caplog.set_level(logging.WARNING)


@pytest.mark.parametrize("name", BREAKS)
def test_a_result_passes_as_it_was(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings: dict[str, Any] = {"policy": "always", "fetch": True, "inline_limit": 300, "preview_limit": 100}
    telemetry = Telemetry("mcp")
    encoder = Encoder(**{**settings, "telemetry": telemetry, **BREAKS[name](monkeypatch)})
    answer = response(served(rows(400)))
    for _ in range(2):
        encoder.from_client(call())
        assert encoder.from_server(answer) is answer
    (record,) = caplog.records
    assert "Fault in fail" in record.getMessage()
    assert telemetry.stats().projection_failures == 2


PAIRS: list[tuple[str, Json, Json]] = [
    ("negotiation.announce_registry", start(), response(started(), 0)),
    ("listed_tools", request("tools/list"), response({"tools": [{"name": "find"}]})),
    ("write_framed_contents", request("resources/read", {"uri": "a"}), response({"contents": [{"text": "x"}]})),
    ("code_of_error", call(), {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}),
]


@pytest.mark.parametrize(("name", "sent", "answer"), PAIRS, ids=lambda each: each if isinstance(each, str) else "")
def test_every_other_answer_passes_as_it_was(
    name: str, sent: Json, answer: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"accp_adapters.mcp.encoder.{name}", fail)
    telemetry = Telemetry("mcp")
    encoder = Encoder(policy="always", index=True, telemetry=telemetry)
    encoder.from_client(Decoder().from_client(start()))
    encoder.from_client(Decoder().from_client(sent))
    assert encoder.from_server(answer) is answer
    assert telemetry.stats().projection_failures == 1


OWN: list[tuple[str, Json]] = [
    ("sessions.answer_fetch", call("accp_fetch", {"ref": "$cold.1"})),
    ("sessions.read_stored", request("resources/read", {"uri": "accp://cold/1"})),
    ("passed_text", call("write_file", {"content": "$cold.123456789012"})),
]


@pytest.mark.parametrize(("name", "message"), OWN, ids=lambda each: each if isinstance(each, str) else "")
def test_what_is_asked_of_us_never_goes_to_the_server(
    name: str, message: Json, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    telemetry = Telemetry("mcp")
    encoder = Encoder(policy="always", fetch=True, tools={"write_file": Resolve(("content",))}, telemetry=telemetry)
    monkeypatch.setattr(f"accp_adapters.mcp.encoder.{name}", fail)
    assert "accp failed (Fault), not the tool; nothing is lost" in str(encoder.answer_own(message))
    assert (telemetry.stats().projection_failures, len(caplog.records)) == (1, 1)


def test_a_fault_while_a_fault_is_counted_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Telemetry, "projection_failed", fail)
    encoder = Encoder(policy="always", counter=fail)
    encoder.from_client(call())
    answer = response(served(rows()))
    assert encoder.from_server(answer) is answer


@pytest.mark.parametrize("view", ["plain", "view"])
def test_a_client_gets_what_came_where_its_decoder_fails(view: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, decoder = Encoder(), Decoder(view=view)
    encoder.from_client(decoder.from_client(start()))
    encoder.from_client(decoder.from_client(call()))
    coded = encoder.from_server(response(served(rows())))
    monkeypatch.setattr("accp_adapters.mcp.decoder.mcp_frames.restore_frame", fail)
    assert decoder.from_server(coded) is coded
