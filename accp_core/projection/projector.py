"""What one model is sent of its conversation: results as views or previews, nothing twice, the words of other agents.

The projection of a message is a pure function of the messages up to it and of the rules. So a prefix that was sent
never changes, and a history that was trimmed never holds a marker for lines that were removed.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from accp_core import documents, view
from accp_core.compression import Compressed, ResultLimits, as_abstract, compress_once, count_once, share_batch
from accp_core.ports import TokenCounter
from accp_core.projection.records import CallRecord, MessageRecord, Projected, Role, ToolForms, Unit, texts_in
from accp_core.projection.repeats import Repeats, Shortened
from accp_core.projection.versions import Differences
from accp_core.references import find_references, key_of, replace_references, short_key
from accp_core.view.layout import BELOW

__all__ = ["ProjectionRules", "Projector"]

_log: Final = logging.getLogger("accp")
_CHARS_KNOWN: Final = 16
"""The beginning of a text for each token of its preview. If that much is news, the whole text is: a text of megabytes
is not searched for what was read."""
_MIN_KNOWN_SHARE: Final = 0.3
"""The share of whole lines that were read before from which on a long text is compared with all that was read."""
_MIN_ANSWER_SAVING: Final = 200
"""Tokens that markers in an answer of a fetch must save: who asks for a few rows is shown them."""
_SMALL: Final = 200
"""Characters of a result in which there is next to nothing to save."""
_CHARS_READ: Final = 4_000
"""The beginning of a result that tells prose from other forms."""
_MIN_CALL_ID: Final = 8
"""Characters of the id of a call that is in no text by chance."""
_MAX_OFFLOADED: Final = 20_000
"""Characters of what a framework leaves of a result that it saved."""
_SIGNS: Final = re.compile(r"[\W_]+")
_JSON: Final = re.compile(r'\s*(?:\{\s*["}]|\[\s*["\[{\]\d-])')
"""How a JSON object or array begins."""

_Blocks = tuple[str | None, ...]
_Shown = tuple[Compressed | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionRules:
    """When a text is shown in another form."""

    counter: TokenCounter
    """Counts the tokens of the model."""
    limits: ResultLimits
    """Those of a single result."""
    tools: ToolForms = field(default_factory=ToolForms)
    """What is special to the results of some tools."""
    agent_names: frozenset[str] | None = frozenset()
    """Names of other agents, see `attribute`; None: no message is taken for another agent's."""
    batch_limit: int
    """Tokens that the results of one model turn may take together."""
    user_limit: int | None = None
    """Tokens of a user's message above which JSON in it is shown as a view or a preview; None: it stays as it is."""
    argument_limit: int | None = None
    """Tokens of an argument of a tool call, a string, above which it is shown as a view or a preview; None: never."""
    repeats: bool = True
    """Whether lines that the model has read already become repeat markers."""
    open_with: str = ""
    """The name of the tool that opens a reference, whose results stay as they are; empty: previews name no tool."""


class Projector:
    """Projects the conversation of one agent, message by message from the first one on."""

    def __init__(self, rules: ProjectionRules, *, opens: Iterable[str] = ()) -> None:
        """Project by `rules`.

        Args:
            rules: When a text is shown in another form.
            opens: Keys of texts that open although no message has them.
        """
        self._rules: Final = rules
        self._count: Final = count_once(rules.counter)
        self._repeats: Final = Repeats()
        self._differences: Final = Differences(rules.counter)
        self._calls: Final[dict[str, tuple[CallRecord, int]]] = {}
        """Call id to the call and how many results of its message's calls the model reads."""
        self._opens: Final = {name for key in opens for name in (key, short_key(key))}
        """Keys of texts that open, whole and short; those of `_unhashed` are added when they are needed."""
        self._unhashed: list[str] = []
        self._user_words = ""
        self._first_previewed: str | None = None
        """The text of the first preview, whose first line says how such lines are read; None: none stands above."""

    @property
    def size(self) -> int:
        """The bytes of memory that it takes beside the messages, about."""
        return self._repeats.size + self._differences.size

    def add(self, record: MessageRecord) -> None:
        """Add the next message as it is."""
        try:
            self._add(record, record.blocks)
        except Exception as error:
            _warn(error)

    def project(self, record: MessageRecord) -> Projected:
        """Add the next message and return what the model is sent of it: the message as it was where anything raises."""
        try:
            return self._project(record)
        except Exception as error:
            _warn(error)
        with suppress(Exception):
            self._add(record, record.blocks)
        return Projected(blocks=(None,) * len(record.blocks), failed=True)

    def compress(self, record: MessageRecord) -> _Shown:
        """Return how the blocks of the next message are shown, None for one that stays; this does not add it.

        What the reader works on ranks what a preview keeps: the user's last words and the arguments of the call that
        the message answers. Where anything raises, all of them stay.
        """
        try:
            return self._compressed(record)
        except Exception as error:
            _warn(error)
            return (None,) * len(record.blocks)

    def _project(self, record: MessageRecord) -> Projected:
        compressed = self._previewed(record)
        calls = self._compress_arguments(record)
        shown = tuple(
            self._close(record, new.text if new and new.stored else self._escape(record, old, new))
            for old, new in zip(record.blocks, compressed, strict=True)
        )
        final = self._add(record, shown, compressed, marks=self._may_have_markers(record))
        arguments = [block for call in calls for block in call.values()]
        stored = tuple(block.stored for block in (*compressed, *arguments) if block and block.stored)
        if stored and self._first_previewed is None:
            self._first_previewed = stored[0].text
        counted = [
            (block.tokens_before if block else self._count(whole), self._count_shown(new, block))
            for old, whole, new, block in zip(record.blocks, shown, final, compressed, strict=True)
            if whole and new and new != old
        ]
        counted += [(block.tokens_before, block.tokens_after) for block in arguments]
        return Projected(
            blocks=tuple(None if new == old else new for old, new in zip(record.blocks, final, strict=True)),
            arguments=tuple({name: block.text for name, block in call.items()} for call in calls) if arguments else (),
            stored=stored,
            tokens_before=sum(before for before, _ in counted),
            tokens_after=sum(after for _, after in counted),
            kept=self._reason(record) if record.role is Role.TOOL and not counted else "",
        )

    def _reason(self, record: MessageRecord) -> str:
        """Return why the result of a tool stays as it is."""
        tool = self._tool(record)
        if self._is_fetch(tool):
            return ""
        reasons = {
            "error": record.failed,
            "view": bool(record.stored),
            "excluded": record.stays or self._is_excluded(record),
            "offloaded": _is_offloaded(record),
            "small": len(record.text) <= _SMALL,
            "verbatim": self._rules.tools.find(tool) == "verbatim",
        }
        known = next((reason for reason, holds in reasons.items() if holds), "")
        is_prose = not known and not any(documents.read(record.text[:_CHARS_READ]).values())
        return known or ("prose" if is_prose else "no smaller form")

    def _count_shown(self, text: str, block: Compressed | None) -> int:
        return block.tokens_after if block and block.text == text else self._count(text)

    def _previewed(self, record: MessageRecord) -> _Shown:
        """Return how the blocks of the next message are shown: `compress`, and what was read before."""
        compressed = self._compressed(record)
        if not self._rules.repeats:
            return compressed
        return tuple(
            None
            if new and new.stored and self._is_known(old or "", new)
            else new and self._differences.shorten_preview(old or "", new)
            for old, new in zip(record.blocks, compressed, strict=True)
        )

    def _compressed(self, record: MessageRecord) -> _Shown:
        if record.shown:
            before, after = (tuple(self._count(text or "") for text in each) for each in (record.blocks, record.shown))
            return tuple(
                Compressed(text=new, layout=None, stored=None, tokens_before=whole, tokens_after=short) if new else None
                for new, whole, short in zip(record.shown, before, after, strict=True)
            )
        call, calls = self._call_of(record)
        limits = self._limits_for(record, calls)
        if limits is None:
            return (None,) * len(record.blocks)
        values = " ".join(str(value) for value in call.args.values()) if call else ""
        kept = limits if record.is_kept else replace(limits, inline=None)
        return self._compress(record.blocks, kept, f"{self._user_words} {values}".strip())

    def _compress(self, blocks: _Blocks, limits: ResultLimits, request: str) -> _Shown:
        return compress_once(
            blocks,
            limits=limits,
            counter=self._rules.counter,
            request=request,
            open_with=self._rules.open_with,
            # The preview of a text that was shown with its longer first line keeps it, and is the same text.
            is_brief=self._first_previewed is not None and self._first_previewed not in blocks,
        )

    def _compress_arguments(self, record: MessageRecord) -> list[dict[str, Compressed]]:
        """Return of each call how those string arguments are shown that are over the limit."""
        limit = self._rules.argument_limit
        if limit is None or record.stays:
            return []
        limits = replace(self._rules.limits, inline=limit if record.is_kept else None, preview=limit)
        return [
            {
                name: shown
                for name, value in call.args.items()
                if isinstance(value, str)
                and not self._is_left(call.name)
                and not call.by_program
                and self._has_over(value, limit)
                and (shown := self._compress((value,), limits, self._user_words)[0])
            }
            for call in record.calls
        ]

    def _close(self, record: MessageRecord, text: str | None) -> str | None:
        """Return the text of a block; a reference that another agent names and that does not open here is none."""
        if record.role is not Role.OTHER_AGENT or record.stays or not text or not find_references(text):
            return text
        keys = map(key_of, (*self._unhashed, *record.texts))
        self._opens.update(name for key in keys for name in (key, short_key(key)))
        self._unhashed = []
        return replace_references(text, lambda key: None if key in self._opens else _closed(key))

    def _escape(self, record: MessageRecord, old: str | None, new: Compressed | None) -> str | None:
        """Return the text of a block, or its view; what looks like our markers in words of others says so."""
        is_ours = record.stays or self._is_fetch(self._tool(record))
        is_foreign = record.role in (Role.TOOL, Role.OTHER_AGENT) and not is_ours and not self._is_excluded(record)
        text, layout = (new.text, new.layout) if new else (old, None)
        return view.escape_view(text, layout) if text and is_foreign else text

    def _limits_for(self, record: MessageRecord, results: int) -> ResultLimits | None:
        """Return the limits by which a message is compressed; None: it stays as it is."""
        rules = self._rules
        match record.role:
            case _ if record.stays or self._is_excluded(record) or _is_offloaded(record):
                return None
            case Role.TOOL | Role.OTHER_AGENT:
                own = rules.tools.limits_of(self._tool(record), rules.limits) or rules.limits
                limits = share_batch(own, results=results, batch=rules.batch_limit)
                limits = as_abstract(limits) if self._is_of_other(record) else limits
                return limits if not record.failed or self._is_over(record, limits.inline) else None
            case Role.USER if self._is_over(record, rules.user_limit):
                return replace(rules.limits, inline=rules.user_limit)
        return None

    def _is_of_other(self, record: MessageRecord) -> bool:
        """Return whether a message is the result of a call that another agent made."""
        call, _ = self._call_of(record)
        return call is not None and call.by_other

    def _is_over(self, record: MessageRecord, limit: int | None) -> bool:
        """Return whether the texts of `record` have more than `limit` tokens; without a limit, none has."""
        return limit is not None and self._has_over(record.text, limit)

    def _has_over(self, text: str, limit: int) -> bool:
        # A token has at least one byte, and a character at most four.
        return 4 * len(text) > limit and self._count(text) > limit

    def _is_excluded(self, record: MessageRecord) -> bool:
        """Return whether a message is the result of an excluded tool, or one that a program reads."""
        return (record.role is Role.TOOL and self._is_left(self._tool(record))) or self._is_for_program(record)

    def _is_left(self, tool: str) -> bool:
        """Return whether the results of `tool` stay as they are."""
        return self._is_fetch(tool) or self._rules.tools.find(tool) == "as_is"

    def _is_fetch(self, tool: str) -> bool:
        """Return whether `tool` is the one that opens references."""
        return bool(tool) and tool == self._rules.open_with

    def _is_for_program(self, record: MessageRecord) -> bool:
        """Return whether a program reads a message, and the model does not."""
        call, _ = self._call_of(record)
        return record.role is Role.TOOL and (record.read_by_program or (call is not None and call.by_program))

    def _tool(self, record: MessageRecord) -> str:
        """Return the name of the tool whose result a message is: what its call says, else what it says itself."""
        call, _ = self._call_of(record)
        return (call.name if call else record.name) or ""

    def _call_of(self, record: MessageRecord) -> tuple[CallRecord | None, int]:
        """Return the call that a message answers and how many results of its turn the model reads; (None, 1): none."""
        return self._calls.get(record.call_id, (None, 1)) if record.call_id else (None, 1)

    def _is_known(self, text: str, preview: Compressed) -> bool:
        """Return whether so much of `text` was read already that markers for it are shorter than its preview."""
        head = text[: _CHARS_KNOWN * preview.tokens_after]
        may_be_known = self._repeats.known_share(text) >= _MIN_KNOWN_SHARE or self._is_repeated(head, preview)
        return may_be_known and self._is_repeated(text, preview)

    def _is_repeated(self, text: str, preview: Compressed) -> bool:
        """Return whether `text` has markers, and with them fewer tokens than `preview`."""
        short = self._repeats.shorten(text, counter=self._count, unit=_unit_of(text, None))
        return bool(short.markers) and self._count(short.text) < preview.tokens_after

    def _may_have_markers(self, record: MessageRecord) -> bool:
        stays = record.failed or self._is_for_program(record) or _is_offloaded(record)
        is_foreign = record.role in (Role.TOOL, Role.OTHER_AGENT)
        is_left = self._is_excluded(record) and not self._is_fetch(self._tool(record))
        is_stored = not record.stays or any(record.stored)
        return self._rules.repeats and is_foreign and is_stored and not stays and not is_left

    def _shorten(self, record: MessageRecord, text: str, block: Compressed | None, stored: Unit | None) -> Shortened:
        """Return a text with markers in place of what the model has read, where they pay."""
        is_answer = self._is_fetch(self._tool(record))
        unit = "rows" if is_answer else stored or _unit_of(text, block)
        short = self._repeats.shorten(text, counter=self._count, unit=unit)
        if is_answer and self._count(text) - self._count(short.text) < _MIN_ANSWER_SAVING:
            return Shortened(text=text)
        return short

    def _add(
        self,
        record: MessageRecord,
        shown: _Blocks,
        compressed: Sequence[Compressed | None] = (),
        *,
        marks: bool = False,
    ) -> _Blocks:
        """Add a message of which `shown` is sent; return that, with markers where it may have them."""
        blocks = list(shown)
        if self._rules.repeats and not self._is_for_program(record):
            for at, text in enumerate(shown):
                if text:
                    unit = record.stored[at] if record.stored else None
                    short = self._shorten(record, text, compressed[at], unit) if marks else Shortened(text=text)
                    self._repeats.add(short)
                    blocks[at] = short.text
            for argument in texts_in([call.args for call in record.calls]):
                self._repeats.hide(argument)
        results = sum(not call.by_program for call in record.calls)
        self._calls.update((call.id, (call, results)) for call in record.calls if call.id)
        self._unhashed += record.texts
        if record.role is Role.USER:
            self._user_words = record.text
        return tuple(blocks)


def _is_offloaded(record: MessageRecord) -> bool:
    """Return whether a result is what is left of one that a framework saved in a file, and names that file.

    No tool knows the id of its call: a framework that saves a result names the file by it, as deepagents does
    (`/large_tool_results/call_…`).
    """
    call_id = record.call_id or ""
    if record.role is not Role.TOOL or len(call_id) < _MIN_CALL_ID or len(record.text) > _MAX_OFFLOADED:
        return False
    name = r"[\W_]+".join(map(re.escape, _SIGNS.split(call_id)))
    return re.search(rf"[/\\]{name}(?![0-9A-Za-z])", record.text) is not None


def _unit_of(text: str, block: Compressed | None) -> Unit:
    """Return what markers may stand for in a text that is sent as it is, or as a view or a preview of `block`."""
    if block is not None and block.is_smaller:
        return "whole" if block.stored else "rows"
    text = text.removeprefix(BELOW)
    if not _JSON.match(text):
        return "lines"
    first, feed, _ = text.strip().partition("\n")
    with suppress(ValueError, RecursionError):
        json.loads(first)
        # Each line is a document by itself.
        return "lines" if feed else "whole"
    return "whole"


def _warn(error: Exception) -> None:
    """Tell why a message stays as it was: no run of an agent ends because of a projection.

    The words of an error may be those of a message, so only its class and its place are told.
    """
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    _log.warning("a message is sent as it was: %s in %s", type(error).__name__, where)
    _log.debug("the projection failed", exc_info=error)


def _closed(key: str) -> str:
    """Return what stands for a reference that does not open, so that nobody tries; its first digits tell it apart."""
    return f"(text {key.removeprefix('cold.')[:4]}… of another agent, not open here)"
