"""What a preview says of the rows that a request asks for is so over all rows: random tables, random requests."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from accp_core.previews.conditions import NamedRows, find_named_rows
from accp_core.previews.request import Request
from accp_core.tables import tables_of

STATUSES = ("open", "closed", "on hold", "waiting")
CITIES = ("Lyon", "Porto", "Graz")
EMPTY = (None, "", "-", "n/a")

days = st.integers(1, 28).map(lambda day: f"2026-0{1 + day % 3}-{day:02}")
rows = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.integers(1, 9),
            "status": st.sampled_from(STATUSES),
            "city": st.sampled_from((*CITIES, *EMPTY)),
            "price": st.integers(0, 90) | st.sampled_from([12.5, 7.25]),
            "created": days,
            "ready": st.booleans(),
            "subject": st.sampled_from(["red lamp", "blue lamp", "green table of wood", "chair", "lamp"]),
        }
    ),
    min_size=5,
    max_size=40,
)
parts = st.sampled_from(
    [
        *STATUSES, *(f"not {status}" for status in STATUSES), *CITIES, "without a city", "no city", "price over 20",
        "price of at least 12.5", "price under 50", "at most 7 price", "created in February", "created before the 9th",
        "since 2026-02-10", "created on the 14th", "ready", "not ready", "highest price", "cheapest price",
        "latest created", "oldest", "second highest price", "lamp", "green wood", "blue lamps",
    ]
)  # fmt: skip
requests = st.lists(parts, min_size=1, max_size=4).map(lambda some: ", ".join(some))
CONDITION = re.compile(r"(\w+)( is empty| is not empty| in | has |[=≠<>≤≥])(.*)")


def is_so(row: dict[str, Any], condition: str) -> bool:
    """Read a condition as a person does, by other code than that which wrote it."""
    found = CONDITION.fullmatch(condition)
    assert found is not None, condition
    cell, value = row[found[1]], found[3]
    match found[2]:
        case " is empty":
            return cell in EMPTY
        case " is not empty":
            return cell not in EMPTY
        case " in ":
            return f"{cell}-".startswith(f"{value}-") or re.fullmatch(value.replace("?", "."), cell) is not None
        case " has ":
            return all(any(form.strip('"') in cell for form in word.split("|")) for word in value.split(" and "))
        case "=" | "≠":
            return (str(cell).lower() in [str(each).lower() for each in value.split("|")]) == (found[2] == "=")
    own, limit = (cell[: len(value)], value) if isinstance(cell, str) else (cell, float(value))
    return bool({"<": own < limit, ">": own > limit, "≤": own <= limit, "≥": own >= limit}[found[2]])


def check(named: NamedRows, table: list[dict[str, Any]]) -> None:
    numbers = range(len(table))
    if named.conditions:
        whole, _, nearest = named.conditions.partition("; nearest: ")
        conditions, count = whole.rsplit(": ", 1)
        fitting = {n for n in numbers if all(is_so(table[n], each) for each in conditions.split(", "))}
        assert count == f"{len(fitting)} row{'s'[: len(fitting) != 1]}"
        if fitting:
            assert named.numbers == fitting, conditions
            numbers = sorted(fitting)
        for part in nearest.split(", ") if nearest and ", " not in conditions.partition(", ")[2] else ():
            number, missed = part.replace(" rows", "").replace(" row", "").split(" without ")
            (other,) = {*conditions.split(", ")} - {missed}
            own = {n for n in numbers if is_so(table[n], other) and not is_so(table[n], missed)}
            assert int(number) == len(own) and own <= named.numbers
    for kind, column, told in re.findall(r"; (greatest|least) (\w+): ([^;]*)", named.order):
        values = sorted({table[n][column] for n in numbers}, reverse=kind == "greatest")
        counts = [(value, sum(table[n][column] == value for n in numbers)) for value in values[:3]]
        assert told.split(", ") == [f"{value}{f' ({count})' * (count > 1)}" for value, count in counts]
        assert {n for n in numbers if table[n][column] == values[0]} & set(named.first)


@given(rows, requests)
def test_each_claim_about_rows_is_so(table: list[dict[str, Any]], request: str) -> None:
    (only,) = tables_of(table)
    for named in find_named_rows(only, Request(request)):
        check(named, table)


def test_the_property_sees_claims_of_every_kind() -> None:
    table = [
        {
            "id": n, "status": STATUSES[n % 4], "city": (*CITIES, None)[n % 4], "price": n % 30,
            "created": f"2026-02-{n % 28 + 1:02}", "ready": n % 3 > 0,
            "subject": "green table of wood" if n == 8 else "lamp",
        }
        for n in range(56)
    ]  # fmt: skip
    (only,) = tables_of(table)
    told = {
        request: [each.describe(are_shown=False) for each in find_named_rows(only, Request(request))]
        for request in (
            "which are not on hold",
            "without a city",
            "price over 20 in Porto",
            "created before the 9th and not ready",
            "highest price that is open",
            "green wood",
            "created on the 14th",
        )
    }
    assert told == {
        "which are not on hold": ["status≠on hold: 42 rows"],
        "without a city": ["city is empty: 14 rows"],
        "price over 20 in Porto": ["city=Porto, price>20: 4 rows"],
        "created before the 9th and not ready": ["ready=false, created<2026-02-09: 5 rows"],
        "highest price that is open": ["status=open: 14 rows; greatest price: 28, 24, 22"],
        "green wood": ['subject has "green" and "wood": 1 row'],
        "created on the 14th": ["created in 2026-02-14: 2 rows"],
    }
