"""The parts of a request of Google ADK as messages: words, calls, results, and what an agent is told of another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from google.adk.events import Event
from google.genai.types import Content, Part

from accp_adapters.frameworks.adk_results import RESULT_FIELD, result_text
from accp_adapters.frameworks.parts import ShownPart, content_of, made_call, result, texts_of, words

__all__ = ["OTHER_AGENT", "read_parts", "with_parts"]

OTHER_AGENT: Final = "other_agent"
"""The name under which a projection meets every other agent."""
_TOLD: Final = "For context:"
"""How a content begins that tells an agent what another one said and did."""


def with_parts(content: Content, parts: list[Part]) -> Content:
    """Return a content with other parts; the content itself is the session's."""
    return content.model_copy(update={"parts": parts})


def read_parts(contents: Sequence[Content], events: Sequence[Event]) -> Iterator[ShownPart]:
    """Yield what a projection reads of a request; thoughts, files and errors stay as they are."""
    quoted = {str(each.response): text for event in events for each in event.get_function_responses()
              if (text := result_text(each)) is not None}  # fmt: skip
    calls: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for at, content in enumerate(contents):
        is_told = str((content.parts or [Part()])[0].text or "").startswith(_TOLD)
        for number, part in enumerate(content.parts or ()):
            place: dict[str, Any] = {"message": at, "number": number}
            if call := part.function_call:
                calls[call.name or ""] += 1
                call_id = call.id or f"{call.name} {calls[call.name or '']}"
                yield ShownPart(item=made_call(call_id, call.name, call.args), **place)
            elif answered := part.function_response:
                answers[answered.name or ""] += 1
                call_id = answered.id or f"{answered.name} {answers[answered.name or '']}"
                if (text := result_text(answered)) is not None:
                    item = result(call_id, content_of(text))
                    yield ShownPart(item=item, write=partial(_with_result, part), **place)
            elif part.text and not part.thought:
                role = "assistant" if content.role == "model" else "user"
                yield _told(part, quoted, place) if is_told else _said(part, role, place)


def _said(part: Part, role: str, place: dict[str, Any]) -> ShownPart:
    return ShownPart(item=words(role, content_of(part.text or "")), write=partial(_with_text, part, "", ""), **place)


def _told(part: Part, quoted: dict[str, str], place: dict[str, Any]) -> ShownPart:
    # A result of another agent is quoted as Python writes it; as the text that it was, it has the same reference.
    text = part.text or ""
    found = max((each for each in quoted if each in text), key=len, default=None)
    before, _, after = text.partition(found) if found is not None else ("", "", "")
    item = {**words("assistant", text if found is None else quoted[found]), "name": OTHER_AGENT}
    return ShownPart(item=item, write=partial(_with_text, part, before, after), **place)


def _with_text(part: Part, before: str, after: str, content: Any) -> Part:
    return part.model_copy(update={"text": f"{before}{_shown(content)}{after}"})


def _with_result(part: Part, content: Any) -> Part:
    answered: Any = part.function_response
    response = answered.model_copy(update={"response": {RESULT_FIELD: _shown(content)}})
    return part.model_copy(update={"function_response": response})


def _shown(content: Any) -> str:
    return content if isinstance(content, str) else "\n\n".join(texts_of(content))
