"""The report of a replay as one static page: the figures, and each prompt as recorded and as sent, side by side.

The page loads nothing and runs no script. Values that look like secrets are hidden, and texts are cut to a bound.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

import jinja2

from accp_adapters.replay.recorded_run import Finding
from accp_adapters.replay.report import Report, RunComparison
from accp_core import DecodeError
from accp_core import read as read_view
from accp_core.accp.debug import DEFAULT_REDACTION, HIDDEN_VALUE, Redaction
from accp_core.tables import OpenedText, open_text
from accp_core.tables.table import is_openable

__all__ = ["LEFT_OUT", "MAX_PAGE_CHARS", "MAX_PAGE_RUNS", "MAX_SECRETS", "hide_secrets", "html_report", "secrets_in"]


# Secrets in the texts of messages, found by their keys and by their form, and hidden before a text is kept.

MAX_SECRETS: Final = 500
"""Secrets that are looked for in one text; a text with more is left out."""
LEFT_OUT: Final = f"({MAX_SECRETS} secrets or more, so the text is left out)"
"""Shown instead of such a text."""

_VALUE: Final = (
    r"""[ \t]{0,40}(?:[bBrRuU]{1,2}(?=["']))?(?P<value>(?P<marks>["'])(?P=marks){2}(?:(?!(?P=marks){3})[^\0]){1,4000}"""
    r"""|\\{1,3}"[^"\\\n]{1,400}|"(?:[^"\\]|\\.){1,400}|'[^']{1,400}"""
    r"""|(?:Bearer|Basic)[ ]+[^\s"'\\]{4,400}|[^\s,;&"'{}\[\]\\]{1,400})"""
)
_PAIR: Final = re.compile(
    r"""(?<![\w.-])(?:(?P<key>[\w.-]{3,64}+)\\{0,3}["']?[ \t]{0,40}(?:=>|:=|[:=|](?!>))"""
    r"""|--(?P<option>[\w-]{3,64}+)(?=[ ]))""" + _VALUE
)
"""A key and its value, in JSON, in JSON within JSON, in headers, in query strings, in settings and in commands."""
_BESIDE: Final = re.compile(
    r"""(?:(?i:name|key)\\{0,3}["']?\s{0,9}[:=]\s{0,9}\\{0,3}["']?|[(\[]\s{0,9}\\{0,3}["']|<(?=\w+ +(?i:value)=))"""
    r"""(?P<key>[\w.-]{3,64}+)\\{0,3}["']?[\s,]{1,40}+(?P<told>\\{0,3}["']?\w{0,20}(?i:value)\\{0,3}["']?\s{0,9}[:=])?+"""
    + _VALUE
)
"""A key and its value that are two values: `name="password" value="…"`, `("Authorization", "…")`."""
_MORE: Final = re.compile(r"(?:[ \t]+[^\s,;&\"'{}\[\]\\]{1,400}){1,50}(?:(?:(?<=values)|(?<=\d\))),[^;\n]{1,400})?")
"""The further words of a value without quotes behind a blank; all that a preview tells of the values of a column."""
_FORMS: Final = re.compile(
    r"\b(?:sk-[\w-]{16,200}|gh[pousr]_\w{20,200}|github_pat_\w{20,200}|xox[abprs]-[\w-]{10,200}|AKIA[0-9A-Z]{16}"
    r"|eyJ[\w-]{8,1000}\.[\w-]{8,2000}\.[\w-]{8,1000})"
    r"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\w+/=\s\\]{0,8000}"
    r"""|(?<=://)[^\s/:@"]{0,100}:[^\s/@"]{1,200}(?=@)"""
)
"""API keys of well-known services, JSON web tokens, private keys, name and password in a URL."""
_LOGIN: Final = re.compile(
    r"""(?:(?<![\w-])(?:-u|--user)[ =]["']?[^\s:"'\\]{1,100}:|(?i:\b(?:identified\b[^;'"\n]{0,80}\bby|password))"""
    r"""\s{1,9}\\{0,3}(?P<mark>["'])(?![:,\]}]))(?P<secret>(?(mark)[^"'\\\n]|[^\s"'\\]){1,200})"""
)
"""User and password for a command such as curl; a password in SQL."""
_WORDS: Final = re.compile(r"(?m)^(?:[ \t]*+(?:[a-z][\w-]*+[ \t]++\S{1,400}+(?!\S)(?:[ \t]++|(?=\n|\Z)))++(?:\n|\Z))++")
"""Lines of names, each with a word as its value (netrc)."""
_WORD_PAIR: Final = re.compile(r"(?P<key>\S+)[ \t]+(?P<value>\S+)")
_SAID: Final = re.compile(
    r"""(?<![\w.-])(?P<key>[\w.-]{3,64}+)[ ](?:[a-z]{2,3}[ ])?"""
    r"""(?P<value>(?=\S{0,40}\d)(?=\S{0,40}[A-Za-z])[^\s"'\\]{4,200}\w)"""
)
"""A password in a sentence: letters and digits in one word behind its key."""
_RUN: Final = re.compile(r"(?<![\w./+-])[A-Za-z0-9/+]{40,}+={0,2}(?![\w./-])|[A-Za-z0-9_-]{20,}")
"""What may be a key of letters and digits in any order, with a prefix or in base64."""
_PARTS: Final = re.compile(r"(?<![A-Za-z0-9])(?!0x)(?=[A-Z\d]*[a-z])(?=[a-z\d]*[A-Z])(?=[A-Za-z]*\d)[A-Za-z\d]{10,}")
"""A part of such a run with letters of both cases and digits."""
_UNMIXED: Final = re.compile(r"[a-z]{3,}|[A-Z]{3,}|[0-9]{3,}")
_MIXED: Final = 0.35
"""The share of a part of a key that is in no run of three or more characters of one kind."""
_ELEMENT: Final = re.compile(
    r"""<(?P<key>[\w:.-]{1,64}+)(?:\s(?:[^<>]{0,200}?\s)?(?i:name|key)=["'](?P<name>[\w.-]{3,64})["'])?(?:\s[^<>]{0,400})?(?<!/)>"""
)
_MAX_ELEMENT: Final = 2_000
"""Characters of an element that are looked at."""
_KEY_LINE: Final = re.compile(r"(?m)^(?P<before>[ \t]{0,100}(?:- +)?)(?P<key>[\w.-]{3,64}+):[^\n{\[\"']{0,100}\n")
"""A line with a key of YAML; lines that are further in hold its value."""
_SCHEMES: Final = re.compile(r"(?:Bearer|Basic) +", re.IGNORECASE)
_HEADING: Final = re.compile(r"(?m)^[^\n]{0,200}?\[(?P<rows>[1-9]\d{0,3})\] (?P<names>[^\n]{1,4000})$")
"""The heading of a table in a view."""
_WORD: Final = re.compile(r"[\w.-]+")
_NAME: Final = re.compile(r"[A-Za-z_-]*")
"""A name, as of a column."""
_LISTS: Final = re.compile(r"\[\s*\[")
_MIN_ALONE: Final = 5
"""Characters of a value that is hidden wherever it stands; a shorter one is hidden behind its key only."""
_PLAIN: Final = frozenset({"false", "none", "null", "string", "true", "undefined"})
"""Values that are no secret."""


def secrets_in(text: str, redaction: Redaction = DEFAULT_REDACTION) -> frozenset[str]:
    """Return the values of `text` whose keys `redaction` hides, and what looks like a key, at most 500."""
    found: set[str] = set()
    for secret in _found(text, redaction):
        found.add(secret)
        if len(found) >= MAX_SECRETS:
            break
    return frozenset(found)


def hide_secrets(text: str, known: frozenset[str] = frozenset(), redaction: Redaction = DEFAULT_REDACTION) -> str:
    """Return `text` with "[redacted]" for its secrets and for those that are `known` from another form of it.

    Of a text with 500 secrets or more nothing is returned but a note.
    """
    own = secrets_in(text, redaction)
    if max(len(own), len(known)) >= MAX_SECRETS:
        return LEFT_OUT
    # The whole secrets first: a span ends at the first escape of a string.
    secrets = sorted((secret for secret in known | own if len(secret) >= _MIN_ALONE), key=len, reverse=True)
    text = re.sub("|".join(map(re.escape, secrets)), HIDDEN_VALUE, text) if secrets else text
    for start, end in reversed(_spans(text, redaction, is_sure=False)):
        text = f"{text[:start]}{HIDDEN_VALUE}{text[end:]}"
    return text


def _found(text: str, redaction: Redaction) -> Iterator[str]:
    yield from (match[0] for match in _FORMS.finditer(text))
    for start, end in _spans(text, redaction):
        yield from filter(None, map(str.strip, text[start:end].split("\n")))
    yield from _column_values(text, redaction)
    for document in chain(_read(text), _views(text, redaction)):
        for secret in _json_secrets(document, redaction):
            yield from filter(None, map(str.strip, secret.split("\n")))
            yield secret
            yield escape(secret)
            # As JSON writes it, and JSON within JSON.
            yield json.dumps(secret, ensure_ascii=False)[1:-1]
            yield (once := json.dumps(secret)[1:-1])
            yield json.dumps(once)[1:-1]


def _spans(text: str, redaction: Redaction, *, is_sure: bool = True) -> list[tuple[int, int]]:
    """Return where secrets behind a key, a command's option or a line of YAML begin and end, in their order."""
    found = [*_pairs(text, redaction), *(match.span("secret") for match in _LOGIN.finditer(text))]
    found += [*_beside(text, redaction), *_elements(text, redaction), *_blocks(text, redaction)]
    found += [] if is_sure else _doubtful(text, redaction)
    apart: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


def _doubtful(text: str, redaction: Redaction) -> Iterator[tuple[int, int]]:
    """Yield where words stand that may be secrets; they are hidden there, and nowhere else."""
    blocks = (list(_WORD_PAIR.finditer(text, *block.span())) for block in _WORDS.finditer(text))
    pairs = chain(_SAID.finditer(text), *(block for block in blocks if len(block) > 1))
    yield from (pair.span("value") for pair in pairs if redaction.hides(pair["key"]))
    for run in _RUN.finditer(text):
        if any(len(_UNMIXED.sub("", part)) >= _MIXED * len(part) for part in _PARTS.findall(run[0])):
            yield run.span()


def _pairs(text: str, redaction: Redaction) -> Iterator[tuple[int, int]]:
    """Yield the values of hidden keys; a value of another key is searched, too, for it may hold settings."""
    position = 0
    while pair := _PAIR.search(text, position):
        value = _value(pair)
        if redaction.hides(pair["key"] or pair["option"]) and value.lower() not in _PLAIN:
            is_open = text[pair.start("value") - 1].isspace() and text[pair.start("value")] not in "\\\"'"
            more = _MORE.match(text, pair.end()) if is_open and pair["key"] else None
            position = more.end() if more else pair.end()
            yield pair.end() - len(value), position
        else:
            position = max(pair.end() - len(value), pair.end("key") + 1, pair.end("option") + 1)


def _beside(text: str, redaction: Redaction) -> Iterator[tuple[int, int]]:
    """Yield the values beside a hidden key that is a value itself; none of a list of names."""
    for pair in _BESIDE.finditer(text):
        value = _value(pair)
        if redaction.hides(pair["key"]) and (pair["told"] or not _NAME.fullmatch(value)):
            yield pair.end() - len(value), pair.end()


def _elements(text: str, redaction: Redaction) -> Iterator[tuple[int, int]]:
    """Yield the content of hidden elements of XML and HTML; of one that is not closed, the rest of its line."""
    for element in _ELEMENT.finditer(text):
        if redaction.hides(element["key"]) or redaction.hides(element["name"] or ""):
            start = element.end()
            ends = [text.find(mark, start, start + _MAX_ELEMENT) for mark in (f"</{element['key']}", "\n")]
            end = next((end for end in ends if end >= start), len(text[: start + _MAX_ELEMENT]))
            yield from [(start, end)] * (end > start)


def _blocks(text: str, redaction: Redaction) -> Iterator[tuple[int, int]]:
    """Yield the lines below a hidden key that are further in than it: a text, a list or a map of YAML."""
    position = 0
    while line := _KEY_LINE.search(text, position):
        position = line.end()
        if redaction.hides(line["key"]):
            inner = rf"(?:[ \t]*\n)*[ \t]{{{len(line['before'])}}}(?:[ \t]+|- )(?P<secret>\S[^\n]*)"
            found = re.compile(rf"{inner}(?:\n{inner.replace('?P<secret>', '?:')})*").match(text, position)
            if found:
                yield found.start("secret"), found.end()
                position = found.end()


def _value(pair: re.Match[str]) -> str:
    return _SCHEMES.sub("", pair["value"].lstrip("\\\"'"))


def _column_values(text: str, redaction: Redaction) -> Iterator[str]:
    """Yield the values of the hidden columns of a table whose first line names its columns (CSV)."""
    lines = text.split("\n")
    mark = max(",;\t|", key=lines[0].count)
    columns = [cell.strip(" \"'\r") for cell in lines[0].split(mark)]
    hidden = [at for at, name in enumerate(columns) if " " not in name and redaction.hides(name)]
    with suppress(csv.Error):
        for row in csv.reader(lines[1:] if hidden and mark in lines[0] else (), delimiter=mark):
            yield from (row[at] for at in hidden if at < len(row) and row[at].lower() not in _PLAIN | {""})


def _read(text: str) -> Iterator[Any]:
    """Yield what a text holds: its value, or its tables and the JSON of its lines."""
    opened = open_text(text) if is_openable(text) else OpenedText(value=text, prose=text)
    is_text = isinstance(opened.value, str)
    yield from _documents(text) if is_text else [opened.value]
    if is_text or _LISTS.search(text):
        yield from (list(map(dict, each.rows)) for each in opened.tables() if not each.holds_lines)


def _views(text: str, redaction: Redaction) -> Iterator[Any]:
    """Yield the rows below the headings of views that name a hidden column, as far as they can be read."""
    headings = [each for each in _HEADING.finditer(text) if any(map(redaction.hides, _WORD.findall(each["names"])))]
    for heading, end in zip(headings, [*(each.start() for each in headings[1:]), len(text)], strict=False):
        lines = text[heading.end() + 1 : end].partition("\n\n")[0].split("\n")[: int(heading["rows"])]
        # Rows may be missing: what follows them is left out, then a row that is cut.
        for _ in range(3):
            view = "\n".join([f"[{len(lines)}] {heading['names']}", *lines])
            try:
                yield read_view(view)
                break
            except DecodeError as error:
                lines = lines[: max(view.count("\n", 0, error.position) - 1, 1)]


def _documents(text: str) -> Iterator[Any]:
    """Yield the value of a text that is JSON, or those of its lines that are."""
    for part in (text, *text.split("\n")):
        if part.lstrip()[:1] in ("{", "["):
            try:
                value = json.loads(part)
            except (ValueError, RecursionError):
                continue
            yield value
            if part is text:
                return


def _json_secrets(document: Any, redaction: Redaction) -> Iterator[str]:
    """Yield everything behind a hidden key, `value` beside a `name` or `key` that is one, and secrets in strings."""
    waiting, hides = [(document, False)], cache(redaction.hides)
    while waiting:
        value, hidden = waiting.pop()
        if isinstance(value, dict | list):
            waiting += [(each, hidden or told) for told, each in _told(value, hides)]
        elif hidden and value is not None and not isinstance(value, bool):
            yield from () if str(value).lower() in _PLAIN | {""} else (str(value),)
        elif isinstance(value, str):
            yield from (value[start:end] for start, end in _spans(value, redaction))
            yield from _column_values(value, redaction)
            waiting += [(each, False) for each in (*_documents(value), *_views(value, redaction))]


def _told(value: dict[str, Any] | list[Any], hides: Callable[[str], bool]) -> Iterator[tuple[bool, Any]]:
    """Yield whether each member is hidden, by its key, its column, or a name beside it; and the member."""

    def is_hidden(name: object) -> bool:
        return isinstance(name, str) and " " not in name[-64:] and hides(name[-64:])

    if isinstance(value, dict):
        named = any(is_hidden(each) for key, each in value.items() if key.lower().endswith(("name", "key")))
        yield from ((hides(key) or (named and key.lower().endswith("value")), each) for key, each in value.items())
        return
    rows = value if value and all(isinstance(each, list) for each in value) else [value]
    columns = [at for at, name in enumerate(rows[0]) if is_hidden(name)] if rows is value else []
    for number, row in enumerate(rows):
        is_pair = len(row) == 2 and is_hidden(row[0]) and not (number == 0 and _NAME.fullmatch(str(row[1])))
        yield from (((number > 0 and at in columns) or (is_pair and at == 1), each) for at, each in enumerate(row))


MAX_PAGE_RUNS: Final = 20
"""Runs whose prompts the page shows."""
_PRINTED: Final = "\n\t\N{NO-BREAK SPACE}"
"""What the page has beside what Python calls printable."""
MAX_PAGE_CHARS: Final = 4_000_000
"""Characters of prompts that the page shows."""
_MAX_TEXT: Final = 6_000
"""Characters of one text that it shows."""
_LONGEST_SECRET: Final = 500
"""Characters after a cut that are searched, too, so that no secret is cut in two and shown by half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """A message of a prompt."""

    sender: str
    recorded: str
    sent: str
    """Empty: it is sent as recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt:
    """The prompt of one call."""

    agent: str
    before: int
    after: int
    """Tokens as recorded and as sent."""
    earlier: int
    """Messages that the last prompt of the agent has in the same form."""
    messages: list[_Message]
    """All others."""


class _Room:
    """The characters that are left for texts."""

    def __init__(self) -> None:
        self.left = MAX_PAGE_CHARS

    def shown(self, text: str, secrets: frozenset[str]) -> str:
        """Return the beginning of a text without secrets."""
        limit = min(_MAX_TEXT, self.left)
        start = hide_secrets(text[: limit + _LONGEST_SECRET], secrets)[:limit]
        self.left -= len(start)
        more = f"\n… {len(text) - limit:,} more characters" if len(text) > limit else ""
        return start + more


def html_report(reports: Sequence[Report], *, findings: Sequence[Finding] = (), made: str = "") -> str:
    """Return one self-contained page; its prompts are those of the first report.

    Args:
        reports: One for each policy, of the same runs; their replays must have the texts of prompts.
        findings: What was not understood.
        made: When and by what the page was made; empty: not said.
    """
    room = _Room()
    runs = [(run, list(_prompts(run, room))) for run in reports[0].runs[:MAX_PAGE_RUNS]]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"count": lambda number: f"{number:,.0f}", "share": _share}
    named = {"reports": reports, "total": reports[0].total(), "runs": runs, "findings": findings, "made": made}
    written = environment.get_template("page.html.jinja").render(named)
    # Names and texts of others: no character of them moves or hides what stands beside it.
    return "".join(each if each.isprintable() or each in _PRINTED else "\N{REPLACEMENT CHARACTER}" for each in written)


def _prompts(run: RunComparison, room: _Room) -> Iterator[_Prompt]:
    """Yield the prompts of a run; a message is shown in the first prompt of its agent that has it in this form."""
    seen: dict[str, set[tuple[int, str]]] = {}
    for before, after, (call, sent_call) in zip(run.before.prompts, run.after.prompts, run.calls, strict=True):
        known = seen.setdefault(call.agent, set())
        new = [(old, sent) for old, sent in zip(before, after, strict=True) if sent not in known]
        known.update(sent for _, sent in new)
        senders = run.before.senders
        yield _Prompt(
            agent=call.agent,
            before=call.charge.tokens,
            after=sent_call.charge.tokens,
            earlier=len(before) - len(new),
            messages=[_message(senders[position], text, sent, room) for (position, text), (_, sent) in new],
        )


def _message(sender: str, recorded: str, sent: str, room: _Room) -> _Message:
    secrets = secrets_in(recorded)
    changed = room.shown(sent, secrets) if sent != recorded else ""
    return _Message(sender=sender[:80], recorded=room.shown(recorded, secrets), sent=changed)


def _share(part: float, whole: float) -> str:
    """Return `part` in percent of `whole`, a dash where `whole` is 0."""
    return f"{100 * part / whole:.1f}\N{NO-BREAK SPACE}%" if whole else "-"
