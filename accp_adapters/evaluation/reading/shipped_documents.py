"""Documents of the kinds that tools return, made from a seed: the same in every run, in nobody's training data."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accp_adapters.evaluation.reading.documents import Document
from accp_core.strict_json import compact_json

__all__ = ["shipped_documents"]

_Made: TypeAlias = Any
"""A JSON value, or a `Document` whose text is not that of its value."""
_PER_KIND: Final = 5
_FIRST: Final = [
    "Ana", "Ben", "Cyd", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kai", "Lena", "Milo", "Nora", "Omar",
    "Pia", "Quin", "Rosa", "Sven", "Tara",
]  # fmt: skip
_LAST: Final = [
    "Haas", "Ode", "Ray", "Lund", "Novak", "Mori", "Silva", "Kane", "Ferro", "Diaz", "Weiss", "Okafor", "Brandt", "Ito",
]  # fmt: skip
_CITIES: Final = ["Lima", "Oslo", "Porto", "Graz", "Turku", "Leeds", "Osaka", "Quito", "Malmo", "Split"]
_STATES: Final = ["pending", "shipped", "paid", "returned", "late"]
_WORDS: Final = [
    "retry", "cache", "ledger", "queue", "index", "token", "shard", "replica", "budget", "quota", "window", "cursor",
    "lease", "batch",
]  # fmt: skip


def shipped_documents() -> Iterator[Document]:
    """Yield at least 60 documents, of four to about sixty entries each."""
    for kind, make in _KINDS.items():
        for number in range(1, _PER_KIND + 1):
            chance = random.Random(f"{kind} {number}")
            name = f"{kind.replace(' ', '-')}-{number}"
            made = make(chance, 4 + 7 * number + chance.randrange(8))
            yield made if isinstance(made, Document) else Document.of(name, kind, made)


def _person(chance: random.Random) -> str:
    return f"{chance.choice(_FIRST)} {chance.choice(_LAST)}"


def _date(chance: random.Random) -> str:
    return f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"


def _money(chance: random.Random) -> float:
    return chance.randrange(500, 250_000) / 100


def _sentence(chance: random.Random, words: int = 9) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(words)).capitalize() + "."


def _orders(chance: random.Random, size: int) -> _Made:
    ids = chance.sample(range(1_000, 9_999), size)
    rows = [
        {"id": f"ORD-{id}", "customer": _person(chance), "city": chance.choice(_CITIES), "total": _money(chance),
         "status": chance.choice(_STATES), "date": _date(chance)}
        for id in ids
    ]  # fmt: skip
    return {"orders": rows, "page": 1, "total_count": size}


def _wide(chance: random.Random, size: int) -> _Made:
    counters = [f"{word}_{part}" for word in _WORDS[:6] for part in ("hits", "misses", "ms")]
    return [
        {"host": f"node-{number:02}", **{name: chance.randrange(10_000) for name in counters}} for number in range(size)
    ]


def _nested(chance: random.Random, size: int) -> _Made:
    return {
        "data": {
            "tickets": [
                {"key": f"OPS-{400 + number * 3}", "reporter": {"name": _person(chance), "team": chance.choice(_WORDS)},
                 "priority": {"level": chance.randrange(1, 6), "label": chance.choice(["low", "medium", "high"])},
                 "summary": _sentence(chance)}
                for number in range(size)
            ]
        }
    }  # fmt: skip


def _children(chance: random.Random, size: int) -> _Made:
    def items() -> list[dict[str, Any]]:
        return [
            {"sku": f"S{chance.randrange(1_000)}", "qty": chance.randrange(1, 9)} for _ in range(chance.randrange(4))
        ]

    return {"carts": [{"cart": number * 7, "owner": _person(chance), "items": items()} for number in range(1, size)]}


def _sparse(chance: random.Random, size: int) -> _Made:
    def row(number: int) -> dict[str, Any]:
        optional = {
            "assignee": chance.choice([None, _person(chance)]),
            "due": _date(chance),
            "area": chance.choice(_WORDS),
            "estimate": chance.randrange(20),
            "parent": chance.choice([None, 3]),
        }
        members = {name: value for name, value in optional.items() if chance.random() < 0.5}
        return {"id": number, "title": _sentence(chance, 4), **members}

    return {"tasks": [row(number) for number in range(1, size + 1)]}


def _repeated(chance: random.Random, size: int) -> _Made:
    notes = [_sentence(chance, 14) for _ in range(3)]
    places = [
        {"street": f"{chance.randrange(200)} Harbour Road", "city": chance.choice(_CITIES), "zip": "4410"}
        for _ in range(3)
    ]
    return {
        "shipments": [
            {"no": 900 + number, "to": _person(chance), "terms": chance.choice(notes), "address": chance.choice(places)}
            for number in range(size)
        ]
    }


def _deep(chance: random.Random, size: int) -> _Made:
    def branch(depth: int) -> dict[str, Any]:
        names = chance.sample(_WORDS, 3)
        return {
            name: branch(depth - 1) if depth and chance.random() < 0.7 else chance.choice([True, None, 30, "auto"])
            for name in names
        }

    return {"service": "billing", "settings": {name: branch(3) for name in chance.sample(_WORDS, min(4, size))}}


def _unlike(chance: random.Random, size: int) -> _Made:
    def event(number: int) -> dict[str, Any]:
        payment = {
            "amount": _money(chance),
            "currency": chance.choice(["EUR", "USD"]),
            "account": chance.randrange(999),
        }
        kinds: dict[str, dict[str, Any]] = {
            "login": {"user": _person(chance), "ip": f"10.0.{chance.randrange(9)}.{chance.randrange(99)}"},
            "payment": payment,
            "error": {"code": chance.choice([404, 500, 503]), "message": _sentence(chance, 5)},
        }
        kind = chance.choice(list(kinds))
        return {"seq": number, "type": kind, **kinds[kind]}

    return {"events": [event(number) for number in range(1, size + 1)]}


def _keyed(chance: random.Random, size: int) -> _Made:
    plans = ["free", "pro"]
    users = [{"name": _person(chance), "plan": chance.choice(plans), "seats": number * 3} for number in range(size)]
    return {"users": {f"u{100 + number}": user for number, user in enumerate(users)}}


def _json_inside(chance: random.Random, size: int) -> _Made:
    rows = _orders(chance, max(4, size // 2))["orders"]
    return {
        "tool": "search",
        "status": 200,
        "body": json.dumps({"note": _sentence(chance), "owner": _person(chance)}),
        "rows": rows,
    }


def _yaml_inside(chance: random.Random, size: int) -> _Made:
    lines = [f"{word}_{number}: {chance.randrange(900)}" for number, word in enumerate(_WORDS[: min(size, 14)])]
    files = [{"path": f"deploy/{word}.yaml", "size": chance.randrange(9_000), "text": "kind: Job\n" + "\n".join(lines)}
             for word in _WORDS[:5]]  # fmt: skip
    return {"files": files, "ref": "main"}


def _csv_inside(chance: random.Random, size: int) -> _Made:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [("day", "visits"), *((_date(chance), chance.randrange(999)) for _ in range(size))]
    )
    reports = [{"report": word, "rows": size, "author": _person(chance), "csv": text.getvalue()} for word in _WORDS[:4]]
    return {"reports": reports, "truncated": False}


def _cut_off(chance: random.Random, size: int) -> _Made:
    value = _orders(chance, size + 12)
    kept = {"orders": value["orders"][:size]}
    source = compact_json(value)
    end = source.index(value["orders"][size]["id"]) + 5
    return Document(name=f"cut-off-{size}", kind="cut off", value=kept, source=source[:end])


def _read_again(chance: random.Random, size: int) -> _Made:
    """A file that is read a second time after an edit: the view names the lines above."""
    names = [f"{first}_{second}" for first in _WORDS for second in _WORDS[:8]][: 20 + size]
    before = {name: chance.randrange(10_000) for name in names}
    after = before | {name: chance.randrange(10_000) for name in chance.sample(names, 3)}
    texts = [
        "\n".join(f"{name} = {value}  # set by operations" for name, value in each.items()) for each in (before, after)
    ]
    return Document(name=f"read-again-{size}", kind="read again", value=after, source=texts[1], earlier=texts[0])


_KINDS: Final[Mapping[str, Callable[[random.Random, int], _Made]]] = MappingProxyType(
    {
        "orders": _orders,
        "wide table": _wide,
        "nested objects": _nested,
        "child lists": _children,
        "sparse": _sparse,
        "repeated values": _repeated,
        "deep": _deep,
        "unlike entries": _unlike,
        "keyed objects": _keyed,
        "JSON inside": _json_inside,
        "YAML inside": _yaml_inside,
        "CSV inside": _csv_inside,
        "cut off": _cut_off,
        "read again": _read_again,
    }
)
"""The kind of a document to what makes one of about so many entries."""
