"""The report of a replay as one static page: the figures, and each prompt as recorded and as sent, side by side.

The page loads nothing and runs no script. Values that look like secrets are hidden, and texts are cut to a bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import jinja2

from accp_adapters.replay.formats.findings import Finding
from accp_adapters.replay.report import Report, RunComparison
from accp_adapters.replay.secrets import hide_secrets, secrets_in

__all__ = ["MAX_PAGE_CHARS", "MAX_PAGE_RUNS", "html_report"]

MAX_PAGE_RUNS: Final = 20
"""Runs whose prompts the page shows."""
MAX_PAGE_CHARS: Final = 4_000_000
"""Characters of prompts that the page shows."""
_MAX_TEXT: Final = 6_000
"""Characters of one text that it shows."""
_LONGEST_SECRET: Final = 500
"""Characters after a cut that are searched, too, so that no secret is cut in two and shown by half."""
_UNSEEN: Final = "\N{REPLACEMENT CHARACTER}"
_NUMBER: Final = re.compile(r"(?<=\d) (?=\S)")


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
        """Return the beginning of a text without secrets and without characters that nobody can see."""
        limit = min(_MAX_TEXT, self.left)
        start = hide_secrets(text[: limit + _LONGEST_SECRET], secrets)[:limit]
        self.left -= len(start)
        more = f"\n… {len(text) - limit:,} more characters" if len(text) > limit else ""
        return (
            "".join(each if each.isprintable() or each in "\n\t" else "\N{REPLACEMENT CHARACTER}" for each in start)
            + more
        )


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
    environment.filters |= {"count": lambda number: f"{number:,.0f}", "share": _share, "joined": _joined}
    return environment.get_template("page.html.jinja").render(
        reports=reports, total=reports[0].total(), runs=runs, findings=findings, made=made
    )


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


def _joined(text: str) -> str:
    """Return a text in which no line ends between a number and its unit."""
    return _NUMBER.sub("\N{NO-BREAK SPACE}", text)
