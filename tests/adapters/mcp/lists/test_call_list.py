"""Several calls in one: in order, with values of earlier results, and only what is asked for comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.lists.call_lists import router_of
from accp_adapters.mcp.shim.router import Router
from accp_core.view import read
from tests.adapters.mcp.messages import ERAS, Era, Json, call, request, response
from tests.adapters.mcp.shim.tools.test_tool_index import LONG, text_of, tool

READS = {"annotations": {"readOnlyHint": True}}
ORDERS = {"orders": [{"id": f"o{n}", "buyer": f"b{n % 3}", "total": n + 0.5} for n in range(12)]}
TOOLS = [
    {**tool("shop.list_orders", LONG), **READS},
    {**tool("shop.get_buyer", LONG, id={"type": "string"}), **READS},
    {**tool("shop.get_buyers", LONG, ids={"type": "array", "items": {"type": "string"}}), **READS},
    tool("shop.delete_order", LONG, id={"type": "string"}),
    {**tool("mail.find", LONG, address={"type": "string"}), **READS},
    {**tool("shop.fails", LONG), **READS},
]


class Server:
    """Answers each call by its name; `asked` are the calls that reached it."""

    def __init__(self, answers: dict[str, Callable[[Json], Json]] | None = None) -> None:
        self.asked: list[tuple[str, Json]] = []
        self.ids: list[object] = []
        self.answers = {
            "shop.list_orders": lambda given: {"content": [{"type": "text", "text": json.dumps(ORDERS)}]},
            "shop.get_buyer": lambda given: {
                "content": [],
                "structuredContent": {"id": given["id"], "mail": f"{given['id']}@example.org", "notes": LONG},
            },
            "shop.get_buyers": lambda given: {"content": [], "structuredContent": {"result": given["ids"]}},
            "shop.fails": lambda given: {
                "content": [{"type": "text", "text": "no [preview of 3 lines"}],
                "isError": True,
            },
            "mail.find": lambda given: {"content": [{"type": "text", "text": f"to {given['address']}\nall is well"}]},
            "shop.delete_order": lambda given: {"content": [{"type": "text", "text": f"deleted {given['id']}"}]},
            **(answers or {}),
        }

    def answer(self, message: Json) -> Json:
        params = message["params"]
        self.asked.append((params["name"], params["arguments"]))
        self.ids.append(message["id"])
        return response(self.answers[params["name"]](params["arguments"]), message["id"])


def connected(era: Era = "2025-11-25", **settings: Any) -> Router:
    router = router_of(Encoder(tools="names", **{"call_lists": True, **settings}))
    router.from_client(request("tools/list", era=era))
    router.from_server(response({"tools": TOOLS}))
    return router


def run(router: Router, server: Server, *calls: Json, era: Era = "2025-11-25", message_id: object = 7) -> Json:
    """Return the result of a list of calls, as a transport makes them."""
    routed = router.from_client(call("accp_tools", {"calls": list(calls)}, message_id=message_id, era=era))
    while not routed.to_client:
        assert routed.is_own
        routed = router.from_server(server.answer(routed.message))
    assert routed.message["id"] == message_id
    return dict(routed.message["result"])


def of(number: int, query: str) -> Json:
    return {"$from": number, "query": query}


@pytest.mark.parametrize("era", ERAS)
def test_a_later_call_uses_a_value_of_an_earlier_one_and_only_the_last_result_comes_back(era: Era) -> None:
    router, server = connected(era), Server()
    buyer = {"call": "shop.get_buyer", "arguments": {"id": of(1, "orders.4.buyer")}}
    result = run(router, server, {"call": "shop.list_orders"}, buyer, era=era)
    assert server.asked == [("shop.list_orders", {}), ("shop.get_buyer", {"id": "b1"})]
    assert server.ids[0] == 7
    assert str(server.ids[1]).startswith("accp-")
    assert not result["isError"]
    assert len(result["content"]) == 1
    assert "b1@example.org" in text_of(result)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("SELECT DISTINCT buyer FROM orders ORDER BY buyer", ["b0", "b1", "b2"]),
        ("select id from orders where total > 10", ["o10", "o11"]),
    ],
)
def test_a_select_gives_the_cells_of_its_column(query: str, ids: list[str]) -> None:
    router, server = connected(), Server()
    buyers = {"call": "shop.get_buyers", "arguments": {"ids": of(1, query)}}
    result = run(router, server, {"call": "shop.list_orders"}, buyers)
    assert server.asked[1] == ("shop.get_buyers", {"ids": ids})
    assert all(name in text_of(result) for name in ids)


def test_what_is_shown_of_each_result_is_what_was_asked_for() -> None:
    router, server = connected(), Server()
    orders = {"call": "shop.list_orders", "show": "SELECT count(*) AS n, max(total) AS most FROM orders"}
    buyer = {"call": "shop.get_buyer", "arguments": '{"id": "b2"}', "show": "mail"}
    result = run(router, server, orders, buyer, {"call": "mail.find", "arguments": {"address": "x"}})
    first, second = (block["text"] for block in result["content"])
    assert read(first.removeprefix("1 shop.list_orders: ")) == {"n": 12, "most": 11.5}
    assert second == "2 shop.get_buyer: b2@example.org"


def test_a_query_that_finds_nothing_says_so_and_loses_no_other_result() -> None:
    shown = run(connected(), Server(), {"call": "shop.list_orders", "show": "SELECT nothing FROM nowhere"})
    assert "was not found: E1004" in text_of(shown)
    nothing = {"call": "shop.get_buyer", "arguments": {"id": of(1, "orders.99.buyer")}}
    result = run(connected(), server := Server(), {"call": "shop.list_orders"}, nothing)
    assert len(server.asked) == 1
    assert result["isError"]
    assert text_of(result).startswith("call 2, shop.get_buyer, was not made: E1004: expected a path to a value")


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([{"call": "shop.delete_order", "arguments": {"id": "o1"}}], "E5001: expected tools that only read"),
        ([{"call": "shop.list_orders"}, {"call": "shop.nothing"}], "E4001: expected the name of a tool"),
        ([{"call": "shop.list_orders"}, {"call": "shop.get_buyer"}], "E4003: shop.get_buyer: expected the arguments"),
        ([{"call": "accp_tools"}], "E4003: expected the server's tools"),
        ([{"arguments": {}}], "E4003: expected call 1 to be an object with 'call'"),
        (["shop.list_orders"], "E4003: expected call 1 to be an object with 'call'"),
        ([{"call": "shop.list_orders", "show": 5}], "E4003: expected 'show' of call 1 to be a query"),
        ([{"call": "shop.get_buyer", "arguments": {"id": of(1, "x")}}], "E4003: expected '$from' of call 1"),
        ([{"call": "shop.get_buyer", "arguments": {"id": {"$from": True}}}], "E4003: expected '$from' of call 1"),
        ([{"call": "shop.list_orders"}] * 21, "E4003: expected 'calls' to be a list of 1 to 20 calls, found 21"),
    ],
)
def test_a_list_that_may_not_run_is_refused_before_anything_runs(calls: list[Any], said: str) -> None:
    server = Server()
    result = run(connected(), server, *calls)
    assert server.asked == []
    assert result["isError"]
    assert text_of(result).startswith(said)


def test_a_tool_that_is_not_offered_does_not_run_in_a_list_either() -> None:
    result = run(connected(exclude=("shop.get_*",)), Server(), {"call": "shop.get_buyer", "arguments": {"id": "b1"}})
    assert text_of(result).startswith("E4001")


def server_of(name: str) -> str:
    return name.partition(".")[0]


@pytest.mark.parametrize(
    ("allow", "is_sent"), [((), False), (("mail.find",), False), (("shop.list_orders", "mail.*"), True)]
)
def test_a_value_goes_to_another_server_only_where_both_tools_are_named(allow: tuple[str, ...], is_sent: bool) -> None:
    router, server = connected(allow=allow, server_of=server_of), Server()
    find = {"call": "mail.find", "arguments": {"address": of(1, "orders.0.buyer")}}
    result = run(router, server, {"call": "shop.list_orders"}, find)
    assert result["isError"] != is_sent
    assert len(server.asked) == (2 if is_sent else 0)
    if not is_sent:
        assert text_of(result).startswith("E5001: expected a value to stay with its server")


def test_a_call_that_fails_ends_the_list_and_says_what_was_made() -> None:
    server = Server()
    result = run(
        connected(),
        server,
        {"call": "shop.list_orders", "show": "orders.0.id"},
        {"call": "shop.fails"},
        {"call": "shop.list_orders"},
    )
    assert len(server.asked) == 2
    assert result["isError"]
    shown, failure = (block["text"] for block in result["content"])
    assert shown == "1 shop.list_orders: o0"
    assert (
        failure == "call 2, shop.fails, failed: no [source text: preview of 3 lines; made before it: shop.list_orders"
    )


def test_an_error_of_the_protocol_ends_the_list() -> None:
    router = connected()
    router.from_client(TWICE)
    broken = {"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": "it broke"}}
    assert text_of(router.from_server(broken).message["result"]) == "call 1, shop.list_orders, failed: it broke"


def test_a_result_that_asks_for_more_ends_the_list() -> None:
    server = Server({"shop.list_orders": lambda given: {"resultType": "input_required", "requestState": "x"}})
    assert "needs more than a result: call it alone" in text_of(run(connected(), server, {"call": "shop.list_orders"}))


def test_a_value_that_violates_the_schema_is_refused_before_the_call() -> None:
    server = Server()
    buyer = {"call": "shop.get_buyer", "arguments": {"id": of(1, "orders.4.total")}}
    result = run(connected(), server, {"call": "shop.list_orders"}, buyer)
    assert len(server.asked) == 1
    assert "E4003: shop.get_buyer: expected the argument 'id' to meet type: string, found 4.5" in text_of(result)


def test_results_are_bounded_in_characters() -> None:
    big = {"content": [{"type": "text", "text": "x" * 3_000_000}]}
    server = Server({"shop.list_orders": lambda given: big})
    result = run(connected(), server, *[{"call": "shop.list_orders", "show": "x.y"}] * 3)
    assert len(server.asked) == 2
    assert "E2003: expected results of at most 4,000,000 characters" in result["content"][-1]["text"]


def test_a_list_is_bounded_in_time() -> None:
    moments = iter([0.0, 61.0])
    server = Server()
    result = run(connected(now=lambda: next(moments)), server, *[{"call": "shop.list_orders"}] * 2)
    assert len(server.asked) == 1
    assert "call 2, shop.list_orders, was not made: E3001: expected at most 60 s" in text_of(result)


TWICE = call("accp_tools", {"calls": [{"call": "shop.list_orders"}] * 2}, message_id=7)
CANCEL: Json = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7, "reason": "late"}}


def test_a_client_cancels_the_call_that_the_server_is_running() -> None:
    router, server = connected(), Server()
    further = router.from_server(server.answer(router.from_client(TWICE).message)).message
    assert router.from_client(CANCEL).message["params"] == {"requestId": further["id"], "reason": "late"}
    assert router.from_client(CANCEL).message is CANCEL


def test_the_response_to_a_cancelled_call_is_no_result_of_the_list_and_has_the_clients_id() -> None:
    router, server = connected(), Server()
    late = server.answer(router.from_server(server.answer(router.from_client(TWICE).message)).message)
    router.from_client(CANCEL)
    seen = router.from_server(late)
    assert (seen.to_client, seen.message["id"]) == (True, 7)
    assert text_of(seen.message["result"]) == "the list of calls was cancelled"
    assert router.from_server(late).message is late


def test_lists_are_taken_only_where_they_are_offered() -> None:
    result = run(connected(call_lists=False), Server(), {"call": "shop.list_orders"})
    assert text_of(result).startswith("E4003: expected 'call', 'describe' or 'search', found ['calls']")


def test_the_metadata_of_the_request_goes_with_every_call() -> None:
    router, server = connected(), Server()
    asked = {**TWICE, "params": {**TWICE["params"], "_meta": {"progressToken": 7}}}
    first = router.from_client(asked).message
    further = router.from_server(server.answer(first)).message
    assert first["params"]["_meta"] == further["params"]["_meta"] == {"progressToken": 7}


def test_texts_of_several_documents_are_one_list() -> None:
    blocks = [{"type": "text", "text": json.dumps(order)} for order in ORDERS["orders"]]
    server = Server({"shop.list_orders": lambda given: {"content": blocks}})
    buyer = {"call": "shop.get_buyer", "arguments": {"id": of(1, "2.buyer")}, "show": "id"}
    assert text_of(run(connected(), server, {"call": "shop.list_orders"}, buyer)) == "2 shop.get_buyer: b2"


def test_a_list_calls_no_tool_that_is_barred_although_the_servers_list_is_not_known() -> None:
    router = router_of(Encoder(tools="names", call_lists=True, exclude=("shop.delete_*",), allow=("*",)))
    result = run(router, server := Server(), {"call": "shop.delete_order", "arguments": {"id": "o1"}})
    assert text_of(result).startswith("E4001: expected the name of a tool, found 'shop.delete_order'")
    assert server.asked == []
