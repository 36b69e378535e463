"""The parts of a request of Google ADK as messages: words, calls, results, and what an agent is told of another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.adk.events import Event
from google.genai.types import Content, Part

from accp_core.errors import EncodeError
from accp_core.strict_json import compact_json

__all__ = ["OTHER_AGENT", "ShownPart", "read_parts"]

OTHER_AGENT: Final = "other_agent"
"""The name under which a projection meets every other agent."""
_TOLD: Final = "For context:"
"""How a content begins that tells an agent what another one said and did."""
_FIELD: Final = "result"
"""What ADK wraps a result in that is no object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPart:
    """A part with a text that a projection may change."""

    content: int
    """The index of its content."""
    number: int
    """Its index in there."""
    part: Part
    """The part."""
    item: dict[str, Any]
    """The part as a message of OpenAI's Chat."""
    before: str = ""
    """What stands before the text in the part."""
    after: str = ""
    """What stands behind it."""

    def with_text(self, text: str) -> Part:
        """Return the part with another text; the part itself is the session's."""
        if (answered := self.part.function_response) is None:
            return self.part.model_copy(update={"text": f"{self.before}{text}{self.after}"})
        return self.part.model_copy(
            update={"function_response": answered.model_copy(update={"response": {_FIELD: text}})}
        )


def read_parts(contents: Sequence[Content], events: Sequence[Event]) -> Iterator[ShownPart]:
    """Yield what a projection reads of a request; thoughts, files and errors stay as they are."""
    results = {str(each.response): text for event in events for each in event.get_function_responses()
               if (text := _result_text(each)) is not None}  # fmt: skip
    calls: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for at, content in enumerate(contents):
        is_told = str((content.parts or [Part()])[0].text or "").startswith(_TOLD)
        for number, part in enumerate(content.parts or ()):
            shown: dict[str, Any] = {"content": at, "number": number, "part": part}
            if call := part.function_call:
                calls[call.name or ""] += 1
                function = {"name": call.name, "arguments": call.args}
                made = {"id": call.id or f"{call.name} {calls[call.name or '']}", "function": function}
                yield ShownPart(item={"role": "assistant", "content": None, "tool_calls": [made]}, **shown)
            elif answered := part.function_response:
                answers[answered.name or ""] += 1
                call_id = answered.id or f"{answered.name} {answers[answered.name or '']}"
                if (text := _result_text(answered)) is not None:
                    yield ShownPart(item={"role": "tool", "tool_call_id": call_id, "content": text}, **shown)
            elif part.text and not part.thought:
                yield _words(shown, part.text, content.role, results if is_told else None)


def _result_text(answered: Any) -> str | None:
    """Return the text of a result; None for an error, a result with files, and one that cannot be written as JSON."""
    response = answered.response
    if not isinstance(response, dict) or "error" in response or getattr(answered, "parts", None):
        return None
    value = response[_FIELD] if response.keys() == {_FIELD} else response
    try:
        return value if isinstance(value, str) else compact_json(value)
    except (EncodeError, TypeError, ValueError):
        return None


def _words(shown: dict[str, Any], text: str, role: str | None, results: dict[str, str] | None) -> ShownPart:
    if results is None:
        return ShownPart(item={"role": "assistant" if role == "model" else "user", "content": text}, **shown)
    told = {"role": "assistant", "name": OTHER_AGENT}
    # A result of another agent is quoted as Python writes it; as the text that it was, it has the same reference.
    quoted = max((each for each in results if each in text), key=len, default=None)
    if quoted is None:
        return ShownPart(item={**told, "content": text}, **shown)
    before, _, after = text.partition(quoted)
    return ShownPart(item={**told, "content": results[quoted]}, before=before, after=after, **shown)
