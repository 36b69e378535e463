"""Hypothesis strategies for views: difficult JSON values, and texts that contain JSON or something like it."""

import json
from typing import Any

from hypothesis import strategies as st

from tests.properties.strategies import characters, joins

SIGNS = [
    *'[]{}:;,&*!="-\\ \n\t\r\x00\x01\x7f',
    ", ",
    "; ",
    ": ",
    '"""',
    '""""',
    '\n"""\n',
    '\n""""\n',
    "&1 ",
    "&1: ",
    "*1",
    "!json ",
    "!json0u ",
    "={",
    "${",
    "}",
    "=[",
    "[2] a b\n",
    "{2} key: a\n",
    "(a=1",
    ")",
    "[:a: ",
    "{:key: a: ",
    "[2]:\n",
    "[{\n",
    "}]",
    "\\u",
    "\ud800",
    "\x85",
    "\u2028",
    "\ufeff",
    "é",
    "中",
    "a",
    "b c",
    "1",
    "-1.5",
    "null",
]
LOOKALIKES = [
    "",
    "-",
    " ",
    "true",
    "null",
    "0",
    "-0",
    "007",
    "1.50",
    "1E5",
    "1e+22",
    "NaN",
    "True",
    "…",
    "to do:",
    "$5",
    "(none)",
    "*1",
    "&1 x",
    "!json [1]",
    "[1]",
    "{}",
    "a ",
    " a",
    '"""',
    "[:a: 1]",
    "{a 1}",
    "a, b",
    "a;b",
    "a]",
    "x\ny\nz\nw",
    '"a" "b" "c"\n"d"',
    'one\n"""\ntwo\nthree\nfour',
]
REPEATED = [
    "a text that is long enough to be shared",
    "another one, with a comma; and more",
    "lines\nthat\nare\nshared by many",
]
KEYS = [
    "id",
    "name",
    "a",
    "b",
    "a b",
    "",
    "-",
    "k=",
    "k:",
    "a,",
    "&1",
    "*1",
    "!x",
    "[",
    "{",
    '"',
    "true",
    "1",
    "é",
    "\n",
    "a-b",
]

signs = st.sampled_from(SIGNS)
short = st.lists(signs, max_size=5).map("".join) | st.text(characters, max_size=6)
strings = (st.sampled_from(LOOKALIKES) | short | st.sampled_from(REPEATED)).filter(lambda text: not joins(text))
keys = (st.sampled_from(KEYS) | short).filter(lambda text: not joins(text))
numbers = (
    st.integers(-(10**6), 10**6)
    | st.sampled_from([0.0, -0.0, 1.0, 1e22, 1e-7, 10**40, -(2**63), 0.1, 5e-324])
    | st.floats(allow_nan=False, allow_infinity=False)
)
scalars = st.none() | st.booleans() | numbers | strings


def rows(cells: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return lists and maps of maps with keys in common, some of them absent."""

    def filled(names: list[str]) -> st.SearchStrategy[Any]:
        row = st.fixed_dictionaries({names[0]: cells}, optional=dict.fromkeys(names[1:], cells))
        full = st.fixed_dictionaries(dict.fromkeys(names, cells))
        table = st.lists(full | row | full, min_size=2, max_size=5)
        return table | st.dictionaries(keys, full, min_size=2, max_size=4)

    return st.lists(keys, min_size=1, max_size=4, unique=True).flatmap(filled)


def events(cells: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return lists of maps of a few kinds, some with a key that few of them have."""

    def filled(names: list[str]) -> st.SearchStrategy[Any]:
        half = len(names) // 2
        one, other = names[: half + 1], names[half:]
        kinds = [st.fixed_dictionaries(dict.fromkeys(kind, cells)) for kind in (one, other)]
        rare = st.fixed_dictionaries(dict.fromkeys(one, cells), optional=dict.fromkeys(other[1:], cells))
        plain = st.lists(st.one_of(kinds), min_size=4, max_size=8)
        long = st.lists(kinds[0] | rare, min_size=4, max_size=6)
        return st.tuples(plain, long).map(lambda lists: [*lists[0], *lists[1]])

    return st.lists(keys, min_size=4, max_size=8, unique=True).flatmap(filled)


def documents(values: st.SearchStrategy[Any]) -> st.SearchStrategy[str]:
    """Return values written as JSON, in a style that can be packed or another."""
    indents = st.sampled_from([None, 0, 1, 2, 4, 7, "\t"])
    separators = st.sampled_from([None, (",", ":"), (", ", ":")])
    escapes = st.sampled_from([("", ""), ("/", "\\/"), ("<", "\\u003c"), ("=", "\\u003d")])
    return st.builds(
        lambda value, indent, separator, flag, escape: json.dumps(
            value, indent=indent, separators=separator, ensure_ascii=flag or not encodable(value)
        ).replace(*escape),
        values,
        indents,
        separators,
        st.booleans(),
        escapes,
    )


def encodable(value: Any) -> bool:
    """Return whether JSON in raw letters can carry `value`."""
    return not any("\ud800" <= sign < "\ue000" for sign in json.dumps(value, ensure_ascii=False))


def deeper(members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(members, max_size=4)
        | st.dictionaries(keys, members, max_size=5)
        | rows(members)
        | documents(members)
        | members.map(lambda member: [member, {"again": json.loads(json.dumps(member))}, member])
    )


small = st.recursive(scalars, deeper, max_leaves=4)
values = st.recursive(scalars, deeper, max_leaves=12) | rows(small) | events(scalars | st.dictionaries(keys, scalars))


@st.composite
def edited(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """Draw a text that is one edit away from one of `texts`."""
    text = draw(texts)
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(signs | st.just("")) + text[start + draw(st.integers(0, 2)) :]


around = st.sampled_from(["", "\n", " ", "\r\n", "Result: ", "prose\n", "\nmore", "\ufeff", "```\n", "x = "])
written = (
    documents(values)
    | values.map(repr)
    | st.lists(values, min_size=1, max_size=4).map(lambda lines: "\n".join(json.dumps(line) for line in lines))
    | documents(values).map(lambda text: f"meta=None content=[Text(type='text', text={text!r}, a=None)]")
)
sources = (
    st.builds(
        lambda before, text, between, other, after: before + text + between + other + after,
        around,
        written,
        around,
        st.just("") | written,
        around,
    )
    | st.text(characters)
    | st.lists(signs, max_size=20).map("".join)
)
all_sources = sources | edited(sources)
