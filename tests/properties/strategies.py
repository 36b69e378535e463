"""Hypothesis strategies for the types of the core: values, envelopes, frames."""

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from accp_core import Envelope, Frame, Ref, serialize_frame
from accp_core.accp import REMOVED, Intent, LiteralKey
from accp_core.accp.frame import FIELD_NAMES

DELIMITERS = "@>:{}[]|$,~\\"
ALPHABET = "abcxyzABC0123456789_"

# Without pairs of surrogates, which JSON cannot tell from one character (see `joins`).
characters = st.characters(exclude_categories=[]) | st.sampled_from(
    DELIMITERS + ' "=_%-+.\n\x00\x7f\xa0\u2028\ufeffé中😀'
)
LOOKALIKES = 'true false null ~ -0 007 1.50 00.5 +1 1e5 NaN =1 =null "q" 5%20x _x20_ @a:b $1 [] {}'
lookalikes = st.sampled_from(LOOKALIKES.split())
strings = (st.text(characters, max_size=8) | lookalikes).filter(lambda text: not joins(text))


def joins(text: str) -> bool:
    """Return whether two surrogates in `text` would become one character in JSON."""
    return any("\ud800" <= high < "\udc00" <= low < "\ue000" for high, low in pairwise(text))


def names(alphabet: str) -> st.SearchStrategy[str]:
    """Return short words with the characters of `alphabet`."""
    return st.text(alphabet, min_size=1, max_size=8)


keys = names(ALPHABET) | strings
literal_keys = st.sampled_from(["d", "f", "nx", "q", "schema", "_", "tool", "x"]).map(LiteralKey)
refs = names(ALPHABET + ".").map(Ref)
integers = st.integers() | st.integers(min_value=-(10**40), max_value=10**40)
floats = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**9), 10**9).map(lambda whole: whole / 64)
decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30)


def values(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return values of any depth; references only up to the level where a frame allows them."""
    scalars = st.none() | st.booleans() | integers | numbers | strings

    def deeper(members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.lists(members, max_size=4) | st.dictionaries(keys, members, max_size=4)

    shallow = scalars | refs
    for _ in range(3):
        shallow = shallow | deeper(shallow)
    return shallow | st.recursive(scalars, deeper, max_leaves=12)


def deltas(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return changes to a state, some of which remove a key."""
    return st.dictionaries(keys, values(numbers) | st.just(REMOVED), max_size=4)


field_texts = st.text(
    st.characters(categories=["L", "N", "P", "S"], exclude_characters="\x7f"), min_size=1, max_size=12
)
counts = st.integers(0, 2**40)


@st.composite
def envelopes(draw: st.DrawFn, texts: st.SearchStrategy[str] = field_texts) -> Envelope:
    """Draw an envelope with any of the fields."""
    fields: dict[Any, st.SearchStrategy[Any]] = {
        "msg_id": texts,
        "sequence": counts,
        "timestamp": counts,
        "correlation_id": texts,
        "causation_id": texts,
        "session_id": texts,
        "ttl": counts,
        "extra": st.dictionaries(keys.filter(is_extra), texts, max_size=2),
    }
    return Envelope(**draw(st.fixed_dictionaries({}, optional=fields)))


def is_extra(name: str) -> bool:
    """Return whether `name` is not a field of Table 4."""
    return name not in FIELD_NAMES


@st.composite
def frames(
    draw: st.DrawFn, numbers: st.SearchStrategy[Any] = floats, texts: st.SearchStrategy[str] = field_texts
) -> Frame:
    """Draw a frame, sometimes one with a delta."""
    intent = draw(st.sampled_from(Intent))
    operation = draw(names(ALPHABET) | st.just("state"))
    params: dict[str, Any] = draw(st.dictionaries(keys | literal_keys, values(numbers), max_size=4))
    params.pop("delta", None)
    if (intent, operation) == ("sync", "state") or draw(st.booleans()):
        intent, operation = Intent.SYNCHRONIZE, "state"
        params["delta"] = draw(deltas(numbers))
    sender = draw(names(ALPHABET + "-"))
    return Frame(sender=sender, intent=intent, operation=operation, params=params, envelope=draw(envelopes(texts)))


ascii_texts = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=12)
PIECES = r"a k: true null 1 @a @a>req:op{ sync:state delta:{ [mid: =\[ %C3 _x é"
pieces = st.sampled_from([*DELIMITERS, *'"=%_-.0 ', "\ud800", *PIECES.split()])
heavy_texts = st.lists(pieces, max_size=20).map("".join)
framed_texts = heavy_texts.map(lambda payload: f"@a>req:op{{k:{payload}}}")


@st.composite
def edited_texts(draw: st.DrawFn) -> str:
    """Draw a text that is one edit away from a frame."""
    text = serialize_frame(draw(frames()))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(start + 2, len(text))))
    return text[:start] + draw(pieces | characters | st.just("")) + text[end:]


texts = st.text() | heavy_texts | framed_texts | edited_texts()
