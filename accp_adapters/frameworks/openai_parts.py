"""What goes from one agent of the OpenAI Agents SDK to another one that is its tool, and back."""

from __future__ import annotations

from typing import Any

from agents import ToolOutputText
from agents.agent_tool_input import default_tool_input_builder

from accp_adapters.frameworks.parts import carried
from accp_adapters.messages import Layout, Projection, project_messages

__all__ = ["answer", "question"]


def question(given: Any, shown: Projection) -> Any:
    """Return what an agent is asked, with the texts of the asker's conversation that it cites.

    Args:
        given: The parameters of the call and their schema, as an `input_builder` is given them.
        shown: What the asker's model was sent.
    """
    params = given["params"]
    parts = carried(params["input"] if params.keys() == {"input"} else default_tool_input_builder(given), shown)
    content = [{"type": "input_text", "text": text} for text in parts]
    return parts if isinstance(parts, str) else [{"role": "user", "content": content}]


async def answer(done: Any) -> Any:
    """Return the final output of a run, with the texts of its conversation that it cites."""
    shown = project_messages(done.to_input_list(), layout=Layout.OPENAI_RESPONSES)
    parts = carried(str(done.final_output), shown)
    return done.final_output if isinstance(parts, str) else [ToolOutputText(text=text) for text in parts]
