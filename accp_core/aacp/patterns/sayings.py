"""The table of a workflow: how people say its steps in English (AACP section 6.3, "a built-in pattern set").

    [parts]                 fragments of phrases by name, for `<name>`; those of `english` are known
    report = "[monthly] payroll report"
    [choices.format]        kinds of values: the value to the phrases that mean it
    xlsx = "excel|xlsx"
    [forms]                 kinds of values: the form of one word (a regular expression) and what it stands for
    section = ['s?(\\d+)', 's\\1']
    [vocabularies]          kinds of values: the words that a value may be made of
    issue = "liability of limitation"
    [[steps.report]]        ways to say one step
    needs = ["<make>", "<report>"]
    may = ["<period>", "as {formats:format*}"]

An instruction means a step if all of its words are phrases of one way to say it, in any order: one of each group in
`needs`, of which the first is the action, and at most one of each group in `may`. "|" stands between the phrases of
a group. `FallbackEncoder` reads the tables of its workflows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from accp_core.aacp.patterns.english import CHOICES, PARTS
from accp_core.aacp.patterns.notation import Phrase, invalid, read_phrase
from accp_core.aacp.patterns.tokens import Sentence
from accp_core.aacp.patterns.values import READERS, Found, Reader, word_reader

__all__ = ["Saying", "read_sayings"]

MAX_CHARACTERS: Final = 20_000
"""Length of a phrase with all parts that it names."""
MAX_WORDS: Final = 6
"""Words of a value of a vocabulary."""
SECTIONS: Final = frozenset({"parts", "choices", "forms", "vocabularies", "steps"})
_PART: Final = re.compile(r"<(\w+)>")


@dataclass(frozen=True, slots=True)
class Saying:
    """One way to say a step."""

    step: str
    """The name of the step."""
    groups: tuple[Phrase, ...]
    """The groups of phrases, those that are needed first."""
    needed: int
    """How many groups are needed."""


def read_sayings(table: Mapping[str, Any], parameters: Mapping[str, tuple[str, ...]]) -> list[Saying]:
    """Return all ways to say a step.

    Args:
        table: The sections, as TOML or JSON has them.
        parameters: The arguments of each step, by its name.

    Raises:
        ProtocolError: E1004, a section, a group, a phrase, a kind of value, a step or an argument is none.
    """
    if unknown := set(table) - SECTIONS:
        raise invalid(f"sayings: expected {', '.join(sorted(SECTIONS))}, found {', '.join(sorted(unknown))}")
    parts = dict(PARTS)
    for name, text in read_section(table, "parts", str).items():
        parts[name] = expand(text, parts)
    readers = read_kinds(table, parts)
    ways = read_section(table, "steps", list)
    sayings = [read_saying(step, way, parts, readers) for step, listed in ways.items() for way in listed]
    for saying in sayings:
        names = frozenset[str]().union(*(group.arguments for group in saying.groups))
        if saying.step not in parameters or not names <= set(parameters[saying.step]):
            raise invalid(f"sayings.steps.{saying.step}: expected a step and its arguments, found {sorted(names)}")
    return sayings


def read_section(table: Mapping[str, Any], name: str, kind: type) -> Mapping[str, Any]:
    """Return a section of a table, whose values must be of one type."""
    section = table.get(name, {})
    if not isinstance(section, Mapping) or not all(isinstance(value, kind) for value in section.values()):
        raise invalid(f"sayings.{name}: expected a table of values of type {kind.__name__}, found {section!r:.200}")
    return section


def read_saying(step: str, way: object, parts: Mapping[str, str], readers: Mapping[str, Reader]) -> Saying:
    """Return one way to say a step; a group is text, with "|" between its phrases."""
    if not isinstance(way, Mapping) or not {"needs"} <= set(way) <= {"needs", "may"} or not way["needs"]:
        raise invalid(f"sayings.steps.{step}: expected a table of needs and optionally may, found {way!r:.200}")
    needs, may = way["needs"], way.get("may", [])
    if not all(isinstance(groups, list) and all(isinstance(each, str) for each in groups) for groups in (needs, may)):
        raise invalid(f"sayings.steps.{step}: expected lists of groups as text, found {way!r:.200}")
    phrases = tuple(read_group(group, parts, readers) for group in (*needs, *may))
    return Saying(step, phrases, len(needs))


def read_group(text: str, parts: Mapping[str, str], readers: Mapping[str, Reader]) -> Phrase:
    """Return the phrases of a group as one."""
    return read_phrase(f"({expand(text, parts)})", readers)


def expand(text: str, parts: Mapping[str, str]) -> str:
    """Return text with its parts in place of their names; a part knows those before it only, so it ends."""
    if unknown := set(_PART.findall(text)) - set(parts):
        raise invalid(f"expected the name of a part, found {', '.join(sorted(unknown))!r}")
    found = _PART.sub(lambda match: f"({parts[match[1]]})", text)
    if len(found) > MAX_CHARACTERS:
        raise invalid(f"expected a phrase of at most {MAX_CHARACTERS} characters, found {len(found)}: {text[:200]!r}")
    return found


def read_kinds(table: Mapping[str, Any], parts: Mapping[str, str]) -> dict[str, Reader]:
    """Return the readers of all kinds of values, those of the table included."""
    choices = {**CHOICES, **read_section(table, "choices", Mapping)}
    readers = {**READERS, **{name: choice(options, parts) for name, options in choices.items()}}
    for name, form in read_section(table, "forms", list).items():
        readers[name] = form_reader(form)
    for name, words in read_section(table, "vocabularies", str).items():
        readers[name] = vocabulary(frozenset(words.split()))
    return readers


def choice(options: Mapping[str, Any], parts: Mapping[str, str]) -> Reader:
    """Return a reader of the longest of these phrases; a value with "," in it is several values."""
    if not all(isinstance(text, str) for text in options.values()):
        raise invalid(f"expected phrases as text, found {options!r:.200}")
    phrases = [
        (tuple(value.split(",")) if "," in value else value, read_group(text, parts, {}))
        for value, text in options.items()
    ]

    def read(sentence: Sentence, at: int) -> Found:
        found = [(end, value) for value, phrase in phrases for end, _ in phrase.find(sentence, at)]
        return max(found, key=lambda reading: reading[0], default=None)

    return read


def form_reader(form: list[Any]) -> Reader:
    """Return a reader of one word of a form."""
    try:
        pattern, value = form
        found = re.compile(pattern, re.IGNORECASE)
        found.sub(value, "")  # refuses a template with groups that the form has not
    except (ValueError, TypeError, re.error):
        raise invalid(f"expected a regular expression and what it stands for, found {form!r:.200}") from None
    return word_reader(found, value)


def vocabulary(words: frozenset[str]) -> Reader:
    """Return a reader of some of these words one after the other, with no "of" at their ends."""

    def read(sentence: Sentence, at: int) -> Found:
        end = at
        while end - at < MAX_WORDS and sentence.word(end) in words:
            end += 1
        if end == at or "of" in (sentence.word(at), sentence.word(end - 1)):
            return None
        return end, sentence.between(at, end).lower()

    return read
