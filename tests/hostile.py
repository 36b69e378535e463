"""Inputs that attack the readers of the core: what each is, what reads it, and how it must end.

`tests/core/test_security.py` checks the end, the work and the memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final

from accp_core import parse_frame, read, render_text
from accp_core.accp import Frame
from accp_core.accp.codec import Codec
from accp_core.accp.debug import describe
from accp_core.accp.schema import SchemaRegistry
from tests.core.view.bombs import BOMBS

__all__ = ["ATTACKS", "Attack"]

MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One hostile input."""

    name: str
    """What the input is, in a few words."""
    build: Callable[[], Any]
    """Makes the input; that work is not counted."""
    read: Callable[[Any], object]
    """The function that reads the input."""
    ends: str
    """The code of the refusal, or "read" where the input is odd but harmless."""
    calls: int = 600_000
    """Function calls that reading it may take, besides four for each character."""
    memory: int = 1_000_000
    """Bytes of memory that reading it may take, besides 32 for each character."""


def payload(value: str) -> Callable[[], str]:
    """Return what makes a frame with this value."""
    return lambda: f"@a>req:op{{k:{value}}}"


def exact(text: str) -> object:
    """Read a frame with decimals of any size."""
    return parse_frame(text, decimal_type=Decimal)


def decode(text: str) -> object:
    """Read a frame and find its meaning."""
    return Codec(counter=len).decode(text)


def restore(text: str) -> object:
    """Render a tool's result."""
    return render_text(text, counter=len).restore()


def say(frame: Frame) -> object:
    """Describe a frame in debug mode."""
    return describe(frame)


def nested(levels: int) -> object:
    """Return an array within arrays."""
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def registry_with(default: Callable[[], object]) -> Callable[[], Any]:
    """Return what makes the JSON of a registry whose only default is that."""
    schema = {"code": "X", "version": 1, "fields": ["a"]}
    return lambda: {"schemas": {"x": {**schema, "defaults": {"a": default()}}}}


def attack(
    name: str, ends: str, build: Callable[[], Any], read: Callable[[Any], object] = parse_frame, **allowed: int
) -> Attack:
    """Return an attack on the parser, or on whatever `read` is."""
    return Attack(name=name, build=build, read=read, ends=ends, **allowed)


ATTACKS: Final = (
    # Depth
    attack("a million nested arrays", "E1001", payload("[" * MILLION)),
    attack("350,000 nested maps", "E1001", payload("{a:" * 349_000)),
    attack("350,000 nested pairs", "E1001", payload("[a:" * 349_000)),
    attack("a JSON literal of 500,000 nested arrays", "E1001", payload("=" + r"\[" * 500_000)),
    attack("a JSON literal of 300,000 open strings", "read", payload("=" + r'"\\' * 300_000)),
    attack("a view of a million nested arrays", "E1001", lambda: "[" * MILLION, read),
    attack("a tool's result of a million nested arrays", "read", lambda: "[" * MILLION, restore),
    attack(
        "a schema's default of 100,000 nested arrays",
        "E1004",
        registry_with(lambda: nested(100_000)),
        SchemaRegistry.from_json,
    ),
    # Numbers
    attack("10 MB of one digit", "E1001", payload("7" * 10 * MILLION)),
    attack("a million digits", "E1001", payload("7" * MILLION)),
    attack("a million places", "E1001", payload("0." + "7" * MILLION)),
    attack("a million digits in a JSON literal", "read", payload("=" + "7" * MILLION)),
    attack("an exponent of ten digits", "E1001", payload("=1e9999999999"), exact),
    attack("an exponent that is tiny", "E1001", payload("=1e-9999999999"), exact),
    attack("a sequence of a million digits", "E1001", lambda: f"@a>req:op{{}}[mid:m,seq:{'7' * MILLION}]"),
    attack("a million digits in a view", "E1001", lambda: "a " + "7" * MILLION, read),
    # Counts
    attack("520,000 elements", "E1001", payload(f"[{'1,' * 520_000}1]")),
    attack("120,000 parameters", "E1001", lambda: f"@a>req:op{{{'|'.join(f'k{n}:1' for n in range(120_000))}}}"),
    attack(
        "100,000 fields of metadata", "E1001", lambda: f"@a>req:op{{}}[{','.join(f'k{n}:1' for n in range(100_000))}]"
    ),
    attack("10 MB of a frame that is well-formed", "E1001", payload("x" * 10 * MILLION)),
    attack(
        "a JSON literal of 80,000 members",
        "read",
        payload("=" + r"\{" + r"\,".join(rf'"k{n}"\:1' for n in range(80_000)) + r"\}"),
    ),
    attack("9,999 references", "read", payload(f"[{','.join(f'$k{n}' for n in range(9_998))}]"), decode),
    # A view may stand for 250,000 values, however short it is.
    *[
        attack(f"a view that expands: {name}", "E2003", partial(str, text), read, memory=2_500_000)
        for name, text in BOMBS.items()
    ],
    attack(
        "a frame of 9,999 parameters in debug mode",
        "read",
        lambda: parse_frame(f"@a>req:op{{{'|'.join(f'k{n}:1' for n in range(9_999))}}}"),
        say,
    ),
    # Keys
    attack("one key 9,999 times", "E1001", lambda: f"@a>req:op{{{'|'.join(['k:1'] * 9_999)}}}"),
    attack("a key of a million letters", "read", lambda: f"@a>req:op{{{'k' * MILLION}:1}}"),
    attack("a key of 200,000 escapes", "read", lambda: f"@a>req:op{{{'_x41_' * 200_000}:1}}"),
    attack("a key of 300,000 half escapes", "read", lambda: f"@a>req:op{{{'_x' * 300_000}:1}}"),
    attack("a code point beyond Unicode in a key", "E1001", lambda: "@a>req:op{_x110000_:1}"),
    attack("an abbreviation and its full key", "E1001", lambda: "@a>req:op{d:1|data:2}", decode),
    # Strings
    attack("a million backslashes", "read", payload("\\\\" * 500_000)),
    attack("340,000 percent escapes", "read", payload(f'"{"%41" * 340_000}"')),
    attack("a quoted form without end", "read", payload('"' + "\\@" * 500_000)),
    attack("overlong UTF-8", "read", payload('"%C0%AF"')),
    attack("bytes that are no UTF-8", "read", payload('"%F5%80%80%80"')),
    attack("a quoted line feed", "read", payload('"%0A\\@b\\>cancel\\:op\\{\\}"')),
    # Letters that look like others
    attack("a line feed", "E1001", lambda: "@a>req:op{}\n@b>req:op{}"),
    attack("a NUL", "E1001", payload("a\0b")),
    attack("a byte order mark", "E1001", lambda: "\ufeff@a>req:op{}"),
    attack("a line separator in the header", "E1001", lambda: "@a\u2028>req:op{}"),
    attack("a full-width colon", "E1001", lambda: "@a>req\uff1aop{}"),
    attack("a Cyrillic letter in an agent's name", "E1001", lambda: "@\u0430dmin>req:op{}"),
    attack("a long s in an intent", "E1001", lambda: "@a>\u017fync:state{}"),
    attack("a dotted capital I in an intent", "E1001", lambda: "@a>wa\u0130t:op{}"),
    attack("an intent in capitals", "E1002", lambda: "@a>REQ:op{}"),
    attack("Arabic digits in a sequence", "E1004", lambda: "@a>req:op{}[mid:m,seq:\u0661]"),
    attack("a superscript digit in a sequence", "E1004", lambda: "@a>req:op{}[mid:m,seq:\u00b2]"),
    attack("Arabic digits in a value", "read", payload("\u0661\u0662")),
    attack("text that runs from right to left", "read", payload("\u202eabc")),
    attack("a lone surrogate", "E1001", payload("\ud800")),
    attack("300,000 combining marks", "read", payload("e" + "\u0301" * 300_000)),
)
"""All of them."""
