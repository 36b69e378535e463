"""The servers of a gateway, from the files of clients; what cannot be behind a gateway is refused at its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.mcp.gateway.configuration import ServerSettings, read_servers
from accp_adapters.mcp.gateway.names import Names, is_server_name, server_names, server_of_name, server_of_uri
from accp_core.errors import DecodeError
from tests.adapters.mcp.clients.configurations import CLAUDE_DESKTOP

ENVIRONMENT = {"TOKEN": "abc", "EMPTY": ""}


def test_a_client_s_file_is_a_gateway_s() -> None:
    names = [server.name for server in read_servers(CLAUDE_DESKTOP, {})]
    assert names == ["filesystem", "github", "linear"]


def test_commands_urls_and_variables() -> None:
    text = """{"servers": { // as in VS Code
        "git": {"type": "stdio", "command": "${EMPTY}uvx", "args": ["git", "${env:TOKEN}"], "cwd": "/srv",
                "env": {"KEY": "${TOKEN}-${NONE:-none}"}},
        "off": {"command": "x", "disabled": true},
        "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    }}"""
    assert read_servers(text, ENVIRONMENT) == [
        ServerSettings("git", ["uvx", "git", "abc"], {"KEY": "abc-none"}, "/srv"),
        ServerSettings("web", url="https://example.com/mcp", headers=[(b"authorization", b"Bearer abc")]),
    ]


@pytest.mark.parametrize(
    ("servers", "said"),
    [
        ("", "at least one server"),
        ('"a": {"command": "x", "args": [1]}', "an array of strings"),
        ('"a": {"command": "x", "env": {"b": 1}}', "a string"),
        ('"a": {"command": "${NONE}"}', "'${NONE}'"),
        ('"a": {"command": "x", "args": ["${input:key}"]}', "'${input:key}'"),
        ('"a": {"command": "x", "envFile": ".env"}', "no envFile"),
        ('"a": {"url": "ftp://x"}', "the http or https url"),
        ('"a": {"type": "sse", "url": "http://x"}', "of type http"),
        ('"a": {}', "a command"),
    ],
)
def test_what_cannot_be_behind_a_gateway_is_refused(servers: str, said: str) -> None:
    with pytest.raises(DecodeError) as refused:
        read_servers(f'{{"mcpServers": {{{servers}}}}}', ENVIRONMENT)
    assert (refused.value.code, said in refused.value.reason) == ("E1001", True)


def test_two_servers_of_one_name_are_refused() -> None:
    text = '{"mcpServers": {"a": {"command": "x"}}, "servers": {"a": {"command": "y"}}}'
    with pytest.raises(DecodeError, match="each name once, not twice 'a'"):
        read_servers(text, {})


@pytest.mark.parametrize(
    ("name", "is_one"), [("git", True), ("a-b_c9", True), ("a_", False), ("a__b", False), ("", False)]
)
def test_the_names_of_servers(name: str, is_one: bool) -> None:
    assert is_server_name(name) is is_one


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a b", "A.b", "é", "x_", "a__b"], ["a-b", "A-b", "server", "x", "a_b"]),
        (["a b", "a.b", "a-b", "a-b-2"], ["a-b-3", "a-b-4", "a-b", "a-b-2"]),
        (["", "日本", "server", "_-_"], ["server-2", "server-3", "server", "server-4"]),
        (["a_b", "a____b", "a-_ _-b"], ["a_b", "a_b-2", "a-_-_-b"]),
    ],
)
def test_names_that_a_server_may_not_have_are_replaced(names: list[str], expected: list[str]) -> None:
    assert list(server_names(names).values()) == expected


@given(st.lists(st.text(alphabet="aA_- .é2", max_size=6), unique=True))
def test_replaced_names_are_distinct_and_others_stay(names: list[str]) -> None:
    chosen = server_names(names)
    assert list(chosen) == names
    assert len(set(chosen.values())) == len(names)
    assert all(is_server_name(name) for name in chosen.values())
    assert all(chosen[name] == name for name in names if is_server_name(name))


def test_no_server_of_a_file_is_lost_for_its_name() -> None:
    text = """{"servers": {"a b": {"command": "x"}, "a.b": {"command": "y", "disabled": true},
        "a-b": {"command": "z"}, "a/b": {"command": "w"}}}"""
    found = [(each.name, each.given_name) for each in read_servers(text, {})]
    assert found == [("a-b-2", "a b"), ("a-b", ""), ("a-b-4", "a/b")]


def test_a_name_can_be_split_in_one_way_only() -> None:
    for server, own in (("a", "b__c"), ("a-b", "c"), ("a_b", "_c")):
        outside = Names(server).name(own)
        assert (server_of_name(outside), Names(server).own_name(outside)) == (server, own)
    assert [server_of_name(name) for name in ("a", "", None, 5)] == ["", "", "", ""]


def test_a_uri_can_be_split_in_one_way_only() -> None:
    for own in ("file:///a/b", "test://{id}/data", "accp://server/other/x", ""):
        outside = Names("git").uri(own)
        assert (server_of_uri(outside), Names("git").own_uri(outside)) == ("git", own)
    assert [server_of_uri(uri) for uri in ("file:///a", "accp://registry", None)] == ["", "", ""]


@pytest.mark.parametrize(
    "result",
    [
        {"content": [5, {"type": "text", "text": "a"}, {"type": "resource"}], "structuredContent": {"uri": "a"}},
        {"messages": [5, {"role": "user", "content": "a"}, {"role": "user"}], "contents": [None, {"uri": 1}]},
        {"content": "a", "_meta": {"uri": "a"}},
    ],
)
def test_what_is_no_uri_of_a_result_stays(result: dict[str, object]) -> None:
    assert Names("git").result(result) == result


def test_lists_of_blocks_in_messages_are_rewritten() -> None:
    block = {"type": "resource_link", "uri": "a", "name": "b"}
    result = Names("git").result({"messages": [{"role": "user", "content": [block, block]}]})
    assert [each["uri"] for each in result["messages"][0]["content"]] == ["accp://server/git/a"] * 2
