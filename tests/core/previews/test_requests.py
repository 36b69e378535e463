"""What must stand in the preview of a text for a request, and what must not: a table of texts and requests."""

import json
from typing import Any

import pytest

from accp_core.previews import preview

ORDERS = [
    {
        "id": f"SO-{n}",
        "numberOfOrders": n % 31,
        "status": ("open", "sent", "late", "void")[n % 4],
        "cause": (None, "weather", "strike")[n % 3],
        "total": {"value": 40.5 * n, "currency": "EUR"},
        "placed": f"2026-03-{n % 28 + 1:02}T0{n % 10}:30:00+02:00",
        "kind": "order",
        "comment": f"Left at door {n}." + (" The box was torn open." if n == 77 else ""),
    }
    for n in range(120)
]
SCAN = {
    "runs": [
        {
            "tool": "scan",
            "results": [
                {
                    "rule": f"py/{('weak-hash', 'sql-injection', 'xss')[(n == 17) + 2 * (n % 5 == 0)]}",
                    "places": [{"file": f"src/m{n}.py", "line": n * 7}],
                }
                for n in range(140)
            ],
        }
    ]
}
PAGE = {"next": "Y3Vyc29yLTQ4MTc=", "total": 212, "issues": ORDERS}
BALANCES = [{"id": f"A-{n}", "balance": n - 1} for n in range(400)]
CALENDAR = "\n".join(
    ["BEGIN:ALL"]
    + [
        f"BEGIN:EVENT\nUID:{n * 7919:x}@rooms\nROOM:{('Nimbus', 'Cirrus', 'Stratus')[n % 3]}\nTEXT:"
        f"{'Board meeting' if n == 31 else 'Weekly call'}\nEND:EVENT"
        for n in range(60)
    ]
)
NOTES = "# Notes\n\n" + "\n\n".join(
    f"## {n}.0\n\n" + ("Port 8443 was closed for ever.\n" if n == 23 else "") + "Small things were mended. " * 6
    for n in range(40)
)
TRACES = "\n".join(
    f"2026-11-03 10:{n % 60:02}:00 INFO read manifest M-{n}"
    if n != 40
    else "2026-11-03 10:40:00 ERROR import of M-40 failed\n  at Importer.run(Importer.java:9)\n"
    "Caused by: java.io.IOException: disk\n  at Disk.write(Disk.java:3)\nCaused by: No space left on device"
    for n in range(120)
)
METHODS = {method: {"summary": f"{method} one"} for method in ("get", "put")}
API = {"openapi": "3.1.0", "paths": {f"/{n}/parcels": METHODS if n != 11 else {"post": {}} for n in range(40)}}
PLAN = "\n".join(
    f'  # web[{n}] {"must be replaced" if n == 17 else "will change"}\n  ~ resource {{\n      id = "i-{n}"\n    }}\n'
    for n in range(60)
)
CALLS = [{"path": f"/items/{n}", "status": (200, 201, 404, 503)[n % 4]} for n in range(120)]
LONG_LINES = "\n".join(
    f"10:{n % 60:02} order {n} " + ("failed " if n == 77 else "ok ") + f"step-{n} " * 40 for n in range(150)
)
ANIMALS = [{"id": n, "vaccinated": n % 3 > 0, "weight": n / 2} for n in range(120)]
PODS = [{"replicas": n % 4, "boxes": [{"limit": {"cpu": n % 3 / 2 + 0.5}}] * 2} for n in range(300)]
PROCESSES = [{"command": f"job-{n}", "%CPU": n / 8} for n in range(150)]
PACKAGES = [{"package": "openssl" if n == 9 else f"{n}-openssl", "version": f"3.{n}-" * 9} for n in range(90)]
SENT = "\n".join(f"order {88001 + n} dispatched in {n} ms" for n in range(150))
CASES: list[tuple[str, object, str, list[str], list[str]]] = [
    (
        "a number belongs to the column that is named beside it",
        ORDERS,
        "Which late orders were delayed by 30 days?",
        ["status=late: 30 rows"],
        ["numberOfOrders=30", "total.value>30"],
    ),
    (
        "the sentence about the answer says nothing of the data",
        ORDERS,
        "Which orders are late? Answer with the status void where none is.",
        ["status=late: 30 rows"],
        ["void:", "=void"],
    ),
    ("the word behind a number: a unit", ORDERS, "total over 4,000 euros", ["total.value>4000: "], ["currency=EUR"]),
    ("few values: counts", ORDERS, "Which causes are there?", ["cause: null (40) or weather (40), strike (40)"], []),
    ("an id, a text", ORDERS, "Whose box was torn?", ["SO-77 ", "The box was torn open."], ["(kind=order"]),
    ("a time of day is the cell's", ORDERS, "placed before 02:00 that are late", ["time of placed<02:00: 6 rows"], []),
    (
        "rows of a child table are asked for by what their parents say",
        SCAN,
        "In which file and line is the sql injection?",
        ["src/m17.py", " 119"],
        ["src/m18.py"],
    ),
    ("a cursor and a count are shown", PAGE, "Which issues are late?", ["next Y3Vyc29yLTQ4MTc=", "total 212"], []),
    (
        "blocks of keys and values are rows, and no empty excerpt stands below them",
        CALENDAR,
        "In which room is the board meeting?",
        ["Cirrus Board meeting"],
        ["[…lines 1-301]"],
    ),
    ("a section has its heading", NOTES, "When was port 8443 closed?", ["## 23.0", "Port 8443 was closed"], []),
    ("a trace ends with its last cause", TRACES, "Why did M-40 fail?", ["Caused by: No space left on device"], []),
    (
        "where no row meets all conditions, those are shown that miss one",
        ORDERS,
        "Which open orders have the cause strike and a total over 4,800 euros?",
        ["0 rows; nearest: 1 row without status=open, 10 rows without total.value>4800", "SO-119 "],
        [],
    ),
    ("the nearest row", ORDERS, "Is a total over 9,000?", ["total.value>9000: 0 rows; nearest: 4819.5", "SO-119 "], []),
    ("the paths of an interface are rows", API, "Which path takes a post?", ["paths: 40 rows", "/11/parcels"], []),
    ("a block has its head", PLAN, "What must be replaced?", ["# web[17] must be replaced", 'id = "i-17"'], []),
    ("a flag is what is said of it", ANIMALS, "vaccinated = false", ["vaccinated=false: 40 rows"], ["vaccinated=true"]),
    ("or both", ANIMALS, "nicht vaccinated", ["vaccinated=true: 80 rows", "vaccinated=false: 40 rows"], []),
    ("an exception", ORDERS, "all orders except open ones", ["status≠open: 90 rows"], ["status=open"]),
    ("an unlike sign", ORDERS, "status != open, cause weather", ["status≠open, cause=weather: 30 rows"], []),
    ("a number that is not asked for", CALLS, "did not return 200", ["status≠200: 90 rows"], ["status=200"]),
    ("a negation turns a sign", ORDERS, "a total not over 40 euros", ["total.value≤40: 1 row"], ["total.value>40"]),
    ("a number belongs to the table of its name", PODS, "cpu limit over 1", ["limit.cpu>1: 200 rows"], ["replicas>"]),
    ("what has no plural is no unit", SENT, "the longest dispatch", ["greatest ms: 149, 148, 147"], ["dispatched:"]),
    ("a line is whole", LONG_LINES, "Why did order 77 fail?", ["order 77 failed " + "step-77 " * 39 + "step-77"], []),
    ("a share is no time", PROCESSES, "Which ran over 1 minute of CPU?", ["%CPU"], ["%CPU>"]),
    ("a cell that is the word comes first", PACKAGES, "Which version of openssl?", ["package=openssl: 1 row"], []),
    ("below zero", BALANCES, "negative balance", ["balance<0: 1 row"], []),
]


@pytest.mark.parametrize(
    ("text", "request_text", "shown", "hidden"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_the_preview_shows_what_is_asked_for(text: Any, request_text: str, shown: list[str], hidden: list[str]) -> None:
    source = text if isinstance(text, str) else json.dumps(text)
    found = preview(source, limit=400, opening="$cold.1", counter=lambda part: len(part) // 3, request=request_text)
    assert [part for part in shown if part not in found] == [], found
    assert [part for part in hidden if part in found] == [], found
