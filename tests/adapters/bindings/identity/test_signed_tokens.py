"""Signed tokens: each claim and the signature count, keys are fetched within bounds, and nothing is shown."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import httpx2
import jwt
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accp_adapters.bindings.identity import AccessDenied, FetchedKeys, GivenKeys, Principal, SignedTokens
from tests.adapters.bindings.identity.keys import AUDIENCE, ISSUER, Issuer

URL = "https://issuer.example/keys"


class KeyServer:
    """Serves what `answer` returns, and counts."""

    def __init__(self, issuer: Issuer) -> None:
        self.body: bytes | None = None
        self.status = 200
        self.now = 1_000.0
        self.issuer = issuer
        app = Starlette(routes=[Route("/keys", self.serve)])
        self.client = lambda: httpx2.AsyncClient(transport=httpx2.ASGITransport(app))

    async def serve(self, _: Request) -> Response:
        return Response(self.body or json.dumps(self.issuer.key_set()), self.status)

    def keys(self) -> FetchedKeys:
        return FetchedKeys(URL, client=self.client, clock=lambda: self.now)


def tokens_of(issuer: Issuer) -> SignedTokens:
    return SignedTokens(GivenKeys(issuer.key_set()), issuer=ISSUER, audience=AUDIENCE)


def unsigned(header: object, payload: object = None) -> str:
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, payload))
    return ".".join(parts) + "."


async def test_a_token_names_its_subject_its_agents_and_its_end() -> None:
    issuer = Issuer()
    end = int(time.time()) + 60
    scope = {"headers": [(b"authorization", b"Bearer " + issuer.token(agents=["ann", "ben"], exp=end).encode())]}
    assert await tokens_of(issuer)(scope) == Principal("ann", frozenset({"ann", "ben"}), end + 30)
    assert (await tokens_of(issuer).principal_of(issuer.token())).agents == {"ann"}


REFUSED: dict[str, dict[str, Any]] = {
    "expired": {"exp": 1},
    "not yet valid": {"nbf": int(time.time()) + 3_600},
    "another issuer": {"iss": "https://other.example"},
    "another audience": {"aud": "other.example"},
    "no end": {"without": "exp"},
    "no issuer": {"without": "iss"},
    "no audience": {"without": "aud"},
    "no subject": {"without": "sub"},
    "an empty subject": {"sub": ""},
    "a number as subject": {"sub": 7},
    "an end that is no time": {"exp": "soon"},
    "agents that are no list": {"agents": "ann"},
    "agents that are no names": {"agents": [1]},
    "an unknown key": {"header": {"kid": "key-2"}},
    "far too long": {"note": "x" * 20_000},
}


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
async def test_a_token_with_one_wrong_claim_is_denied(change: dict[str, Any]) -> None:
    issuer = Issuer()
    token = issuer.token(**change)
    with pytest.raises(AccessDenied) as denied:
        await tokens_of(issuer).principal_of(token)
    assert denied.value.code == "E5001"
    assert token not in str(denied.value)


async def test_a_token_of_another_key_is_denied() -> None:
    with pytest.raises(AccessDenied, match="InvalidSignatureError"):
        await tokens_of(Issuer()).principal_of(Issuer().token())


FORGED = {
    "no signature": unsigned({"alg": "none", "kid": "key-1"}, {"sub": "ann"}),
    "the public key as shared secret": jwt.encode(
        {"sub": "ann"}, "k" * 32, algorithm="HS256", headers={"kid": "key-1"}
    ),
    "no token": "no.token",
    "an empty token": "..",
    "a deep header": unsigned({}).replace("e30", base64.urlsafe_b64encode(b"[" * 6_000).decode()),
    "a header that is no object": unsigned(["ES256"]),
    "a key id that is a list": unsigned({"alg": "ES256", "kid": ["key-1"]}),
}


@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED)
async def test_a_forged_token_is_denied(token: str) -> None:
    with pytest.raises(AccessDenied):
        await tokens_of(Issuer()).principal_of(token)


async def test_a_key_for_another_algorithm_is_not_used() -> None:
    issuer = Issuer()
    keys = GivenKeys({"keys": [{**issuer.key(), "alg": "ES384"}]})
    with pytest.raises(AccessDenied, match="algorithm of its key"):
        await SignedTokens(keys, issuer=ISSUER, audience=AUDIENCE).principal_of(issuer.token())


async def test_a_token_without_key_id_is_for_an_issuer_with_one_key() -> None:
    issuer = Issuer()
    token = jwt.encode({"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": 1 << 50}, issuer.private, "ES256")
    assert (await tokens_of(issuer).principal_of(token)).expires_at == (1 << 40) + 30
    two = GivenKeys({"keys": [issuer.key(), Issuer().key()]})
    with pytest.raises(AccessDenied, match="known key"):
        await SignedTokens(two, issuer=ISSUER, audience=AUDIENCE).principal_of(token)


@pytest.mark.parametrize("algorithms", [(), ("HS256",), ("none",), ("ES256", "HS512")])
def test_shared_secrets_are_no_algorithms(algorithms: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="expected algorithms of ES256"):
        SignedTokens(GivenKeys(Issuer().key_set()), issuer=ISSUER, audience=AUDIENCE, algorithms=algorithms)


@pytest.mark.parametrize("document", [None, [], {}, {"keys": []}, {"keys": [{"use": "enc"}]}, {"keys": [{}] * 65}])
def test_what_is_no_key_set_is_refused(document: object) -> None:
    with pytest.raises(ValueError, match="expected a key"):
        GivenKeys(document)


async def test_keys_are_fetched_once_and_again_when_they_are_old() -> None:
    server = KeyServer(Issuer())
    keys = server.keys()
    for later in (0, 0, 599, 2):
        server.now += later
        assert (await keys.find("key-1"))["kid"] == "key-1"
    assert keys.fetches == 2


async def test_a_new_key_of_the_issuer_is_fetched_but_not_for_every_stranger() -> None:
    server = KeyServer(Issuer())
    keys = server.keys()
    await keys.find("key-1")
    server.issuer.rotate("key-2")
    server.now += 31
    assert (await keys.find("key-2"))["kid"] == "key-2"
    for number in range(100):
        with pytest.raises(AccessDenied, match="another key"):
            await keys.find(f"stranger-{number}")
    assert keys.fetches == 2


@pytest.mark.parametrize(("status", "body"), [(500, b"{}"), (200, b"no json"), (200, b"[]"), (200, b" " * 300_000)])
async def test_without_an_answer_the_last_keys_are_used_for_an_hour(status: int, body: bytes) -> None:
    server = KeyServer(Issuer())
    keys = server.keys()
    await keys.find("key-1")
    server.status, server.body = status, body
    server.now += 4_000
    assert (await keys.find("key-1"))["kid"] == "key-1"
    server.now += 300
    with pytest.raises(AccessDenied, match="no answer") as denied:
        await keys.find("key-1")
    assert denied.value.is_temporary
    assert keys.fetches == 3


@pytest.mark.parametrize("url", ["http://issuer.example/keys", "ftp://issuer.example", "", "http:///keys"])
def test_keys_come_over_https_only(url: str) -> None:
    with pytest.raises(ValueError, match="expected an https URL"):
        FetchedKeys(url)
