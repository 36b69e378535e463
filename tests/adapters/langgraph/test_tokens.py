"""What a whole job costs with the middleware and without: every prompt counted, tool schemas included."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.langgraph import AccpMiddleware, Policy, fetch_tool
from accp_adapters.tokens import count_o200k
from tests.adapters.langgraph.jobs import LOOK_UP, crm, fetch_last, prose
from tests.scripted_model import ScriptedModel, call, calls


def prompt_tokens(script: list[Any], policy: Policy | None) -> int:
    """Return the tokens of all prompts of the job in `script`; `policy` None: without the middleware."""
    middleware = [AccpMiddleware(policy)] if policy else []
    model = ScriptedModel(script=script)
    create_agent(model, [crm, prose], middleware=middleware).invoke({"messages": "Which customers are won?"})
    schemas = {tool.name: count_o200k(json.dumps(convert_to_openai_tool(tool))) for tool in (crm, prose, fetch_tool())}
    texts = sum(count_o200k(message.text) for sent in model.received for message in sent)
    return texts + sum(schemas[name] for names in model.tool_names for name in names)


LOOKS = [calls(call("crm", f"c{number}", query=str(number))) for number in range(5)]


def test_a_job_of_large_results_costs_a_fraction() -> None:
    assert prompt_tokens([*LOOKS, "done"], Policy()) < prompt_tokens([*LOOKS, "done"], None) / 5


def test_a_job_that_fetches_what_it_needs_still_costs_less() -> None:
    def fetch(messages: Any) -> Any:
        return fetch_last(messages, query="status=won,email")

    assert prompt_tokens([LOOK_UP, fetch, "done"], Policy()) < prompt_tokens([LOOK_UP, "done"], None)


def test_a_lossless_job_costs_less() -> None:
    assert prompt_tokens([LOOK_UP, "done"], Policy.lossless()) < prompt_tokens([LOOK_UP, "done"], None)


@pytest.mark.parametrize("policy", [Policy(), Policy.lossless()])
def test_a_job_without_anything_to_save_costs_nothing_more(policy: Policy) -> None:
    talk = [calls(call("prose", query="x")), "done"]
    assert prompt_tokens(talk, policy) == prompt_tokens(talk, None)
