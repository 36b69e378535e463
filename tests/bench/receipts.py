"""How many planted errors of answers the receipts find, and how many right values they take for errors.

The answers are those of the committed requests and tasks, spelled as in the documents and in other ways, sums, counts
and differences over the documents' tables, and the last words of recorded runs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

from rich.console import Console

from accp_adapters.cli.output.terminal_tables import percent, plain_table
from accp_adapters.policy import Policy
from accp_adapters.replay import Run
from accp_adapters.replay.seen_messages import SeenMessages
from accp_core.projection import MessageRecord, Projected, PromptProjector, Role
from accp_core.receipts import ClaimKind, Origin, Receipt, check_prompt
from accp_core.receipts.claims import StatedValue, claims_in
from accp_core.receipts.values import contains
from accp_core.tables import Table, open_text
from tests.bench.data import committed_runs, recorded_runs

__all__ = ["ERRORS", "Answer", "Found", "derived_answers", "find", "main", "recorded_answers", "requested_answers"]

_DATA: Final = Path(__file__).parent / "requests"
_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_ISO: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MAX_COLUMNS: Final = 3
_MAX_TABLES: Final = 2
_MIN_ROWS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, and what its agent was shown."""

    name: str
    """Where it comes from."""
    text: str
    """What it says."""
    values: frozenset[str]
    """The values in it that are right."""
    records: tuple[MessageRecord, ...]
    """The conversation before it."""

    def sent(self, policy: Policy) -> tuple[Projected, ...]:
        """Return what the model is sent of the conversation."""
        return PromptProjector(policy.rules).project(self.records).messages


def _document(name: str) -> str:
    return (_DATA / "documents" / name).read_bytes().decode()


def _conversation(request: str, texts: list[str]) -> tuple[MessageRecord, ...]:
    results = (MessageRecord(role=Role.TOOL, blocks=(text,), name="read") for text in texts)
    return (MessageRecord(role=Role.USER, blocks=(request,)), *results)


def requested_answers() -> Iterator[Answer]:
    """Yield the answers of the requests and tasks, words as quotations; each in other spellings, too."""
    for name in ("requests.json", "tasks.json"):
        for item in json.loads((_DATA / name).read_bytes()):
            documents = [item["document"]] if "document" in item else [call["document"] for call in item["calls"]]
            parts = [f'"{part}"' if " " in part and '"' not in part else part for part in item["answer"]]
            text = "\n".join(f"There are {part}." if item.get("counted") else f"- {part}" for part in parts)
            records = _conversation(item["request"], [*map(_document, dict.fromkeys(documents))])
            for words in dict.fromkeys((text, _respelled(text))):
                values = frozenset(claim.text for claim in claims_in(words))
                yield Answer(name=item["id"], text=words, values=values, records=records)


def _respelled(text: str) -> str:
    """Return an answer with its dates, numbers and quotations in other spellings."""
    text = _ISO.sub(lambda date: f"{int(date[3])} {_MONTHS[int(date[2]) - 1]} {date[1]}", text)
    text = re.sub(r"(?<=- )[1-9]\d{3,8}$", lambda number: f"{int(number[0]):,}", text, flags=re.MULTILINE)
    return re.sub(r'"([^"\n]+)"', lambda quoted: f"“{quoted[1].capitalize()}.”", text)


def derived_answers() -> Iterator[Answer]:
    """Yield sums, counts and differences over the tables of the documents."""
    for path in sorted((_DATA / "documents").iterdir()):
        text = _document(path.name)
        tables = [table for table in open_text(text).tables() if not table.holds_lines and len(table.rows) >= _MIN_ROWS]
        for words, value in (each for table in tables[:_MAX_TABLES] for each in _statements(table)):
            if sum(map(str.isdigit, value)) > 1:
                records = _conversation("How many, how much?", [text])
                yield Answer(name=path.name, text=words, values=frozenset((value,)), records=records)


def _statements(table: Table) -> Iterator[tuple[str, str]]:
    numeric = [name for name in table.columns if {type(cell) for cell in table.cells(name)} <= {int, float}]
    for column in numeric[:_MAX_COLUMNS]:
        cells = {number: Decimal(str(row[column])) for number, row in enumerate(table.rows) if column in row}
        total = f"{sum(cells.values())}"
        yield f"The {column} is {total} in all.", total
        keys = (
            name for name in table.columns if name != column and len({*map(str, table.cells(name))}) == len(table.rows)
        )
        if (key := next(keys, None)) and 0 in cells and (last := len(table.rows) - 1) in cells:
            gap = f"{abs(cells[0] - cells[last])}"
            yield f"`{table.rows[0][key]}` and `{table.rows[last][key]}` differ by {gap} {column}.", gap
    for column in table.columns[:_MAX_COLUMNS]:
        counts = Counter(cell for cell in table.cells(column) if isinstance(cell, str) and "\n" not in cell)
        for value, count in counts.most_common(2):
            yield f"{count} of them have the {column} {value}.", f"{count}"


def recorded_answers(runs: Iterable[Run]) -> Iterator[Answer]:
    """Yield the last words of each run; right are those values that stand so in what was recorded before them."""
    for run in runs:
        call = run.calls[-1]
        words = "\n".join(run.messages[i].text for i in call.output if run.messages[i].value is None)
        records = tuple(each.record for each in SeenMessages(run).of(call))
        given = [record.text for record in records if record.role is not Role.MODEL]
        values = frozenset(claim.text for claim in claims_in(words) if _stands(claim, claim.text, given))
        if values:
            yield Answer(name=Path(run.source).name.partition(".")[0], text=words, values=values, records=records)


def _stands(claim: StatedValue, changed: str, texts: Iterable[str]) -> bool:
    """Return whether a value, spelled so or, if it is a number, in any way, stands in one of `texts`."""
    value = Decimal(changed.replace(",", "")) if claim.kind is ClaimKind.NUMBER else changed
    return any(contains(value, text) for text in texts)


def _chance(*parts: object) -> int:
    """Return a number that looks like chance and is the same in each run."""
    return int.from_bytes(hashlib.sha256("|".join(map(str, parts)).encode()).digest()[:8])


def _digit(value: str) -> str:
    """Return `value` with one digit changed."""
    places = [match.start() for match in re.finditer(r"\d", value)]
    if not places:
        return value
    place = places[_chance(value) % len(places)]
    return f"{value[:place]}{(int(value[place]) + 1 + _chance(value, place) % 9) % 10}{value[place + 1 :]}"


def _exchanged(value: str) -> str:
    """Return `value` with two neighbouring digits exchanged, of a date the day and the month where that is a date."""
    if date := _ISO.match(value):
        return (
            f"{date[1]}-{date[3]}-{date[2]}{value[date.end() :]}" if date[2] != date[3] and int(date[3]) < 13 else value
        )
    places = [match.start() for match in re.finditer(r"(\d)(?!\1)(?=\d)", value)]
    if not places:
        return value
    place = places[_chance(value) % len(places)]
    return f"{value[:place]}{value[place + 1]}{value[place]}{value[place + 2 :]}"


def _invented(value: str) -> str:
    """Return `value` with other digits throughout."""
    return re.sub(r"\d", lambda digit: str(_chance(value, digit.start()) % 10), value)


def _reworded(value: str) -> str:
    """Return `value` with one of several words replaced."""
    words = value.split()
    if len(words) > 1:
        words[_chance(value) % len(words)] = "otherwise"
    return " ".join(words)


ERRORS: Final[Mapping[str, Callable[[str], str]]] = {
    "a digit changed": _digit,
    "digits or day and month exchanged": _exchanged,
    "invented": _invented,
    "a word replaced": _reworded,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One value of an answer, as it is or changed."""

    error: str
    """What was done to it; "" where it is right."""
    kind: ClaimKind
    """What it is."""
    digits: int
    """The digits of a number, else 0."""
    text: str
    """The value."""
    nowhere: bool
    """Whether the receipts say that it stands nowhere."""
    elsewhere: bool
    """Whether the changed value stands, by chance, as it is in what was shown."""


def find(answer: Answer, policy: Policy) -> Iterator[Found]:
    """Yield each right value of an answer, and each error in its place; all values of an answer are changed at once."""
    sent = answer.sent(policy)
    given = [record.text for record in answer.records]
    right = [claim for claim in claims_in(answer.text) if claim.text in answer.values]
    for error, change in {"": str, **ERRORS}.items():
        text, behind, places = "", 0, list[tuple[StatedValue, str, int]]()
        for claim in right:
            changed = change(claim.text) if _applies(error, claim) else claim.text
            text += answer.text[behind : claim.start]
            behind = claim.start + len(claim.text)
            if not error or changed != claim.text:
                places.append((claim, changed, len(text)))
            text += changed
        if places:
            receipts = check_prompt(text + answer.text[behind:], answer.records, sent, names=policy.rules.agent_names)
            for claim, changed, start in places:
                yield _found(error, claim, changed, _nowhere(receipts, start, start + len(changed)), given)


def _applies(error: str, claim: StatedValue) -> bool:
    return not error or (error == "a word replaced") == (claim.kind is ClaimKind.QUOTATION)


def _nowhere(receipts: Iterable[Receipt], start: int, end: int) -> bool:
    """Return whether a value between `start` and `end` stands nowhere; an error may make two values of one."""
    there = (each for each in receipts if each.start < end and start < each.start + len(each.text))
    return any(each.origin is Origin.NOWHERE for each in there)


def _found(error: str, claim: StatedValue, changed: str, nowhere: bool, given: Sequence[str]) -> Found:
    digits = sum(map(str.isdigit, claim.text)) if claim.kind is ClaimKind.NUMBER else 0
    elsewhere = bool(error) and _stands(claim, changed, given)
    return Found(error=error, kind=claim.kind, digits=digits, text=changed, nowhere=nowhere, elsewhere=elsewhere)


def main(data: Path | None, console: Console) -> None:
    """Print a table of right values and planted errors for each kind of answers."""
    runs = committed_runs() if data is None else recorded_runs(data)[0]
    for title, answers in (
        ("Answers of the requests and tasks", requested_answers()),
        ("Sums, counts and differences over their documents", derived_answers()),
        (f"Last words of {len(runs)} recorded runs", recorded_answers(runs)),
    ):
        found = [each for answer in answers for each in find(answer, Policy.lossless())]
        console.print(
            plain_table(title, ("", "values", "nowhere", "%", "shown elsewhere", "% of the others"), _rows(found))
        )


def _rows(found: Sequence[Found]) -> Iterator[tuple[str, ...]]:
    yield _row("right", [each for each in found if not each.error])
    planted = [each for each in found if each.error]
    for error in ERRORS:
        yield _row(error, [each for each in planted if each.error == error])
    for kind in ClaimKind:
        yield _row(f"errors of a {kind}", [each for each in planted if each.kind is kind])
    yield _row("all errors but of numbers of two digits", [each for each in planted if each.digits != 2])
    yield _row("all errors", planted)


def _row(name: str, found: Sequence[Found]) -> tuple[str, ...]:
    nowhere = sum(each.nowhere for each in found)
    others = [each for each in found if not each.elsewhere]
    alone = percent(sum(each.nowhere for each in others), len(others))
    return name, f"{len(found):,}", f"{nowhere:,}", percent(nowhere, len(found)), f"{len(found) - len(others):,}", alone
