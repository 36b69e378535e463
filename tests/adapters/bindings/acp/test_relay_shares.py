"""Strangers at a relay: what one address may use of it, and what others have all the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest

from accp_adapters.bindings.acp import RelayLimits, relay_app
from accp_adapters.bindings.acp.relay.rooms import RoomRefused, Rooms
from accp_adapters.serving.hosts import network_of
from accp_adapters.serving.responses import BUFFERED
from tests.adapters.bindings.acp.agents import serving
from tests.adapters.serving.unread import request_of, serving_unread
from tests.limits import PATIENCE, async_wait_until

MANY = {"new_burst": 1_000, "new_rate": 1_000.0}


@asynccontextmanager
async def relay(limits: RelayLimits) -> AsyncIterator[tuple[httpx2.AsyncClient, httpx2.AsyncClient]]:
    """Yield clients of a relay at two addresses of the loopback."""
    async with serving(relay_app(limits=limits)) as port:

        def client(address: str) -> httpx2.AsyncClient:
            transport = httpx2.AsyncHTTPTransport(local_address=address)
            url = f"http://127.0.0.1:{port}/acp"
            return httpx2.AsyncClient(base_url=url, transport=transport, trust_env=False, timeout=PATIENCE)

        async with client("127.0.0.1") as one, client("127.0.0.2") as other:
            yield one, other


async def make(client: httpx2.AsyncClient, count: int) -> list[httpx2.Response]:
    return [await client.post("/new") for _ in range(count)]


async def tokens(client: httpx2.AsyncClient, count: int) -> list[str]:
    return [str(answer.json()["token"]) for answer in await make(client, count)]


async def test_one_address_does_not_take_all_rooms() -> None:
    async with relay(RelayLimits(rooms=20, rooms_each=5, **MANY)) as (hog, ann):
        (own,) = await tokens(ann, 1)
        made = await tokens(hog, 30)
        assert (await ann.get("/rooms")).json() == {"rooms": 6}
        assert (await ann.get(f"/{own}/status")).status_code == 200
        statuses = [(await hog.get(f"/{token}/status")).status_code for token in made[-6:]]
        assert statuses == [403, 200, 200, 200, 200, 200]


async def test_where_all_rooms_are_taken_the_address_that_has_most_gives_way() -> None:
    async with relay(RelayLimits(rooms=4, **MANY)) as (hog, ann):
        taken = await tokens(hog, 4)
        for token in taken:
            await hog.post(f"/{token}/join", json={"name": "hog"})
        assert (await hog.post("/new")).json() == {"error": "too_many_sessions"}
        (own,) = await tokens(ann, 1)
        await ann.post(f"/{own}/join", json={"name": "ann"})
        await make(hog, 5)
        assert (await ann.get(f"/{own}/status")).json()["agents"] == ["ann"]
        assert [(await hog.get(f"/{token}/status")).status_code for token in taken] == [403, 200, 200, 200]


async def test_rooms_have_a_rate_for_each_address() -> None:
    async with relay(RelayLimits(new_burst=3, new_rate=0.001)) as (hog, ann):
        assert [answer.status_code for answer in await make(hog, 5)] == [200, 200, 200, 429, 429]
        assert (await ann.post("/new")).status_code == 200
        assert (await hog.post("/new", params={"token": "tok_guessed"})).json() == {"error": "rate_limited"}


async def test_tokens_cannot_be_tried_one_after_the_other() -> None:
    async with relay(RelayLimits(failed_burst=3, failed_rate=0.001)) as (hog, ann):
        (token,) = await tokens(ann, 1)
        tried = [(await hog.get(f"/tok_{number:06}/status")).status_code for number in range(5)]
        assert tried == [403, 403, 403, 429, 429]
        assert (await hog.get(f"/{token}/status")).status_code == 429  # the right one tells nothing either
        assert (await hog.delete(f"/{token}")).status_code == 429
        assert (await ann.get(f"/{token}/status")).status_code == 200


async def test_polls_of_one_address_do_not_keep_others_from_waiting() -> None:
    limits = RelayLimits(waiting=4, waiting_each=3)
    async with relay(limits) as (hog, ann):
        (token,) = await tokens(ann, 1)
        await ann.post(f"/{token}/send", json={"id": "first"})
        path = f"/{token}/poll?wait=20&after_id=first"
        waiting = [asyncio.ensure_future(hog.get(path)) for _ in range(6)]
        await async_wait_until(lambda: sum(each.done() for each in waiting) == 3)  # the other three wait
        own = asyncio.ensure_future(ann.get(path))
        await asyncio.sleep(0)
        await ann.post(f"/{token}/send", json={"id": "second"})
        assert [entry["id"] for entry in (await own).json()["messages"]] == ["second"]
        answers = [(await each).json()["count"] for each in waiting]
        assert sorted(answers) == [0, 0, 0, 1, 1, 1]


async def test_a_poll_is_answered_in_parts_of_bounded_size() -> None:
    async with relay(RelayLimits(answer_bytes=1_000)) as (ann, _):
        (token,) = await tokens(ann, 1)
        for number, size in enumerate((300, 300, 300, 2_000, 10)):
            await ann.post(f"/{token}/send", json={"id": f"n{number}", "text": "x" * size})
        last, found = "", list[list[str]]()
        for _ in range(4):
            answer = (await ann.get(f"/{token}/poll", params={"after_id": last})).json()
            last = answer["last_id"]
            found.append([entry["id"] for entry in answer["messages"]])
        assert found == [["n0", "n1"], ["n2"], ["n3"], ["n4"]]


def test_a_room_in_which_nobody_was_ends_though_it_is_asked_for() -> None:
    rooms = Rooms(RelayLimits(join_seconds=60))
    for token in ("tok_empty", "tok_joined"):
        rooms.create(token, "a", 0, str)
    rooms.add(rooms.get("tok_joined", 0), {"type": "hello"}, 0, "id1")
    for now in (30, 59):
        assert rooms.create("tok_empty", "a", now, str) == ("tok_empty", True)
        rooms.get("tok_joined", now)
    with pytest.raises(RoomRefused, match="invalid_token"):
        rooms.get("tok_empty", 61)
    assert rooms.get("tok_joined", 100).last == 1


def test_the_rooms_of_one_address_do_not_take_the_memory_of_all() -> None:
    rooms = Rooms(RelayLimits(address_bytes=500, total_bytes=5_000, rate=1e6))
    for owner in ("hog", "ann"):
        for number in range(3):
            rooms.create(f"tok_{owner}{number}", owner, 0, str)
    with pytest.raises(RoomRefused, match="out_of_memory"):
        for number in range(20):
            rooms.add(rooms.get(f"tok_hog{number % 3}", 0), {"text": "x" * 100}, 0, f"id{number}")
    assert rooms.add(rooms.get("tok_ann0", 0), {"text": "x" * 100}, 0, "id1") == ("id1", 1, True)


TOKEN = "tok_0123456789"
LARGE = 300_000
"""Bytes of an answer, far more than a connection holds."""
CLIENTS = 5


async def fill_room(client: httpx2.AsyncClient) -> None:
    assert (await client.post(f"/acp/new?token={TOKEN}")).status_code == 200
    for _ in range(2):
        assert (await client.post(f"/acp/{TOKEN}/send", json={"text": "x" * (LARGE // 2)})).status_code == 200


async def test_unread_polls_take_the_share_of_their_address() -> None:
    poll = f"/acp/{TOKEN}/poll"
    async with (
        serving_unread(relay_app(limits=RelayLimits(address_bytes=CLIENTS * LARGE + LARGE // 2))) as served,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{served.port}", trust_env=False, timeout=PATIENCE) as client,
    ):
        await fill_room(client)
        await served.send_unread(*[request_of("GET", poll)] * CLIENTS * 2)
        await async_wait_until(lambda: served.buffered > CLIENTS * BUFFERED)
        refused = await client.get(poll)
        assert (refused.status_code, refused.json()) == (503, {"error": "out_of_memory"})
        assert served.buffered < CLIENTS * LARGE
        assert (await client.get("/acp/rooms")).json() == {"rooms": 1}
        served.close()
        async with asyncio.timeout(PATIENCE):
            while (answered := await client.get(poll)).status_code == 503:
                await asyncio.sleep(0.01)
        assert answered.json()["count"] == 2


async def test_who_does_not_read_is_cut() -> None:
    async with (
        serving_unread(relay_app(limits=RelayLimits(write_seconds=0.2)), write_seconds=0.2) as served,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{served.port}", trust_env=False, timeout=PATIENCE) as client,
    ):
        await fill_room(client)
        await client.aclose()
        await served.send_unread(*[request_of("GET", f"/acp/{TOKEN}/poll")] * CLIENTS)
        await async_wait_until(lambda: served.buffered)
        await served.until_idle()


@pytest.mark.parametrize(
    ("client", "network"),
    [
        (("192.0.2.7", 1), "192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 1), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 1), "fe80::/64"),
        (("testclient", 1), "testclient"),
        (None, ""),
    ],
)
def test_an_address_of_ipv6_is_its_network(client: tuple[str, int] | None, network: str) -> None:
    assert network_of({"client": client}) == network
