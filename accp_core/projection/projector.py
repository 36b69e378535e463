"""What one model is sent of its conversation: nothing twice, and long words of other agents as a preview.

The projection of a message is a pure function of the messages up to it and of the rules. So a prefix that was sent
never changes, and a history that was trimmed or folded never holds a marker for lines that were removed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from accp_core.compression import Compressed, ResultLimits
from accp_core.ports import TokenCounter
from accp_core.projection.cache_cost import PriorPrompt, saving_pays
from accp_core.projection.record import CallRecord, MessageRecord, Role
from accp_core.projection.repeats import Repeats, Shortened
from accp_core.projection.results import compress_blocks, share_batch
from accp_core.references import StoredText

__all__ = ["Projected", "ProjectionRules", "Projector"]

_CHARS_PER_TOKEN: Final = 4
"""An estimate for messages that no provider has counted; it decides only whether a small saving pays."""
_REMEMBERED_TEXTS: Final = 64
_REMEMBERED_COUNTS: Final = 1_024
_UNKNOWN: Final = PriorPrompt()

_Blocks = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionRules:
    """When a text is shown in another form."""

    counter: TokenCounter
    """Counts the tokens of the model."""
    limits: ResultLimits
    """Those of a single result."""
    batch_limit: int
    """Tokens that the results of one model turn may take together."""
    repeats: bool = True
    """Whether lines that the model has read already become repeat markers."""
    cache_aware: bool = True
    """Whether a saving must pay in the prices of a prompt cache; False: every token saved counts."""
    exclude_tools: frozenset[str] = frozenset()
    """Names of tools whose results stay as they are."""
    open_with: str = ""
    """The name of the tool that opens a reference; empty: previews name no tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Projected:
    """One message as the model is sent it."""

    blocks: tuple[str | None, ...]
    """The new text of each block; None: the block stays as it is."""
    stored: tuple[StoredText, ...] = ()
    """The texts that its previews cite."""

    @property
    def is_changed(self) -> bool:
        """Whether any block has a new text."""
        return any(block is not None for block in self.blocks)


class Projector:
    """Projects the conversation of one agent, message by message from the first one on."""

    def __init__(self, rules: ProjectionRules, *, prompt: PriorPrompt = _UNKNOWN) -> None:
        """Project by `rules`; `prompt` is the part before the first message: instructions and tools."""
        self._rules: Final = rules
        self._repeats: Final = Repeats()
        self._calls: Final[dict[str, tuple[CallRecord, int]]] = {}
        """Call id to the call and the number of calls of its message."""
        self._user_words = ""
        self.prompt = prompt
        """The prompt up to the last message."""

    def add(self, record: MessageRecord) -> None:
        """Add the next message as it is."""
        self._add(record, [Shortened(text=text, marker_lines=()) for text in record.blocks if text])

    def project(self, record: MessageRecord) -> Projected:
        """Add the next message and return what the model is sent of it."""
        compressed = self._compress(record, _remembered_blocks) if record.role is Role.OTHER_AGENT else ()
        stored = tuple(block.stored for block in compressed if block and block.stored)
        changes = tuple(block.text if block else None for block in compressed) or (None,) * len(record.blocks)
        shown = tuple(old if new is None else new for old, new in zip(record.blocks, changes, strict=True))
        shortened = self._shorten(record, shown)
        self._add(record, shortened, cites=bool(stored))
        texts = iter(shortened)
        final = (next(texts).text if text else text for text in shown)
        blocks = tuple(None if new == old else new for old, new in zip(record.blocks, final, strict=True))
        return Projected(blocks=blocks, stored=stored)

    def compress(
        self, record: MessageRecord, *, request: str | None = None, results: int | None = None
    ) -> tuple[Compressed | None, ...]:
        """Return how the blocks of the next message are shown where it is stored compressed; this does not add it.

        A block that stays as it is is None.

        Args:
            record: The next message.
            request: What the reader works on; None: the user's last words and the arguments of the call it answers.
            results: How many results its turn has; None: as many as the message with that call makes calls.
        """
        return self._compress(record, compress_blocks, request=request, results=results)

    def _compress(
        self,
        record: MessageRecord,
        compress: Callable[..., tuple[Compressed | None, ...]],
        *,
        request: str | None = None,
        results: int | None = None,
    ) -> tuple[Compressed | None, ...]:
        if self._must_stay(record):
            return (None,) * len(record.blocks)
        rules = self._rules
        call, calls = self._find_call(record)
        values = " ".join(str(value) for value in call.args.values()) if call else ""
        return compress(
            record.blocks,
            limits=share_batch(rules.limits, results=results or calls, batch=rules.batch_limit),
            counter=rules.counter,
            request=f"{self._user_words} {values}".strip() if request is None else request,
            prompt=self.prompt if rules.cache_aware else None,
            open_with=rules.open_with,
        )

    def _must_stay(self, record: MessageRecord) -> bool:
        """Return whether the text of a message is an error or comes from an excluded tool."""
        call, _ = self._find_call(record)
        names = {record.name, call.name if call else None}
        return record.failed or (record.role is Role.TOOL and not names.isdisjoint(self._rules.exclude_tools))

    def _find_call(self, record: MessageRecord) -> tuple[CallRecord | None, int]:
        """Return the call that `record` answers and how many calls its turn makes; (None, 1): it answers none."""
        return self._calls.get(record.call_id, (None, 1)) if record.call_id else (None, 1)

    def _shorten(self, record: MessageRecord, shown: _Blocks) -> list[Shortened]:
        """Return the texts of the blocks that are text, with repeat markers where they pay."""
        rules = self._rules
        whole = [Shortened(text=text, marker_lines=()) for text in shown if text]
        if not rules.repeats or record.role not in (Role.TOOL, Role.OTHER_AGENT) or self._must_stay(record):
            return whole
        counter = _remember_counts(rules.counter)
        short = [self._repeats.shorten(part.text, counter=counter) for part in whole]
        if not any(part.marker_lines for part in short):
            return whole
        before, after = (sum(counter(part.text) for part in parts) for parts in (whole, short))
        return whole if rules.cache_aware and not saving_pays(before, after, self.prompt) else short

    def _add(self, record: MessageRecord, texts: Sequence[Shortened], *, cites: bool = False) -> None:
        for text in texts if self._rules.repeats else ():
            self._repeats.add(text.text, text.marker_lines)
        self._calls.update((call.id, (call, len(record.calls))) for call in record.calls if call.id)
        if record.role is Role.USER:
            self._user_words = record.text
        chars = sum(len(text.text) for text in texts) + sum(len(str(call.args)) for call in record.calls)
        self.prompt = PriorPrompt(
            tokens=record.tokens_counted or self.prompt.tokens + chars // _CHARS_PER_TOKEN,
            has_references=self.prompt.has_references or cites or bool(record.references),
        )


# A conversation is projected again before each model call; these remember the work of the last projections. What they
# hold may be lost at any time.


def _remembered_blocks(blocks: _Blocks, *, counter: TokenCounter, **options: object) -> tuple[Compressed | None, ...]:
    compress: Callable[..., tuple[Compressed | None, ...]] = (
        _compress_once if isinstance(counter, Hashable) else compress_blocks
    )
    return compress(blocks, counter=counter, **options)


_compress_once = functools.lru_cache(maxsize=_REMEMBERED_TEXTS)(compress_blocks)


def _remember_counts(counter: TokenCounter) -> TokenCounter:
    return _remembering(counter) if isinstance(counter, Hashable) else counter


@functools.lru_cache(maxsize=8)
def _remembering(counter: Callable[[str], int]) -> Callable[[str], int]:
    return functools.lru_cache(maxsize=_REMEMBERED_COUNTS)(counter)
