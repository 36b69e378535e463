"""Chat models that follow a script, so that no API key is needed; they decide by their prompts and record them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from accp_core import DecodeError, read
from accp_core.references import find_references, reference_to

__all__ = ["SCRIPTS", "Model"]

_SINCE: Final = "2026-07-01"
_LAPSED: Final = (
    "SELECT c.name, c.city, c.email, round(sum(o.total), 2) AS revenue, max(o.day) AS last_order FROM customers c "
    f"JOIN orders o ON o.customer = c.id GROUP BY c.id HAVING last_order < '{_SINCE}' ORDER BY revenue DESC"
)
_TOTAL: Final = f"SELECT count(*) AS customers, round(sum(revenue), 2) AS revenue FROM ({_LAPSED})"


class Model(BaseChatModel):
    """Answers with the next step of its agent's script."""

    agent: str
    log: Any
    tools: list[Any] = Field(default_factory=list)
    asked: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Record the tools of the next prompts."""
        self.tools = list(tools)
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.log.add(self.agent, self.tools, messages)
        step = SCRIPTS[self.agent][self.asked]
        self.asked += 1
        return ChatResult(generations=[ChatGeneration(message=step(messages))])


def _plan(_: list[BaseMessage]) -> AIMessage:
    """Return the plan of the master's model."""
    return AIMessage(
        json.dumps(
            {
                "sales": ["Count who ordered before July 2026 and not since", "List them", "Add up their revenue"],
                "support": ["Name the most common topic of tickets", "Quote one ticket about it"],
                "writer after sales, support": ["Say what 10 % of their revenue is", "Write to the three largest"],
            }
        )
    )


def _call(tool: str, **args: Any) -> AIMessage:
    return _calls((tool, args))


def _calls(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    named = [{"name": tool, "args": args, "id": f"{tool}-{number}"} for number, (tool, args) in enumerate(calls)]
    return AIMessage("", tool_calls=named)


def _rows(message: BaseMessage) -> Any:
    """Return the value of a tool's answer, which is JSON or a view; None for a preview."""
    text, _, _ = message.text.partition("\n…")  # the lines below say how to go on
    try:
        return read(text)
    except DecodeError:
        return None


def _reference_in(message: BaseMessage) -> str | None:
    """Return the first reference in a message, None where there is none."""
    return next((reference_to(key) for key in find_references(message.text)), None)


def _answers(messages: Sequence[BaseMessage], tool: str) -> list[ToolMessage]:
    return [message for message in messages if isinstance(message, ToolMessage) and message.name == tool]


def _answer_sales(messages: list[BaseMessage]) -> AIMessage:
    listed, counted = _answers(messages, "query_sales")[-2:]
    reference = _reference_in(listed)
    (total,) = _rows(counted)
    where = f"all rows in {reference}" if reference else "see the rows above"
    return AIMessage(f"1: done: {total['customers']} customers\n2: done: {where}\n3: done: {total['revenue']} EUR")


def _read_topic(messages: list[BaseMessage]) -> AIMessage:
    return _call("read_tickets", topic=_rows(messages[-1])[0]["topic"])


def _open_first(messages: list[BaseMessage]) -> AIMessage:
    """Open the first row of a preview; where all rows are shown, count again, so that both runs make one call."""
    reference = _reference_in(messages[-1])
    return _call("accp_fetch", ref=reference, limit=1) if reference else _call("count_tickets", column="topic")


def _answer_support(messages: list[BaseMessage]) -> AIMessage:
    top = _rows(_answers(messages, "count_tickets")[0])[0]
    opened = _answers(messages, "accp_fetch") or _answers(messages, "read_tickets")
    return AIMessage(f'1: done: {top["topic"]}, {top["tickets"]} tickets\n2: done: "{_rows(opened[-1])[0]["text"]}"')


def _calculate(messages: list[BaseMessage]) -> AIMessage:
    words = " ".join(message.text for message in messages if not isinstance(message, ToolMessage))
    revenue = re.findall(r"([0-9.]+) EUR", words)[-1]
    return _call("calculate", expression=f"{revenue} * 0.1")


def _open_largest(messages: list[BaseMessage]) -> AIMessage:
    reference = _reference_in(messages[0])
    return _call("accp_fetch", ref=reference, limit=3) if reference else _call("calculate", expression="3 * 1")


def _write(messages: list[BaseMessage]) -> AIMessage:
    fetched = _answers(messages, "accp_fetch") or [_answers(messages, "query_sales")[0]]
    letters = (
        {"customer": row["name"], "text": f"Dear {row['name']}, we miss your orders: 10 % off until December."}
        for row in _rows(fetched[-1])[:3]
    )
    return _calls(*(("save_letter", letter) for letter in letters))


def _answer_writer(messages: list[BaseMessage]) -> AIMessage:
    amount = _answers(messages, "calculate")[0].text
    saved = ", ".join(answer.text for answer in _answers(messages, "save_letter"))
    return AIMessage(f"1: done: {amount} EUR\n2: done: {saved}")


def _report(messages: list[BaseMessage]) -> AIMessage:
    """Return the answer of the master's model, made of the results in its prompt."""
    words = "\n".join(message.text for message in messages if not isinstance(message, ToolMessage))
    found = re.findall(r"[0-9]+ customers|[0-9.]+ EUR|late delivery, [0-9]+ tickets|letter_\w+\.txt", words)
    return AIMessage("; ".join(dict.fromkeys(found)))


Step = Callable[[list[BaseMessage]], AIMessage]

SCRIPTS: Final[dict[str, list[Step]]] = {
    "planner": [_plan],
    "sales": [lambda _: _call("query_sales", sql=_LAPSED), lambda _: _call("query_sales", sql=_TOTAL), _answer_sales],
    "support": [lambda _: _call("count_tickets", column="topic"), _read_topic, _open_first, _answer_support],
    "writer": [_calculate, _open_largest, _write, _answer_writer],
    "reporter": [_report],
}
"""Agent to its steps, the same with a shared history and with isolated contexts."""
