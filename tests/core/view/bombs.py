"""Short view texts that stand for more than memory holds, or for far more than a text may expand to."""

from typing import Final

__all__ = ["BOMBS"]

_ONES: Final = f"[{', '.join(['1'] * 1000)}]"
_NAMES: Final = " ".join(f"k{number}=1" for number in range(1000))
_CONSTANTS: Final = "[:(a=" * 12 + "1" + ") b: " + "]) b: ".join([";".join("1" * 12)] * 12) + "]"

BOMBS: Final[dict[str, str]] = {
    "a repeated array": f"k1 &1 {_ONES}\nk2 [{', '.join(['*1'] * 5000)}]",
    "a repeated string": f"a &1 {'y' * 100_000}\nb [{', '.join(['*1'] * 5000)}]",
    "a repeated map of one long key": f"a &1 {{{'k' * 100_000} 1}}\nb [{', '.join(['*1'] * 5000)}]",
    "repetitions of repetitions": "a &1 [x, x]\n"
    + "\n".join(f"k{n} &{n} [{', '.join([f'*{n - 1}'] * 10)}]" for n in range(2, 20)),
    "a repetition before its value": f"b [{', '.join(['*1'] * 5000)}]\nk1 &1 {_ONES}",
    "repeated rows": f"[5001] a b\n&1: {'x' * 10_000} 1\n" + "\n".join(["*1"] * 5000),
    "repeated cells": f"[5000] a b\n1 &1 {_ONES}\n" + "\n".join(["1 *1"] * 4999),
    "constant columns": f"[3000] ({_NAMES}) b\n" + "\n".join("1" * 3000),
    "a constant of many members": f"[3000] (a={_ONES}) b\n" + "\n".join("1" * 3000),
    "a constant of many characters": f"[3000] (a={'y' * 30_000}) b\n" + "\n".join("1" * 3000),
    "a long key": f"[3000] {'k' * 30_000}\n" + "\n".join("1" * 3000),
    "constants in constants": _CONSTANTS,
    "constants in constants that are repeated": f"[&1 x, {_CONSTANTS}]",
    "constants in nested headers": f"[3000] a{{b{{({_NAMES}) d}} (c=1)}}\n" + "\n".join("1" * 3000),
    "constants in lists of rows": f"[2] a[({_NAMES}) b]\n" + "\n".join([f"[{';'.join('1' * 3000)}]"] * 2),
    "constants in a keyed table": f"{{3000}} key: ({_NAMES}) b\n" + "\n".join(f"{n} 1" for n in range(3000)),
    "a repetition in a constant": f"[&1 {_ONES}, [:(a=*1) b: {';'.join('1' * 5000)}]]",
    "an address in many others": f"a {'y' * 30_000}\n" + "\n".join(f"k{n}=${{a}}/b" for n in range(3000)),
    "an address in columns": f"[3000] (a={'y' * 3000} {' '.join(f'k{n}=${{a}}' for n in range(30))}) b\n"
    + "\n".join("1" * 3000),
    "a column in another one": "[1] a (" + " ".join(f"k{n}=${{a}}" for n in range(3000)) + f")\n{'y' * 30_000}",
    "documents in documents": "a " + "!json " * 150 + '"x"',
    "a document that is repeated": f"a &1 !json4 {_ONES}\nb [{', '.join(['*1'] * 5000)}]",
    "a document of repetitions": f"a !json0 [&1 {_ONES}, {', '.join(['*1'] * 5000)}]",
    "an indented document of many levels": f"a !json4 {'[' * 150}{_ONES}{']' * 150}",
}
"""Name to text."""
