"""The prose of the made world: tickets, logs and source files, each with a few places that a task asks for."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Final

__all__ = ["FUNCTIONS", "NEEDLES", "SETTINGS", "log_of", "source_files", "ticket_text"]

NEEDLES: Final = {
    7: "The shop assistant Ragnhild promised me a voucher with the code {code} for the broken handle.",
    12: "By the way, the parcel smelled of diesel and the customs form named the vessel {code}.",
    17: "My neighbour's account was charged instead of mine, which the bank confirmed under case {code}.",
    21: "I own the bakery at the old lighthouse and need the replacement before the festival.",
}
"""The number of a ticket to a sentence that stands in no other one."""
_COMPLAINTS: Final = (
    "The {product} arrived with a scratch on its left side.",
    "I have waited for my {product} since the beginning of the month.",
    "Your courier left the {product} in the rain and the box is soaked.",
    "The {product} works, but the manual is in a language that I cannot read.",
    "I ordered a {product} in green and received a grey one.",
)
_REQUESTS: Final = (
    "Please send a replacement to the address on my account.",
    "I would rather have my money back than wait any longer.",
    "Could somebody call me in the afternoon, but not on Wednesdays?",
    "A photograph is attached, in which the damage can be seen well.",
    "This is the second time that I write about it, and nobody has answered.",
    "If you need the receipt, I can send it again.",
)
_PATHS: Final = ("GET /items", "GET /cart", "POST /cart", "GET /health", "POST /pay", "GET /stock")
_ERRORS: Final = (
    "connection reset by the gateway, attempt 2",
    "database is locked, retried",
    "cannot read configuration, using defaults",
)
SETTINGS: Final = ("retry_limit", "backoff_limit", "pool_size", "queue_depth", "batch_size", "page_limit")
"""The settings that each configuration file has."""
FUNCTIONS: Final = ("shipping_fee", "vat_rate", "refund_window", "loyalty_bonus", "packing_weight", "stock_reserve")
"""The functions of the source files, two in each."""
_MODULES: Final = ("pricing", "returns", "warehouse")


def ticket_text(chance: random.Random, product: str, number: int) -> str:
    """Return the words of a customer."""
    sentences = [chance.choice(_COMPLAINTS).format(product=product), *chance.sample(_REQUESTS, 3)]
    if number in NEEDLES:
        sentences.insert(2, NEEDLES[number].format(code=f"{chance.choice('KLMNP')}{chance.randrange(1000, 9999)}"))
    return " ".join(sentences)


def log_of(chance: random.Random, service: str, lines: int, deployed: str) -> str:
    """Return the log of a service; errors begin an hour after `deployed`, and two lines stand there once."""
    at = datetime.strptime(deployed, "%Y-%m-%dT%H:%M:%SZ") - timedelta(minutes=lines)
    first_error = lines + 60
    expiry = (
        f"certificate of {service}.internal expires on 2026-{chance.randrange(7, 13):02}-{chance.randrange(1, 29):02}"
    )
    durations = chance.sample(range(3, 4 * lines), lines)
    found = []
    for number in range(lines):
        minute = number * 3
        words = f"req-{chance.randrange(16**5):05x} {chance.choice(_PATHS)} 200 {durations[number]} ms"
        level = "INFO"
        if minute > first_error and chance.random() < 0.06:
            level, words = "ERROR", chance.choice(_ERRORS)
        if chance.random() < 0.01:
            level, words = "WARN", f"timeout while calling {chance.choice(('stock', 'ledger', 'mail'))}"
        if number == lines // 2:
            level, words = "WARN", expiry
        when = at + timedelta(minutes=minute, seconds=chance.randrange(60))
        found.append(f"{when:%Y-%m-%dT%H:%M:%SZ} {level} [{service}] {words}")
    return "\n".join(found) + "\n"


def source_files(chance: random.Random) -> dict[str, str]:
    """Return the path of each file to its text: configuration files and modules of Python."""
    configurations = {f"config/{name}.cfg": _configuration(chance, name) for name in ("checkout", "payments", "search")}
    modules = {
        f"shop/{name}.py": _module(chance, name, FUNCTIONS[2 * number : 2 * number + 2])
        for number, name in enumerate(_MODULES)
    }
    return {**configurations, **modules}


def _configuration(chance: random.Random, name: str) -> str:
    fillers = [
        f"{word}_{part}_{kind} = {chance.randrange(10, 900)}  # set by operations for {part}"
        for word in ("cache", "worker", "session", "mail")
        for part in ("north", "south", "harbour", "office")
        for kind in ("seconds", "size", "retries")
    ]
    chance.shuffle(fillers)
    for number, setting in enumerate(SETTINGS):
        fillers.insert(5 + number * 7, f"{setting} = {chance.randrange(10, 90)}")
    return "\n".join([f"# The settings of {name}.", *fillers]) + "\n"


def _module(chance: random.Random, name: str, functions: tuple[str, ...]) -> str:
    parts = [f'"""The rules of {name}."""\n']
    for number in range(14):
        steps = "\n".join(
            f"    step_{step} = amount * {chance.randrange(2, 90)} // {chance.randrange(2, 9)}" for step in range(6)
        )
        parts.append(f"\n\ndef check_{name}_{number}(amount: int) -> int:\n{steps}\n    return step_5\n")
    for place, function in zip((4, 11), functions, strict=True):
        body = f"    if amount > {chance.randrange(100, 900)}:\n        return {chance.randrange(1_000, 9_999)}\n"
        parts.insert(place, f"\n\ndef {function}(amount: int) -> int:\n{body}    return {chance.randrange(10, 999)}\n")
    return "".join(parts)
