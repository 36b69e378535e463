"""Agents of a LangGraph graph that hand over by AACP packets: by rule where a rule says it, by a model once."""

from __future__ import annotations

from typing import TypedDict

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from scripted import Scripted

from accp_adapters.instructions import ModelInstructionEncoder
from accp_adapters.stores import SqliteInstructionRegistry
from accp_core.aacp import EncodingTier, FallbackEncoder, Translation, validate

ROUTES = {"HR": "hr_agent", "FIN": "finance_agent"}


class Work(TypedDict):
    """What travels: the instruction, and then its packet."""

    english: str
    domain: str
    packet: str
    result: str


model = Scripted(steps=[lambda _: AIMessage("FETCH|HR|res:absence|filter:emp=E-17|period:2024-08")])
translations: list[Translation] = []
encoder = FallbackEncoder(SqliteInstructionRegistry(), ModelInstructionEncoder(model), observe=translations.append)


def orchestrator(work: Work) -> Command[str]:
    packet = encoder(work["english"], domain=work["domain"], return_agent="orchestrator", priority="1")
    return Command(goto=ROUTES[work["domain"]], update={"packet": packet})


def agent(work: Work) -> dict[str, str]:
    packet = validate(work["packet"]).check()
    return {"result": f"{packet.task} {packet.fields['res']} for {packet.fields['period']}"}


graph = StateGraph(Work)
graph.add_node("orchestrator", orchestrator, destinations=tuple(ROUTES.values()))
for name in ROUTES.values():
    graph.add_node(name, agent)
    graph.add_edge(name, END)
graph.add_edge(START, "orchestrator")
app = graph.compile()

payroll = "Please retrieve active employee salary records for 2024-08 as JSON."
absence = "Fetch the absence records of E-17 for 2024-08"
results = [app.invoke(Work(english=text, domain="HR", packet="", result="")) for text in (payroll, absence, absence)]
for translation in translations:
    print(f"{translation.tier:<6} {translation.packet}")
assert [each.tier for each in translations] == [EncodingTier.RULE, EncodingTier.MODEL, EncodingTier.EXACT]
assert [each["result"] for each in results][1:] == ["FETCH absence for 2024-08"] * 2
assert len(model.sent) == 1
