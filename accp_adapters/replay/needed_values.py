"""The values in model outputs: how a replay measures what stayed readable.

A value is needed when a model output holds it, a tool result or another agent's message in the prompt of that call
holds it, too, and nothing else does that the model could have it from.

Two detectors say what counts as a value. `values_of` knows what a program would copy: arguments, identifiers, URLs,
dates, long numbers. `mentions_of` is strict: it also counts what a person would look up, such as names, titles in
quotes and short numbers, and the parts of long arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from accp_adapters.replay.recorded_run import RecordedMessage
from accp_core.receipts.values import WantedValue, mentions_in, number_in, text_leaf, values_in

__all__ = ["Detector", "mentions_of", "values_of"]

Detector = Callable[[Sequence[RecordedMessage]], frozenset[WantedValue]]
"""Returns the values in the output of a model call."""


def values_of(messages: Sequence[RecordedMessage]) -> frozenset[WantedValue]:
    """Return the values in model outputs: the leaves of JSON arguments, the names and numbers of a text."""
    values: set[WantedValue] = set()
    for message in messages:
        values.update(values_in(message.text) if message.value is None else _leaves(message.value))
    return frozenset(values)


def mentions_of(messages: Sequence[RecordedMessage]) -> frozenset[WantedValue]:
    """Return the values that `values_of` returns and all others that a reader would look up.

    These are the values in each string of JSON arguments, names of capitalised words, what stands in quotes, backticks
    or bold type, and numbers of two digits.
    """
    texts = [text for each in messages for text in ([each.text] if each.value is None else _strings(each.value))]
    return values_of(messages).union(*map(values_in, texts), *map(mentions_in, texts))


def _leaves(value: object) -> Iterator[WantedValue]:
    match value:
        case Mapping():
            for item in value.values():
                yield from _leaves(item)
        case list():
            for item in value:
                yield from _leaves(item)
        case str():
            yield from text_leaf(value)
        case bool() | None:
            return
        case int() | float():
            yield from number_in(str(abs(value)))


def _strings(value: object) -> Iterator[str]:
    """Yield the strings and numbers in a JSON value as texts."""
    match value:
        case Mapping():
            for item in value.values():
                yield from _strings(item)
        case list():
            for item in value:
                yield from _strings(item)
        case str():
            yield value
        case bool() | None:
            return
        case int() | float():
            yield str(value)
