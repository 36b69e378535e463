"""Tasks over texts: needles in prose and logs, files that are read again after an edit, chains of calls."""

from __future__ import annotations

import re
from typing import Final

from integrations.agent_tasks.prose import SETTINGS
from integrations.agent_tasks.task import Maker, Task
from integrations.agent_tasks.world import Row, World

__all__ = ["TEXT_TASKS", "ticket_with"]


def ticket_with(world: World, words: str) -> Row:
    """Return the ticket whose text contains some words."""
    return next(row for row in world.tickets if words in row["text"])


def _after(text: str, words: str) -> str:
    """Return the word that follows `words` in a text, without the point at its end."""
    return text.partition(words)[2].split()[0].rstrip(".")


def _value(text: str, name: str) -> int:
    return int(re.findall(rf"(?m)^{re.escape(name)} = (\d+)", text)[0])


def _voucher(world: World) -> Task:
    words = "In one ticket a customer was promised a voucher for a broken handle. What is its code?"
    text = ticket_with(world, "voucher with the code")["text"]
    return Task.of("voucher", "needle", words, _after(text, "voucher with the code"))


def _vessel(world: World) -> Task:
    ticket = ticket_with(world, "named the vessel")
    words = "One ticket names the vessel of a parcel that smelled of diesel. What is the id of that ticket's customer?"
    return Task.of("vessel", "needle", words, str(ticket["customer_id"]))


def _certificate(world: World) -> Task:
    words = "On which day expires the certificate that the log of {service} warns of? Write it as in the log."
    answer = _after(world.logs["checkout"], "expires on")
    return Task.of("certificate", "needle", words, answer, asks={"service": "checkout"})


def _timeouts(world: World) -> Task:
    count = sum("timeout while calling" in line for line in world.logs["payments"].splitlines())
    words = "How many lines of the log of {service} report a timeout?"
    return Task.of("timeouts", "count", words, count, asks={"service": "payments"})


def _neighbour(world: World) -> Task:
    noted = [row for row in world.orders if row["note"].startswith("leave") and row["status"] == "sent"]
    row = noted[len(noted) // 2]
    words = "With which neighbour is the order {order} to be left? Write the name alone, without the number behind it."
    return Task.of("neighbour", "needle", words, str(row["note"].split()[3]), asks={"order": row["id"]})


def _suspect(world: World) -> Task:
    log = world.logs["inventory"].splitlines()
    first = next(line for line in log if " ERROR " in line)[:20]
    before = [row for row in world.deployments if row["service"] == "inventory" and row["at"] < first]
    words = "Who deployed {service} last before the first line with ERROR in its log? Look at all deployments."
    return Task.of("suspect", "join", words, str(before[-1]["author"]), asks={"service": "inventory"})


def _baker_mail(world: World) -> Task:
    customer = ticket_with(world, "bakery at the old lighthouse")["customer_id"]
    city = next(row["city"] for row in world.customers if row["id"] == customer)
    words = "In which city does the customer live who writes in a ticket of a bakery at an old lighthouse?"
    return Task.of("baker_city", "chain", words, str(city))


def _vat(world: World) -> Task:
    text = world.sources["shop/pricing.py"]
    body = text.partition("def vat_rate(")[2]
    words = "Which number does the function {function} of our source files return for the amount 1000000?"
    answer = int(re.findall(r"(?m)^        return (\d+)", body)[0])
    return Task.of("vat_rate", "chain", words, answer, asks={"function": "vat_rate"})


def _edit_setting(world: World) -> Task:
    path, name, other = "config/checkout.cfg", SETTINGS[0], SETTINGS[3]
    old, after = _value(world.sources[path], name), _value(world.sources[path], other)
    words = (
        "Read {path}, change {name} from {old} to {new}, and read the file again. What is the sum of {name} and "
        "{other} then?"
    )
    asks = {"path": path, "name": name, "other": other, "old": old, "new": old + 7}
    changed = {path: f"{name} = {old + 7}"}
    return Task.of("edit_setting", "edit", words, old + 7 + after, asks=asks, expected_sources=changed)


def _edit_two_files(world: World) -> Task:
    first, second, name = "config/payments.cfg", "config/search.cfg", SETTINGS[2]
    value = _value(world.sources[second], name)
    words = (
        "Make {name} in {first} what it is in {second}, by an edit of {first}. Read {first} again afterwards. What is "
        "the product of {name} and {other} in {first}?"
    )
    factor = _value(world.sources[first], SETTINGS[4])
    asks = {"name": name, "first": first, "second": second, "other": SETTINGS[4]}
    changed = {first: f"{name} = {value}"}
    return Task.of("edit_two_files", "edit", words, value * factor, asks=asks, expected_sources=changed)


def _edit_function(world: World) -> Task:
    path, name = "shop/returns.py", "refund_window"
    body = world.sources[path].partition(f"def {name}(")[2]
    limit = int(re.findall(r"if amount > (\d+):", body)[0])
    last = int(re.findall(r"(?m)^    return (\d+)", body)[0])
    words = (
        "In {path}, let {name} compare the amount with {new} instead of {old}. Read the file again. Which number does "
        "{name} return for the amount 0?"
    )
    asks = {"path": path, "name": name, "old": limit, "new": limit + 1_000}
    changed = {path: f"    if amount > {limit + 1_000}:"}
    return Task.of("edit_function", "edit", words, last, asks=asks, expected_sources=changed)


TEXT_TASKS: Final[tuple[Maker, ...]] = (
    _voucher,
    _vessel,
    _certificate,
    _timeouts,
    _neighbour,
    _suspect,
    _baker_mail,
    _vat,
    _edit_setting,
    _edit_two_files,
    _edit_function,
)
