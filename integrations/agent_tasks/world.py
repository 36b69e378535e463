"""A made company: orders, customers, tickets, deployments, logs and source files, all from a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from integrations.agent_tasks.prose import log_of, source_files, ticket_text

__all__ = ["PRODUCTS", "SERVICES", "STATUSES", "WAREHOUSES", "Row", "World", "make_world"]

Row: TypeAlias = Mapping[str, Any]
"""One record as an API returns it."""

STATUSES: Final = ("paid", "sent", "late", "returned", "cancelled")
WAREHOUSES: Final = ("north", "south", "harbour")
PRODUCTS: Final = ("kettle", "lantern", "umbrella", "backpack", "bicycle lamp")
SERVICES: Final = ("checkout", "inventory", "payments", "search")
_CITIES: Final = ("Oslo", "Bergen", "Turku", "Aarhus", "Malmö", "Tampere", "Odense", "Uppsala")
_FIRST: Final = ("Ada", "Bo", "Carla", "Dag", "Elin", "Finn", "Greta", "Hugo", "Ida", "Jonas", "Karin", "Lars")
_LAST: Final = ("Berg", "Dahl", "Ek", "Falk", "Grahn", "Holm", "Lind", "Moen", "Nyberg", "Strand", "Vik", "Ås")
_AUTHORS: Final = ("mira", "noor", "otto", "pia", "quirin")
_BEGINNING: Final = datetime(2026, 1, 5, 8, 0, 0)
_SIZES: Final = MappingProxyType({"customers": 160, "orders": 420, "tickets": 140, "deployments": 180, "lines": 500})


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the tools of the tasks read; `sources` is all that they change."""

    customers: Sequence[Row]
    """Ids `C-101` on, names, cities, tiers."""
    orders: Sequence[Row]
    """Ids `O-5001` on; no two totals are the same."""
    tickets: Sequence[Row]
    """Ids `T-301` on, with the words of customers."""
    deployments: Sequence[Row]
    """Ids `D-801` on, by time."""
    logs: Mapping[str, str]
    """The name of a service to the lines of its log."""
    sources: dict[str, str]
    """The path of a file to its text."""


def make_world(seed: int = 0, size: float = 1.0) -> World:
    """Return the world of a seed; the same seed and size give the same one.

    Args:
        seed: Of everything that is made.
        size: 1.0: lists of 140 to 420 records, which are 5,000 to 40,000 tokens of JSON; at least 0.2.

    Raises:
        ValueError: the size is below 0.2 or above 20.
    """
    if not 0.2 <= size <= 20:
        raise ValueError(f"expected a size from 0.2 to 20, found {size!r}")
    chance = random.Random(f"{seed} {size}")
    counts = {name: int(count * size) for name, count in _SIZES.items()}
    customers = [_customer(chance, number) for number in range(counts["customers"])]
    ids = [customer["id"] for customer in customers]
    deployments = [_deployment(chance, number) for number in range(counts["deployments"])]
    return World(
        customers=customers,
        orders=_orders(chance, counts["orders"], ids),
        tickets=[_ticket(chance, number, ids) for number in range(counts["tickets"])],
        deployments=deployments,
        logs={name: log_of(chance, name, counts["lines"], _last_success(deployments, name)) for name in SERVICES},
        sources=source_files(chance),
    )


def _customer(chance: random.Random, number: int) -> Row:
    first, last = chance.choice(_FIRST), chance.choice(_LAST)
    return {
        "id": f"C-{101 + number}",
        "name": f"{first} {last}",
        "email": f"{first}.{last}.{101 + number}@example.com".lower(),
        "city": chance.choice(_CITIES),
        "tier": chance.choices(("basic", "silver", "gold"), (5, 3, 2))[0],
        "since": f"{chance.randrange(2015, 2026)}-{chance.randrange(1, 13):02}",
        "newsletter": chance.random() < 0.4,
    }


def _orders(chance: random.Random, count: int, customers: Sequence[str]) -> list[Row]:
    totals = chance.sample(range(900, 250_000), count)
    return [
        {
            "id": f"O-{5001 + number}",
            "customer_id": chance.choice(customers),
            "placed": _day(chance),
            "status": chance.choices(STATUSES, (5, 5, 2, 1, 1))[0],
            "items": chance.randrange(1, 12),
            "total": cents / 100,
            "warehouse": chance.choice(WAREHOUSES),
            "carrier": chance.choice(("posten", "bring", "dhl")),
            "note": chance.choice(("", "", "ring twice", f"leave with neighbour {chance.choice(_FIRST)} {number}")),
        }
        for number, cents in enumerate(totals)
    ]


def _ticket(chance: random.Random, number: int, customers: Sequence[str]) -> Row:
    product = chance.choice(PRODUCTS)
    return {
        "id": f"T-{301 + number}",
        "customer_id": chance.choice(customers),
        "opened": _day(chance),
        "severity": chance.choices(("low", "normal", "critical"), (4, 5, 2))[0],
        "product": product,
        "state": chance.choice(("open", "waiting", "closed")),
        "text": ticket_text(chance, product, number),
    }


def _deployment(chance: random.Random, number: int) -> Row:
    at = _BEGINNING + timedelta(hours=19 * number, minutes=chance.randrange(60))
    return {
        "id": f"D-{801 + number}",
        "service": SERVICES[number % len(SERVICES)],
        "version": f"{1 + number // 60}.{number % 60}.{chance.randrange(9)}",
        "at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "author": chance.choice(_AUTHORS),
        "result": chance.choices(("success", "failed", "rolled back"), (6, 2, 1))[0],
        "seconds": 100 + 7 * number + chance.randrange(7) + chance.choice((0, 0, 2_000)),
    }


def _last_success(deployments: Sequence[Row], service: str) -> str:
    """Return when the service was last deployed before its log begins."""
    return str([row["at"] for row in deployments if row["service"] == service][-3])


def _day(chance: random.Random) -> str:
    return f"2026-{chance.randrange(1, 7):02}-{chance.randrange(1, 29):02}"
