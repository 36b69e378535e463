import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from accp_adapters.tokens import count_o200k
from integrations.isolated_contexts.prompt_log import PromptLog


@tool
def search(to: str) -> str:
    """Find flights."""
    return to


def test_a_prompt_counts_its_texts_its_tool_calls_and_its_definitions() -> None:
    log = PromptLog()
    call = {"name": "search", "args": {"to": "SEA"}, "id": "c1", "type": "tool_call"}
    log.add("clerk", [search], [HumanMessage("To Seattle"), AIMessage("", tool_calls=[call])])
    (prompt,) = log.prompts["clerk"]
    definition, *texts = prompt.split("\n")
    assert '"name":"search"' in definition
    assert texts == ["To Seattle", '{"name":"search","arguments":{"to":"SEA"}}']
    assert (log.calls, log.definition_tokens) == (1, count_o200k(definition))
    assert log.message_tokens == sum(map(count_o200k, texts))
    assert log.cost == log.tokens == log.message_tokens + log.definition_tokens


def test_each_agent_has_a_prompt_cache() -> None:
    log = PromptLog()
    long = HumanMessage("word " * 2_000)
    for agent in ("clerk", "clerk", "scout"):
        log.add(agent, [], [long])
    tokens = count_o200k(long.text)
    assert (log.calls, log.tokens) == (3, 3 * tokens)
    cached = tokens // 128 * 128
    assert log.cost == pytest.approx(2 * 1.25 * tokens + 0.1 * cached + 1.25 * (tokens - cached))
