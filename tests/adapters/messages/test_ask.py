"""`project_messages` with queries in calls: the two helpers, and the same answers in the JSON of each provider."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.messages import project_messages, with_query, without_query
from accp_adapters.policy import Policy
from tests.adapters.langgraph.transcripts import PROVIDERS
from tests.adapters.messages.conversations import LAYOUT_OF
from tests.adapters.messages.test_projection import ROWS, conversation

QUERY = "SELECT count(*) AS n FROM rows WHERE open"
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
DEFINITIONS = [
    {"type": "function", "function": {"name": "crm", "parameters": SCHEMA}},
    {"type": "function", "name": "crm", "parameters": SCHEMA},
    {"name": "crm", "input_schema": SCHEMA},
    {"name": "crm", "inputSchema": SCHEMA},
]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_result_is_shown_as_the_answer_to_the_query_of_its_call(provider: str) -> None:
    text = json.dumps(conversation(provider))
    quoted = json.dumps(json.dumps({"query": "q1"}))[1:-1]
    asked = {"query": "q1", "accp_query": QUERY}
    messages = text.replace(quoted, json.dumps(json.dumps(asked))[1:-1]).replace('{"query": "q1"}', json.dumps(asked))
    messages = json.loads(messages)
    shown = project_messages(messages, policy=Policy(ask=True), layout=LAYOUT_OF[provider])
    assert "[accp_query over 90 rows" in json.dumps(shown.messages)
    assert f"n {sum(bool(row['open']) for row in ROWS)}" in json.dumps(shown.messages)
    assert len(shown.tools) == 1
    own = project_messages(messages, policy=Policy(ask=True), layout=LAYOUT_OF[provider], unasked={"crm"})
    assert "accp_query over" not in json.dumps(own.messages)


@pytest.mark.parametrize("tool", DEFINITIONS)
def test_a_definition_gets_the_argument_once_and_calls_lose_it(tool: dict[str, Any]) -> None:
    asked = with_query(tool)
    assert "accp_query" in json.dumps(asked)
    assert "accp_query" not in json.dumps(tool)
    assert with_query(asked) is asked
    assert dict(without_query({"query": "x", "accp_query": "y"})) == {"query": "x"}


@pytest.mark.parametrize("tool", [{"type": "web_search"}, {"name": "x", "inputSchema": {"$ref": "#/$defs/a"}}])
def test_a_definition_without_a_schema_of_its_own_stays(tool: dict[str, Any]) -> None:
    assert with_query(tool) is tool
