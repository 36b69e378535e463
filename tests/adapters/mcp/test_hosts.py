"""Which form of a result a host shows its model, and that what it shows never becomes larger."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.mcp import Decoder, Encoder
from accp_adapters.mcp.hosts import HOSTS, ShownForm, client_name, host_named, shown_text
from accp_adapters.mcp.views import restore_view
from accp_adapters.telemetry import Telemetry
from accp_adapters.tokens import count_o200k
from accp_core.view import read
from tests.adapters.mcp.messages import ERAS, Era, Json, Wire, call, request, rows, served
from tests.adapters.mcp.test_frames import results

FORMS: tuple[ShownForm, ...] = get_args(ShownForm)
APART = {"content": [{"type": "text", "text": "20 parts"}], "structuredContent": rows()}


def shown_by(host: str, result: Json) -> Json:
    return Wire(encoder=Encoder(policy="always", host=host), decoder=None).call(copy.deepcopy(result))


def tokens(result: Json, form: ShownForm) -> int:
    return count_o200k(shown_text(result, form))


@given(results(), st.sampled_from([*FORMS, "unknown"]))
def test_no_host_ever_shows_its_model_more(result: Json, host: str) -> None:
    seen = shown_by(host, result)
    assert all(tokens(seen, form) <= tokens(result, form) for form in HOSTS[host].forms)


@pytest.mark.parametrize("host", ["claude-desktop", "text", "unknown"])
def test_a_host_that_may_show_texts_only_is_not_sent_the_other_form_as_a_text(host: str) -> None:
    assert shown_by(host, APART) == APART


@pytest.mark.parametrize("host", ["claude-code", "copilot-cli", "structured"])
@pytest.mark.parametrize("plain", [served(rows()), APART], ids=["the same value", "prose beside it"])
def test_a_host_that_would_show_json_is_sent_a_view_of_it(host: str, plain: Json) -> None:
    seen = shown_by(host, plain)
    assert "structuredContent" not in seen
    assert read(seen["content"][-1]["text"]) == rows()
    assert restore_view(seen) == plain
    assert all(tokens(seen, form) < tokens(plain, form) for form in HOSTS[host].forms)


def test_an_image_has_no_tokens_of_text() -> None:
    telemetry, content = Telemetry("mcp"), served(rows(400))["content"]
    image = {"type": "image", "data": "iVBORw0KGgo" * 900, "mimeType": "image/png"}
    Wire(encoder=Encoder(policy="always", telemetry=telemetry), decoder=None).call({"content": [*content, image]})
    assert 0 < telemetry.stats().tokens_before <= tokens({"content": content}, "text") + 1


def test_of_a_host_that_may_show_either_form_both_are_counted() -> None:
    telemetry, plain = Telemetry("mcp"), served(rows(400))
    encoder = Encoder(policy="always", fetch=True, inline_limit=500, preview_limit=200, telemetry=telemetry)
    seen = Wire(encoder=encoder, decoder=None).call(copy.deepcopy(plain))
    assert "structuredContent" in seen
    stats = telemetry.stats()
    assert [stats.tokens_before, stats.tokens_after] == [tokens(each, "both") for each in (plain, seen)]


def test_prose_that_a_host_does_not_show_is_not_added_where_that_costs_more() -> None:
    plain = {"content": [{"type": "text", "text": "At length. " * 200}], "structuredContent": {"n": 1}}
    assert shown_by("claude-code", plain) == plain


@pytest.mark.parametrize("era", ERAS)
def test_a_host_is_known_by_the_name_that_its_client_gives(era: Era) -> None:
    wire = Wire(encoder=Encoder(policy="always"), decoder=None, era=era)
    info = {"name": "claude-code", "version": "2.1"}
    if era == "2025-11-25":
        wire.ask(request("initialize", {"capabilities": {}, "clientInfo": info}), {"capabilities": {}})
    asked = call(era=era)
    if era == "2026-07-28":
        asked["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = info
    assert "structuredContent" not in wire.ask(asked, served(rows()))["result"]


@pytest.mark.parametrize("params", [None, [], {}, {"clientInfo": 5}, {"clientInfo": {"name": 5}}, {"_meta": 5}])
def test_a_client_without_a_name_may_be_any_host(params: object) -> None:
    assert client_name(params) == ""
    assert host_named("auto", "") == "unknown"
    assert HOSTS["unknown"].forms == FORMS


@pytest.mark.parametrize(
    ("client", "host"),
    [("cursor", "cursor"), ("Cursor 2.1", "cursor"), ("cursor-vscode", "cursor"), ("claude-code/2", "claude-code"),
     ("Visual Studio Code - Insiders", "vscode"), ("cursory", "unknown"), ("text", "unknown")],
)  # fmt: skip
def test_a_client_is_known_by_the_words_with_which_its_name_begins(client: str, host: str) -> None:
    assert host_named("auto", client) == host


def test_the_switch_of_the_environment_leaves_every_message_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCP_DISABLED", "1")
    encoder = Encoder(policy="always", fetch=True, index=True)
    asked, answer = call(), served(rows())
    assert encoder.from_client(asked) is asked
    assert encoder.answer_own(asked) is None
    assert encoder.from_server(answer) is answer


def test_every_host_that_is_named_has_a_source_and_no_two_have_one_client() -> None:
    kinds = {*FORMS, "unknown"}
    assert all(host.source.startswith("https://") for name, host in HOSTS.items() if name not in kinds)
    names = [name for host in HOSTS.values() for name in host.client_names]
    assert len(names) == len(set(names))


def test_prose_that_stands_twice_is_sent_once_to_a_client_that_restores_it() -> None:
    prose = "It was the best of times, it was the worst of times. " * 20
    plain = {"content": [{"type": "text", "text": prose}], "structuredContent": {"content": prose}, "isError": False}
    wire = Wire()
    wire.begin()
    assert wire.call(plain) == plain
    assert "structuredContent" not in wire.between[-1]["result"]
    frames = Decoder(view="frame").from_server(wire.between[-1])
    assert frames["result"]["structuredContent"] == plain["structuredContent"]


def test_the_documentation_lists_every_host_with_its_form() -> None:
    forms = {"text": "the texts", "structured": "`structuredContent`", "both": "both"}
    lines = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8").splitlines()
    rows = {form: next(line for line in lines if line.startswith(f"| {label} |")) for form, label in forms.items()}
    assert [name for name, host in HOSTS.items() if host.source and f"`{name}`" not in rows[host.forms[0]]] == []
