"""A graph, or anything else with `ainvoke`, as an agent that takes contexts; its framework is not imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from accp_core import aci
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.references import reference_to, uri_to_key

if TYPE_CHECKING:
    from accp_adapters.remote.granted_references import GrantedReferences

__all__ = ["HANDED_TEXTS_KEY", "run_graph"]

HANDED_TEXTS_KEY: Final = "accp_texts"
"""The state key of texts that another agent handed over, key to text."""


async def run_graph(
    graph: Any, context: aci.AgentContext, references: GrantedReferences, *, counter: TokenCounter
) -> aci.AgentReply:
    """Return the reply of a graph that begins with one message, `brief(context)`, and the texts that it may open.

    Args:
        graph: Takes `{"messages": […]}` and returns a state with a `structured_response` or with messages.
        context: The context that was delivered.
        references: What it grants, read before the graph starts; `AccpMiddleware` and `fetch_tool` open it.
        counter: Counts the tokens of the model.

    Raises:
        ProtocolError: E1004, the state has no answer; E2001, the master has no text for a reference.
    """
    keys = [key for uri in context.context_uri if (key := uri_to_key(uri)) and key.startswith("cold.")]
    texts = {key: await references.open(reference_to(key)) for key in keys}
    message = {"role": "user", "content": aci.brief(context, counter=counter)}
    found = await graph.ainvoke({"messages": [message], **({HANDED_TEXTS_KEY: texts} if texts else {})})
    structured = _field(found, "structured_response")
    if structured is not None:
        return aci.reply_from_value(context, structured)
    words = next((_text_of(each) for each in reversed(_field(found, "messages") or []) if _is_answer(each)), None)
    if words is None:
        reason = f"expected a state with an answer of the agent, found {type(found).__name__}"
        raise ProtocolError(reason, code=ErrorCode.INVALID_TYPE)
    return aci.reply_from_words(context, words)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _is_answer(message: Any) -> bool:
    return bool(_field(message, "type") == "ai" or _field(message, "role") == "assistant")


def _text_of(message: Any) -> str:
    content = _field(message, "content")
    if isinstance(content, str):
        return content
    return "".join(str(_field(block, "text") or "") for block in content or ())
