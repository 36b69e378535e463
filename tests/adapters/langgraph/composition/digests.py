"""A worker: goes on with a conversation in a database and prints a digest of each prompt, one a line.

`python -m tests.adapters.langgraph.composition.digests checkpoints.sqlite 1 3` plays the turns 1 and 2 of three.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from accp_adapters.langgraph import AccpMiddleware
from tests.adapters.langgraph.composition import sources
from tests.adapters.langgraph.composition.harness import PLAN, POLICY, TURNS, Model, Prompt, Script, thread

__all__ = ["play"]


def play(place: str, first: int, last: int) -> list[str]:
    """Return the digests of the prompts of the turns from `first` up to, not including, `last`."""
    with SqliteSaver.from_conn_string(place) as saver:
        script = Script(PLAN[_steps_before(first) :])
        middleware = [AccpMiddleware(POLICY)]
        graph: Any = create_agent(Model(script=script), sources.tools(), middleware=middleware, checkpointer=saver)
        for number in range(first, last):
            graph.invoke({"messages": [HumanMessage(TURNS[number], id=f"human-{number}")]}, thread("t"))
        return [_digest(prompt) for prompt in script.prompts]


def _steps_before(turn: int) -> int:
    ends = [number for number, step in enumerate(PLAN, 1) if not step.tool_calls]
    return [0, *ends][turn]


def _digest(prompt: Prompt) -> str:
    # Ids of results are random; no provider is sent them.
    messages = [message.model_dump(mode="json", exclude={"id"}) for message in prompt.messages]
    return hashlib.sha256(json.dumps([messages, prompt.tools]).encode()).hexdigest()


def _main(arguments: Sequence[str]) -> None:
    place, first, last = arguments
    print(*play(place, int(first), int(last)), sep="\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
