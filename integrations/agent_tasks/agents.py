"""The agents that work on a task in an arm: one, a supervisor with two, one that hands over, one that summarizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from langchain.agents import create_agent
from langchain.agents.middleware import AgentState, SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from accp_adapters.langgraph import handoff_tool
from integrations.agent_tasks.arms import Arm, middlewares_of
from integrations.agent_tasks.folder_tasks import result_tools
from integrations.agent_tasks.meter import CallMeter
from integrations.agent_tasks.task import Layout, Task
from integrations.agent_tasks.tools import world_tools
from integrations.agent_tasks.world import World

__all__ = ["INSTRUCTIONS", "ROLES", "work"]

_MAX_STEPS: Final = 80
"""Steps after which LangGraph stops a run: about 40 model calls."""
INSTRUCTIONS: Final = "You answer questions with the tools you have. Say only what the tools have said."
"""What an agent is told first."""
ROLES: Final[Mapping[str, str]] = {
    "sales": "You are the agent of sales. " + INSTRUCTIONS,
    "support": "You are the agent of support. " + INSTRUCTIONS,
    "operations": "You are the agent of operations. " + INSTRUCTIONS,
}
"""The name of an agent of a team to what it is told first; the areas of its tools have the same name."""
_SUMMARY_SIZES: Final[Mapping[str, Any]] = {"trigger": ("messages", 3), "keep": ("messages", 1)}
"""All turns before the user's last words are summarized."""


class _Team:
    """Builds the agents of one task in one arm over one world."""

    def __init__(self, model: BaseChatModel, arm: Arm, world: World) -> None:
        self._model = model
        self._arm = arm
        self._world = world

    def agent(self, task: Task) -> Any:
        """One agent with the tools of the task."""
        return self._agent("agent", INSTRUCTIONS, [*self._tools(*task.areas), *result_tools(task.results)])

    def summary(self, task: Task) -> Any:
        """One agent whose older messages are summarized; what our previews cite is kept in a store."""
        store = InMemoryStore()
        middlewares, _ = middlewares_of(self._arm, store)
        options: dict[str, Any] = {"trim_tokens_to_summarize": None}
        return create_agent(
            self._model,
            self._tools(*task.areas),
            system_prompt=INSTRUCTIONS,
            middleware=[_SummaryOfTurns(self._model, **_SUMMARY_SIZES, **options), *middlewares],
            checkpointer=InMemorySaver(),
            name="agent",
        )

    def supervisor(self, task: Task) -> Any:
        """An agent whose tools are three other agents."""
        tools = [self._asking(name, self._specialist(name)) for name in ROLES]
        return self._agent("supervisor", INSTRUCTIONS, tools)

    def handoff(self, task: Task) -> Any:
        """The agent of support, which hands over to that of sales."""
        transfer: BaseTool = _transfer_to_sales if self._arm.policy is None else handoff_tool("sales")
        support = self._agent("support", ROLES["support"], [*self._tools("support"), transfer])
        graph: StateGraph[Any, Any, Any, Any] = StateGraph(_TeamState)
        graph.add_node("support", support, destinations=("sales",))
        graph.add_node("sales", self._specialist("sales"))
        graph.add_edge(START, "support")
        graph.add_edge("sales", END)
        return graph.compile(checkpointer=InMemorySaver())

    def _specialist(self, name: str) -> Any:
        return self._agent(name, ROLES[name], self._tools(name))

    def _agent(self, name: str, instructions: str, tools: list[BaseTool]) -> Any:
        middlewares, _ = middlewares_of(self._arm)
        return create_agent(self._model, tools, system_prompt=instructions, middleware=middlewares, name=name)

    def _tools(self, *areas: str) -> list[BaseTool]:
        return world_tools(self._world, areas, compact=self._arm.compact)

    def _asking(self, name: str, agent: Any) -> BaseTool:
        def ask(request: str) -> str:
            return str(agent.invoke({"messages": [HumanMessage(request)]})["messages"][-1].text)

        return StructuredTool.from_function(ask, name=f"ask_{name}", description=f"Ask the agent of {name}.")


class _SummaryOfTurns(SummarizationMiddleware):
    """Summarizes what stands before the user's words when these come, and never within a turn."""

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return super().before_model(state, runtime) if isinstance(state["messages"][-1], HumanMessage) else None


class _TeamState(AgentState[Any]):
    """The state of agents that hand over."""

    active_agent: str


@tool
def _transfer_to_sales(
    task: str, state: Annotated[Any, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]
) -> Command[Any]:
    """Transfer to the agent of sales."""
    answer = ToolMessage("Transferred", name="transfer_to_sales", tool_call_id=tool_call_id)
    return Command(goto="sales", graph=Command.PARENT, update={"messages": [*state["messages"], answer]})


_transfer_to_sales.name = "transfer_to_sales"

_BUILDERS: Final[Mapping[Layout, Callable[[_Team, Task], Any]]] = {
    "agent": _Team.agent,
    "supervisor": _Team.supervisor,
    "handoff": _Team.handoff,
    "summary": _Team.summary,
}


def work(task: Task, model: BaseChatModel, arm: Arm, world: World, meter: CallMeter) -> str:
    """Let the agents of an arm work on a task and return the last answer; an empty one where they did not come to it.

    Args:
        task: The task.
        model: Plays every agent, and writes the summaries.
        arm: How the agents are built.
        world: What their tools read and change.
        meter: Counts every model call.
    """
    graph = _BUILDERS[task.layout](_Team(model, arm, world), task)
    config: RunnableConfig = {
        "callbacks": [meter],
        "recursion_limit": _MAX_STEPS,
        "configurable": {"thread_id": task.name},
    }
    answer = ""
    try:
        for turn in task.turns:
            answer = str(graph.invoke({"messages": [HumanMessage(turn)]}, config)["messages"][-1].text)
    except GraphRecursionError:
        return ""
    return answer
