"""Values like those that tools return, made in code: the same each time, none of them anybody's data."""

import json

CITIES = ["Lima", "Oslo", "Addis Ababa", "Porto", "Quito"]
NAMES = ["Ana Haas", "Ben Ode", "Cyd Ray", "Dora Lund", "Eli Marsh", "Fay Quint", "Gus Holt"]
WORDS = ["retry", "timeout", "accepted", "queued", "connection reset by peer", "cache miss"]


def user(number: int) -> dict[str, object]:
    name = NAMES[number % len(NAMES)]
    return {
        "id": 1000 + number,
        "login": name.lower().replace(" ", "."),
        "name": name,
        "url": f"https://api.example.org/users/{1000 + number}",
        "type": "User",
        "site_admin": False,
    }


def orders(count: int = 20) -> dict[str, object]:
    """Return orders with nested items, some with an optional key."""
    return {
        "orders": [
            {
                "id": f"ord_{7300 + number}",
                "customer": {"name": NAMES[number % 7], "city": CITIES[number % 5]},
                "items": [
                    {"sku": f"SKU-{number % 9}{item}", "quantity": item + 1, "price": 9.5 + item}
                    for item in range(number % 3 + 1)
                ],
                "currency": "EUR",
                "paid": number % 4 != 0,
                **({"coupon": "SPRING"} if number % 5 == 0 else {}),
            }
            for number in range(count)
        ],
        "next_page": None,
    }


def records(count: int = 40) -> list[dict[str, object]]:
    """Return flat records, as a query gives them."""
    return [
        {
            "employee_id": 100 + number,
            "full_name": NAMES[number % 7],
            "department": ["sales", "support", "engineering"][number % 3],
            "salary": 52000 + 137 * number,
            "active": number % 6 != 0,
        }
        for number in range(count)
    ]


def webhook() -> dict[str, object]:
    """Return an event that names one user in several places."""
    sender = user(3)
    return {
        "action": "opened",
        "pull_request": {
            "number": 88,
            "title": "Count the tokens of a whole job",
            "user": dict(sender),
            "assignee": dict(sender),
            "requested_reviewers": [user(1), user(2), dict(sender)],
            "labels": [{"name": "bug", "color": "d73a4a"}, {"name": "core", "color": "0e8a16"}],
        },
        "sender": dict(sender),
    }


def logs(count: int = 30) -> list[dict[str, object]]:
    """Return log entries with nested context."""
    return [
        {
            "ts": f"2026-03-01T10:{number % 60:02d}:00Z",
            "level": "ERROR" if number % 7 == 0 else "INFO",
            "service": "checkout",
            "message": f"{WORDS[number % 6]} ({number})",
            "context": {"host": f"node-{number % 4}", "attempt": number % 3},
        }
        for number in range(count)
    ]


def messages(count: int = 8) -> list[dict[str, object]]:
    """Return a list of messages that carry JSON in strings."""
    return [
        {
            "role": "tool",
            "tool_call_id": f"call_{number}",
            "content": json.dumps({"status": "ok", "rows": records(3), "page": number}),
        }
        for number in range(count)
    ]


def metrics(count: int = 12) -> dict[str, dict[str, object]]:
    """Return a map of maps."""
    return {
        f"node-{number}": {"cpu": 0.25 * number, "memory_mb": 512 + number, "zone": "eu-1", "healthy": True}
        for number in range(count)
    }


# Each payload with the most tokens that its view may take, in percent of its compact JSON: what it takes today and two.
PAYLOADS: dict[str, tuple[object, int]] = {
    "orders": (orders(), 45),
    "records": (records(), 44),
    "webhook": (webhook(), 51),
    "logs": (logs(), 58),
    "messages": (messages(), 19),
    "metrics": (metrics(), 46),
}
