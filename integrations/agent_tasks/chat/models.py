"""The chat models of a run: those of every evaluation, and the model without weights."""

from __future__ import annotations

from collections.abc import Iterable

from langchain_core.language_models import BaseChatModel

from accp_core.ports import TokenCounter
from integrations.agent_tasks.chat.mailbox import agent_model
from integrations.agent_tasks.scripted.model import ScriptedModel
from integrations.agent_tasks.task import Task

__all__ = ["task_model"]


def task_model(
    name: str, *, tasks: Iterable[Task], counter: TokenCounter, base_url: str | None = None, wait: float = 86_400
) -> BaseChatModel:
    """Return a chat model by its name: `scripted`, which has plans for `tasks`, or one of `agent_model`."""
    if name == "scripted":
        return ScriptedModel(tasks)
    return agent_model(name, counter=counter, base_url=base_url, wait=wait)
