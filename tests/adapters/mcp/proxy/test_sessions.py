"""Who sends a request, the relay that belongs to it, and what is freed when it ends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.proxy import callers
from accp_adapters.mcp.proxy.callers import Caller, CallerRelays, caller_of
from accp_adapters.mcp.proxy.relay import Relay, encoder_relay
from accp_adapters.mcp.shim.negotiation import ClientSettings
from accp_adapters.stores import SqliteColdStore
from tests.adapters.mcp.messages import call, response, rows, served
from tests.adapters.mcp.proxy.marking_relay import passed, seen

BIG = served(rows(400))


def caller(session: str = "", **fields: str) -> Caller:
    headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in fields.items()]
    return caller_of([*headers, *([(b"mcp-session-id", session.encode())] if session else [])])


def encoder_of(relay: Relay) -> Encoder:
    assert relay.encoder is not None
    return relay.encoder


def fetching(store: SqliteColdStore | None = None) -> Relay:
    return encoder_relay(Encoder(policy="always", fetch=True, inline_limit=500, store=store or SqliteColdStore()))


def keep_text(relay: Relay) -> str:
    """Let the relay show a large result; return what the client sees."""
    passed(relay, json.dumps(call()).encode())
    return seen(relay, json.dumps(response(BIG)).encode()).decode()


@pytest.mark.parametrize(
    "name",
    ["user_agent", "accept", "content_length", "traceparent", "mcp_name", "mcp_param_region", "last_event_id", "via"],
)
def test_a_field_that_is_no_credential_says_nothing_of_the_caller(name: str) -> None:
    assert caller(**{name: "1"}) == caller(**{name: "2"}) == caller()


@pytest.mark.parametrize(
    "name",
    ["authorization", "cookie", "x_api_key", "x_amz_security_token", "dpop_secret", "mcp_user_token", "mcp_api_key"],
)
def test_credentials_say_who_the_caller_is(name: str) -> None:
    assert caller(**{name: "1"}).principal != caller(**{name: "2"}).principal
    assert caller(**{name: "1"}).is_identified
    assert not caller().is_identified
    assert caller("s").is_identified


@pytest.mark.parametrize("name", ["x_tenant", "mcp_user", "x_forwarded_for", "x_real_ip", "origin", "sec_ch_user"])
def test_any_field_that_is_not_on_the_list_says_who_the_caller_is(name: str) -> None:
    assert caller(**{name: "1"}).principal != caller(**{name: "2"}).principal
    assert caller(**{name: "1"}).is_identified


def test_callers_that_change_with_every_request_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    callers._warn_of_callers.cache_clear()

    def accept(sessions: CallerRelays, *numbers: int) -> None:
        for number in numbers:
            each = caller(x_request_number=str(number))
            sessions.find(each)
            sessions.accept(each)

    accept(CallerRelays(fetching), *range(19), 0, *range(20, 39))
    assert "header fields" not in caplog.text
    accept(CallerRelays(fetching), *range(60))
    accept(CallerRelays(fetching), *range(60))
    assert caplog.text.count("header fields") == 1


def test_the_owner_of_texts_is_the_same_in_every_process_and_for_nobody_else() -> None:
    alice = caller("s", authorization="a")
    assert alice.owner("http://x") == caller("s", authorization="a", accept="*/*").owner("http://x")
    others = [alice.owner("http://y"), caller("s").owner("http://x"), caller("t", authorization="a").owner("http://x")]
    assert len({alice.owner("http://x"), *others}) == 4
    assert caller().owner("http://x") == ""


def test_a_caller_that_the_server_has_not_accepted_displaces_nobody() -> None:
    sessions = CallerRelays(fetching, limit=2)
    known = caller("known", authorization="a")
    relay = sessions.find(known)
    sessions.accept(known)
    for number in range(1_100):
        sessions.find(caller(f"guess {number}"))
    assert sessions.find(known) is relay
    assert len(sessions) == 1


def keeping(limits: dict[str, int], *callers: Caller) -> list[bool]:
    """Let each caller get a preview; return whether each has its texts at the end."""
    sessions = CallerRelays(lambda: encoder_relay(Encoder(policy="always", fetch=True, inline_limit=500)), **limits)
    relays = []
    for each in callers:
        relays.append(sessions.find(each))
        sessions.accept(each)
        keep_text(relays[-1])
        sessions.count(each)
    kept = [relay.stored_bytes > 0 for relay in relays]
    sessions.close()
    assert (len(sessions), [relay.stored_bytes for relay in relays]) == (0, [0] * len(relays))
    return kept


SIZE = len(BIG["content"][0]["text"])


@pytest.mark.parametrize("limits", [{"limit": 4}, {"max_bytes": 4 * SIZE}])
def test_who_has_most_loses_its_own_texts_and_those_of_the_most_silent_session(limits: dict[str, int]) -> None:
    hog = [caller(f"hog {number}", authorization="hog") for number in range(5)]
    ann = caller("ann", authorization="ann")
    assert keeping(limits, ann, *hog) == [True, False, False, False, True, True]
    assert keeping(limits, *hog[:2], ann, caller("bob"), caller("carl", authorization="c")) == [False, *[True] * 4]


@pytest.mark.parametrize("is_shared", [False, True])
def test_the_end_of_a_session_deletes_its_texts_and_eviction_only_those_of_this_process(is_shared: bool) -> None:
    store = SqliteColdStore()
    sessions = CallerRelays(lambda: fetching(store) if is_shared else fetching(), limit=1, server="http://x")
    first, second = caller("1"), caller("2")
    for each in (first, second):
        relay = sessions.find(each)
        keep_text(relay)
        sessions.accept(each)
    [key] = encoder_of(relay).session.stored_results.granted  # type: ignore[union-attr]  # it fetches
    assert (store.get(first.owner("http://x"), key) is not None) == is_shared
    sessions.end(second)
    assert store.get(second.owner("http://x"), key) is None
    assert len(sessions) == 0


def test_a_session_with_a_new_token_keeps_its_client_and_none_of_its_references() -> None:
    sessions = CallerRelays(fetching)
    relay = encoder_relay(Encoder(fetch=True))
    encoder_of(relay).session.client_settings = ClientSettings(results="view", fetch=True)
    sessions.begin(caller("s", authorization="old"), relay)
    old, new = (encoder_of(sessions.find(caller("s", authorization=token))) for token in ("old", "new"))
    assert old.session.client_settings == new.session.client_settings == ClientSettings(results="view", fetch=True)
    assert old.session.stored_results is not new.session.stored_results
    sessions.begin(caller("s", authorization="old"), encoder_relay(Encoder()))
    assert encoder_of(sessions.find(caller("s", authorization="old"))) is old


def test_exchanges_without_sessions_share_tools_and_references_but_not_what_a_client_declared() -> None:
    sessions = CallerRelays(fetching)
    alice = caller(authorization="a")
    first, second = encoder_of(sessions.find(alice)), encoder_of(sessions.find(alice))
    first.session.client_settings = ClientSettings()
    assert second.session.client_settings is None
    assert first.session.stored_results is second.session.stored_results is not None
    assert first.session.catalog is second.session.catalog
    nobody = encoder_of(sessions.find(caller()))
    assert nobody.session.stored_results is None
    assert nobody.session.catalog is not first.session.catalog


def test_a_store_that_cannot_delete_is_named_in_the_log_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(SqliteColdStore):
        def purge(self, session_id: str) -> int:
            raise OSError("redis://user:secret@host")

    relay: Any = fetching(Broken())
    relay.close()
    assert "could not be deleted: OSError" in caplog.text
    assert "secret" not in caplog.text
