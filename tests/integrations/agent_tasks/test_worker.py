"""An agent of no framework does the tasks with the same answers, calls and fetches as those of LangGraph."""

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.messages import project_messages
from integrations.agent_tasks.agents import INSTRUCTIONS
from integrations.agent_tasks.arms import Arm
from integrations.agent_tasks.chat.functions import completion
from integrations.agent_tasks.meter import CallMeter
from integrations.agent_tasks.run import TaskOptions, evaluate_tasks
from integrations.agent_tasks.scripted.model import ScriptedModel
from integrations.agent_tasks.task import Task
from integrations.agent_tasks.tools import world_functions
from integrations.agent_tasks.world import World

OF_ONE_AGENT = ("late_orders", "greatest_order", "gold_orders", "timeouts", "voucher", "edit_setting", "suspect")


def work_in_a_loop(task: Task, model: BaseChatModel, arm: Arm, world: World, meter: CallMeter) -> str:
    """Work as a stateless program does that calls a chat API, with `project_messages` before each request."""
    functions = {each.__name__: each for each in world_functions(world, task.areas)}
    definitions = [convert_to_openai_tool(each) for each in functions.values()]
    complete = completion(model, meter)
    messages: list[dict[str, Any]] = [{"role": "system", "content": INSTRUCTIONS}]
    for words in task.turns:
        messages.append({"role": "user", "content": words})
        while True:
            shown = project_messages(messages, policy=arm.policy, layout="openai-chat") if arm.policy else None
            answer = complete(
                shown.messages if shown else messages, [*definitions, *(shown.tools if shown else ())], "agent"
            )
            messages.append(answer)
            if not answer.get("tool_calls"):
                break
            for call in answer["tool_calls"]:
                opened = shown.open(call) if shown else None
                messages.append(opened or answer_of(functions, call))
    return str(messages[-1]["content"])


def answer_of(functions: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    found = functions[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
    return {"role": "tool", "tool_call_id": call["id"], "content": found}


def test_a_plain_loop_comes_to_the_answers_of_langgraph_with_its_calls() -> None:
    options = TaskOptions(names=OF_ONE_AGENT, arms=("without", "default"), size=0.3)
    model = ScriptedModel(options.tasks())
    loop = evaluate_tasks(model, options=options, worker=work_in_a_loop)
    graph = evaluate_tasks(model, options=options)
    assert [arm.right for arm in loop.arms] == [len(OF_ONE_AGENT)] * 2
    for ours, theirs in zip(loop.arms, graph.arms, strict=True):
        assert (ours.arm, ours.calls, ours.fetches) == (theirs.arm, theirs.calls, theirs.fetches)
    assert loop.arms[0].fetches == 0 < loop.arms[1].fetches
