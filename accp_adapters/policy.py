"""Every number that decides what a model sees of a tool result, in one place."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.tokens import count_o200k
from accp_core.compression import MIN_PREVIEW, ResultLimits
from accp_core.ports import TokenCounter
from accp_core.projection import ProjectionRules, ToolForm, ToolForms, check_tool_forms, resolve, share_batch

__all__ = ["SWITCH", "Policy", "is_disabled", "names_in", "read_tool_words"]


_LIMITS: Final = (
    "inline_limit",
    "preview_limit",
    "batch_limit",
    "fetch_limit",
    "abstract_limit",
    "user_limit",
    "argument_limit",
)
_MINIMA: Final = (("batch_limit", 1), ("user_limit", 1), ("argument_limit", MIN_PREVIEW))
_OPTIONAL: Final = frozenset({"inline_limit", "user_limit", "argument_limit"})
"""Fields that may be None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When a tool result is shown whole and when as a preview, and how the rest is stored. Limits are in tokens.

    The defaults are what measurement recommends; `lossless` is the other preset.
    """

    inline_limit: int | None = 2_500
    """A result whose view takes more becomes a preview, its text goes to the store; None: never."""
    preview_limit: int = 1_000
    """What a preview may take, at least 60: it holds the reference and how to open it."""
    batch_limit: int = 16_000
    """What the results of one model turn (parallel tool calls) may take together, previews included."""
    fetch_limit: int = 4_000
    """What one answer of `accp_fetch` may take; it ends with how to get the rest."""
    abstract_limit: int = 200
    """What the result of one item may take in an AgentContext, at least 60; a longer one is stored and cited."""
    repeats: bool = True
    """Whether lines that are above in the same prompt become a repeat marker: `[as above: 14 lines from "…"]`."""
    agent_names: frozenset[str] | None = frozenset()
    """Names of other agents: what AIMessages and HumanMessages of these names say is theirs, and is projected like tool
    results; the state keeps it whole, and their author's model is sent it whole. The agents to which a `transfer_to_…`
    call hands over are known without it. AIMessages of any other name than the reader's that come after the first
    user's message are another agent's, too, if the reader has a name. None: no words are taken for another agent's."""
    user_limit: int | None = None
    """A user's message of more tokens is projected like a tool result: JSON that somebody pasted becomes a view or a
    preview. None: never, because the user may ask about the text as it is written."""
    argument_limit: int | None = None
    """An argument of a tool call that is a text of more tokens, at least 60, such as a file that was written, is shown
    as a preview with a reference. None: never, because a model may copy the short form into its next call."""
    tools: Mapping[str, ToolForm] = field(default_factory=dict)
    """What is special to the results of some tools: the name of a tool or a pattern as `read_*` (an exact name goes
    before a pattern) to "as_is", "verbatim", "lossless" or `ResultLimits`. The tools by which coding agents read files
    (`FILE_READERS`) are "verbatim" unless they are named here: an edit must match what a model copies from its
    prompt."""
    counter: TokenCounter = count_o200k
    """Counts the tokens of the model in use."""

    def __post_init__(self) -> None:
        """Refuse limits that leave no room for anything (ValueError), and a counter that is none (TypeError)."""
        for name in _LIMITS:
            _check_number(name, getattr(self, name))
        self.result_limits()
        for name, least in _MINIMA:
            limit = getattr(self, name)
            if limit is not None and limit < least:
                name = name.removesuffix("_limit")
                raise ValueError(f"expected the limit {name!r} to be at least {least}, found {limit!r}")
        counter: object = self.counter
        if not callable(counter):
            hint = "pass a function that returns the tokens of a text, such as accp_adapters.tokens.o200k_base()"
            raise TypeError(f"expected counter to be a function, found {counter!r}: {hint}")
        if self.inline_limit is not None and self.preview_limit > max(self.inline_limit, MIN_PREVIEW):
            hint = "a preview is shown where a view takes more; lower preview_limit or raise inline_limit"
            found = f"{self.preview_limit} and {self.inline_limit}"
            raise ValueError(f"expected preview_limit to be at most inline_limit, found {found}: {hint}")
        names_in("agent_names", self.agent_names or ())
        check_tool_forms(self.tools)

    @classmethod
    def lossless(cls) -> Policy:
        """Return a policy that hides nothing: no previews, no fetch tool, no store."""
        return cls(inline_limit=None)

    @classmethod
    def named(cls, name: str) -> Policy:
        """Return the preset of this name, "lossless" or "default"; ValueError: there is none."""
        presets: dict[str, Callable[[], Policy]] = {"lossless": cls.lossless, "default": cls}
        if name not in presets:
            raise ValueError(f"expected a policy of {', '.join(presets)}, found {name!r}")
        return presets[name]()

    @classmethod
    def of(cls, given: Policy | str | None) -> Policy:
        """Return the policy that an option was given: a Policy, the name of a preset, or None for the defaults.

        Raises:
            TypeError: It is of another type.
            ValueError: There is no such preset.
        """
        if isinstance(given, Policy | None):
            return given or cls()
        if isinstance(given, str):
            return cls.named(given)
        raise TypeError(f"expected a Policy or the name of one, such as 'lossless', found {given!r}")

    @property
    def previews(self) -> bool:
        """Whether a text can become a preview, so that a fetch tool is needed."""
        return any(limit is not None for limit in (self.inline_limit, self.user_limit, self.argument_limit))

    @property
    def rules(self) -> ProjectionRules:
        """The rules by which the core projects messages."""
        return ProjectionRules(
            counter=self.counter,
            limits=self._limits,
            tools=ToolForms(self.tools),
            batch_limit=self.batch_limit,
            user_limit=self.user_limit,
            argument_limit=self.argument_limit,
            repeats=self.repeats,
            open_with=FETCH_NAME,
            agent_names=self.agent_names,
        )

    @property
    def _limits(self) -> ResultLimits:
        return ResultLimits(
            inline=self.inline_limit, preview=self.preview_limit, fetch=self.fetch_limit, abstract=self.abstract_limit
        )

    def result_limits(self, results: int = 1) -> ResultLimits:
        """Return the limits of each of the `results` of one model turn.

        Each gets an equal share of `batch_limit`: what a model is sent of a result depends on nothing after it.
        """
        return share_batch(self._limits, results=results, batch=self.batch_limit)

    def without_previews(self) -> Policy:
        """Return this policy where nothing is hidden, for a model that has no fetch tool."""
        whole = {
            tool: replace(form, inline=None) if isinstance(form, ResultLimits) else form
            for tool, form in self.tools.items()
        }
        return replace(self, inline_limit=None, user_limit=None, argument_limit=None, tools=whole)


def names_in(option: str, names: Iterable[Any]) -> list[str]:
    """Return the names that an option was given; ValueError: they are one text, whose letters are not names."""
    found = [names] if isinstance(names, str) else [name for name in names if not isinstance(name, str)]
    if found:
        raise ValueError(f"expected {option} to be several names, as in ['search'], found {found[0]!r}")
    return list(names)


def _check_number(name: str, value: Any) -> None:
    """Refuse a limit that is no number of tokens."""
    if isinstance(value, bool) or not (isinstance(value, int) or (value is None and name in _OPTIONAL)):
        raise ValueError(f"expected {name} to be a number of tokens, found {value!r}")


# The environment variable that switches the middleware off.

SWITCH: Final = "ACCP_DISABLED"
_ON: Final = ("1", "true", "yes", "on")
_OFF: Final = ("", "0", "false", "no", "off")


def is_disabled() -> bool:
    """Return whether the middleware is switched off: ACCP_DISABLED is 1, true, yes or on.

    Raises:
        ValueError: It is none of these words, nor 0, false, no, off or empty.
    """
    value = os.environ.get(SWITCH, "")
    word = value.strip().lower()
    if word not in (*_ON, *_OFF):
        raise ValueError(f"expected {SWITCH} to be one of {', '.join((*_ON, *_OFF[1:]))}, found {value!r}")
    return word in _ON


# What is special to tools, as commands take it: `read_*=verbatim`, `search=600:400`.

_RESOLVE: Final = "resolve:"
_PAIR: Final = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


def read_tool_words(words: Iterable[str]) -> dict[str, ToolForm]:
    """Return the forms of the results of tools, by name or pattern.

    Args:
        words: Each is NAME=FORM: the name or pattern of a tool, and as_is, verbatim, lossless, or the tokens from which
            a result becomes a preview and those of the preview, as 600:400; or resolve and the arguments that take
            references, as resolve:content,body.

    Raises:
        ValueError: One is not; it names it.
    """
    forms: dict[str, ToolForm] = {}
    for word in words:
        name, sign, form = word.rpartition("=")
        if not sign or not name:
            raise ValueError(f"expected NAME=FORM, as read_*=verbatim, found {word!r}")
        limits = _PAIR.fullmatch(form)
        found: dict[str, object] = {name: form}
        if limits:
            found[name] = ResultLimits(inline=int(limits[1]), preview=int(limits[2]))
        elif form.startswith(_RESOLVE):
            found[name] = resolve(*form.removeprefix(_RESOLVE).split(","))
        check_tool_forms(found)
        forms |= found  # type: ignore[arg-type]  # checked
    return forms
