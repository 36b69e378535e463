"""The check of a value against the JSON schema of somebody else, whose work is bounded."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.serving.off_loop import size_of

__all__ = ["find_violation", "violates"]

_LOG: Final = logging.getLogger(__name__)

_MAX_FOUND: Final = 200
"""Characters of a value that a refusal repeats."""
_MAX_CHECKED: Final = 65_536
"""Characters of a schema and a value together; longer ones are not checked."""
_MAX_STEPS: Final = 50_000
"""Steps of the check of one value, some microseconds each; what takes more is not checked."""
_CHARS_OF_STEP: Final = 100
"""Characters of a value that one step compares or writes into an error."""
_COMPARED_IN_STEP: Final = 50
"""Values of `enum` that one step compares."""
_STEPS_OF_REFERENCE: Final = 10

# The regular expressions may take years, and `unevaluated…` runs those of `patternProperties` and takes twice the time
# for each level. An anchor is looked for in the whole schema each time.
_UNCHECKED: Final = frozenset(
    ("pattern", "patternProperties", "unevaluatedItems", "unevaluatedProperties", "$dynamicRef")
)
"""The keywords that are ignored."""


class _TooMuch(Exception):
    """A check takes too many steps."""


def violates(schema: object, value: object) -> bool:
    """Return whether `value` is known to violate `schema`.

    The schema comes from a server, the value from a client or a server: neither must be able to use up our time, or
    make us fetch anything. So False also stands for what is not checked: see `_UNCHECKED` and `_MAX_STEPS`.
    """
    if not isinstance(schema, dict) or size_of([schema, value], _MAX_CHECKED) > _MAX_CHECKED:
        return False
    try:
        return not _validator(schema, value).is_valid(value)
    except _TooMuch:
        _say_too_much()
        return False
    except Exception:
        return False


def find_violation(schema: object, value: object) -> str | None:
    """Return in one sentence how `value` violates `schema`, with the argument's name; None where it is not known to.

    What `violates` does not check is not checked here either.
    """
    if not isinstance(schema, dict) or not violates(schema, value):
        return None
    try:
        return _sentence(min(_validator(schema, value).iter_errors(value), key=lambda error: len(error.absolute_path)))
    except Exception:  # Not all of what is wrong can be found within the limits.
        return "expected the arguments to meet the schema"


def _sentence(error: Any) -> str:
    where = ".".join(map(str, error.absolute_path))
    at = f"the argument {where!r}" if where else "the arguments"
    found = repr(error.instance)
    found = found if len(found) <= _MAX_FOUND else f"{found[:_MAX_FOUND]}…"
    rule, given = error.validator, error.instance
    if rule == "required" and isinstance(given, dict):
        missing = [name for name in error.validator_value if name not in given]
        return f"expected {at} to have {missing[0]!r}, found {sorted(given)!r}"
    if rule == "additionalProperties" and isinstance(given, dict):
        extra = [name for name in given if name not in error.schema.get("properties", {})]
        return f"expected no {extra[0]!r} in {at}, found {sorted(given)!r}"
    return f"expected {at} to meet {rule}: {str(error.validator_value)[:_MAX_FOUND]}, found {found}"


@functools.cache
def _say_too_much() -> None:
    """Say so once in this process: a schema that is used is used often."""
    _LOG.warning("a schema of a tool takes more than %d steps to check: such values pass unchecked", _MAX_STEPS)


class _Steps:
    """The steps that the check of one value has left."""

    def __init__(self, value: object) -> None:
        self._left = _MAX_STEPS
        self._sizes: Final[dict[int, int]] = {}
        """The characters of each object and array of the value, by identity."""
        self._measure(value)

    def take(self, members: int, instance: object) -> None:
        """Count the work of one keyword, each member of which may look at the whole of the instance."""
        size = len(instance) if isinstance(instance, str) else self._sizes.get(id(instance), 1)
        parts = len(instance) if isinstance(instance, (dict, list)) else 0
        self._left -= (1 + members) * (1 + size // _CHARS_OF_STEP) + parts
        if self._left < 0:
            raise _TooMuch

    def _measure(self, value: object) -> int:
        """Return the characters of a value."""
        if isinstance(value, dict):
            size = sum(len(name) + self._measure(member) + 1 for name, member in value.items())
        elif isinstance(value, list):
            size = sum(self._measure(member) + 1 for member in value)
        else:
            return len(value) if isinstance(value, str) else 1
        self._sizes[id(value)] = size
        return size


def _validator(schema: JsonObject, value: object) -> Any:
    # A dependency of MCP's SDKs, not of ours; without it nothing is checked.
    from jsonschema import validators  # type: ignore[import-untyped]  # noqa: PLC0415  has no stubs; optional
    from referencing import Registry  # noqa: PLC0415  a dependency of jsonschema

    base, steps = validators.Draft202012Validator, _Steps(value)
    rules: Mapping[str, Any] = {**base.VALIDATORS, **_OWN_RULES, **dict.fromkeys(_UNCHECKED, _accept)}
    if _has_inner_id(schema):
        rules = {**rules, "$ref": _accept}
    counted = {name: _counted(rule, steps) for name, rule in rules.items()}
    return validators.extend(base, counted)(schema, registry=Registry())


def _has_inner_id(schema: JsonObject) -> bool:
    """Return whether a part of a schema has an id: then a reference may be looked for in all of it, each time."""
    waiting: list[Any] = list(schema.values())
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if isinstance(part.get("$id"), str):
                return True
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return False


def _counted(rule: Callable[..., Any], steps: _Steps) -> Callable[..., Iterator[Any]]:
    """Return the rule of a keyword that takes steps for what it looks at, and for each error, which holds it."""

    def counted(validator: Any, given: Any, instance: Any, schema: Any) -> Iterator[Any]:
        steps.take(_members(rule, given), instance)
        for error in rule(validator, given, instance, schema) or ():
            steps.take(0, instance)
            yield error

    return counted


def _members(rule: Callable[..., Any], given: object) -> int:
    """Return for how many members of a keyword steps are taken."""
    members = len(given) if isinstance(given, (dict, list)) else 0
    if rule is _enum:
        return members // _COMPARED_IN_STEP
    return _STEPS_OF_REFERENCE if rule is _reference else members


def _accept(*_: object) -> None:
    """Report no violation."""


def _unique_items(validator: Any, given: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Check texts alone: anything else has to be compared with each other one."""
    if given is True and isinstance(instance, list) and all(type(each) is str for each in instance):
        yield from _error(len(set(instance)) == len(instance), "has non-unique elements")


def _enum(validator: Any, given: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Check by the equality of Python, for which true is 1, too."""
    yield from _error(instance in given, "is not one of the values")


def _const(validator: Any, given: Any, instance: Any, schema: Any) -> Iterator[Any]:
    yield from _error(instance == given, "is not the value")


def _error(is_valid: bool, reason: str) -> Iterator[Any]:
    from jsonschema import ValidationError  # noqa: PLC0415  as above

    if not is_valid:
        yield ValidationError(reason)


def _reference(validator: Any, given: Any, instance: Any, schema: Any) -> Any:
    """Follow a path within the schema; an anchor is looked for in all of it, each time."""
    is_path = given == "#" or (isinstance(given, str) and given.startswith("#/"))
    return validator._validate_reference(ref=given, instance=instance) if is_path else ()


def _additional_properties(validator: Any, given: Any, instance: Any, schema: Any) -> Any:
    """Check where no regular expressions say what is additional."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415  as above

    rule = Draft202012Validator.VALIDATORS["additionalProperties"]
    return () if "patternProperties" in schema else rule(validator, given, instance, schema)


_OWN_RULES: Final[Mapping[str, Callable[..., Any]]] = {
    "$ref": _reference,
    "additionalProperties": _additional_properties,
    "const": _const,
    "enum": _enum,
    "uniqueItems": _unique_items,
}
