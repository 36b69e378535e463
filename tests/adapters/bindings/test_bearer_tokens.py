"""Bearer tokens and the loopback interface: who is let in, and what a refusal says."""

import pytest

from accp_adapters.serving.principals import (
    ANONYMOUS,
    AccessDenied,
    BearerTokens,
    Principal,
    is_loopback,
    loopback_only,
    with_bearer_token,
)

ANN = Principal("ann", frozenset({"ann"}))
BOB = Principal("bob")
TOKENS = BearerTokens({"token-of-ann": ANN, "token-of-bob": BOB})


def scope_of(*fields: bytes) -> dict[str, object]:
    return {"type": "http", "headers": [(b"authorization", field) for field in fields]}


@pytest.mark.parametrize(("field", "principal"), [(b"Bearer token-of-ann", ANN), (b"bearer  token-of-bob", BOB)])
async def test_a_known_token_names_its_principal(field: bytes, principal: Principal) -> None:
    assert await TOKENS(scope_of(field)) == principal


@pytest.mark.parametrize(
    "fields",
    [
        (),
        (b"Bearer token-of-ann", b"Bearer token-of-ann"),
        (b"Basic token-of-ann",),
        (b"Bearer ",),
        (b"Bearer token-of-eve",),
        (b"Bearer \xff\xfe",),
    ],
)
async def test_other_requests_are_denied_without_a_word_of_the_token(fields: tuple[bytes, ...]) -> None:
    with pytest.raises(AccessDenied) as denied:
        await TOKENS(scope_of(*fields))
    assert denied.value.code == "E5001"
    assert "token-of" not in str(denied.value)


def test_a_token_of_another_transport_replaces_one_in_the_header() -> None:
    scope = with_bearer_token(scope_of(b"Bearer token-of-ann"), "token-of-bob")
    assert scope["headers"] == [(b"authorization", b"Bearer token-of-bob")]


@pytest.mark.parametrize("token", ["", "short", "with blanks in it", "ünsäfe-tökens"])
def test_a_token_that_no_header_can_hold_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(ValueError, match="token of 'ann'") as refused:
        BearerTokens({token: ANN})
    assert not token or token not in str(refused.value)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(ValueError, match="found none"):
        BearerTokens({})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"])
async def test_this_machine_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    assert await loopback_only({"client": (host, 1)}) == ANONYMOUS


@pytest.mark.parametrize("client", [None, ("10.0.0.1", 1), ("localhost.example.org", 1), ("", 1)])
async def test_without_authentication_no_other_machine_is_served(client: tuple[str, int] | None) -> None:
    with pytest.raises(AccessDenied, match="on this machine"):
        await loopback_only({"client": client})


async def test_a_proxy_on_this_machine_brings_others() -> None:
    with pytest.raises(AccessDenied, match="on this machine"):
        await loopback_only({"client": ("127.0.0.1", 1), "headers": [(b"X-Forwarded-For", b"10.0.0.1")]})


def test_a_principal_sends_in_the_names_of_its_agents() -> None:
    assert (ANN.may_send_as("ann"), ANN.may_send_as("eve"), BOB.may_send_as("anybody")) == (True, False, True)
