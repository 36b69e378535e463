"""Compresses the messages of one request: results become views and previews, also where other messages are missing.

LiteLLM sends the rows that it lets others rewrite: without the system prompt, the model's words, the user's last words
and the newest results, and with more of them from turn to turn. So what a result becomes depends on the results before
it alone, and what the model was sent once stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.messages import project_messages
from accp_adapters.policy import Policy
from accp_core.markers import unescape_markers
from accp_core.ports import TokenCounter
from accp_core.references import find_references, match_keys, replace_references
from accp_core.strict_json import compact_json

__all__ = ["RETRIEVE_TOOL", "Compression", "compress_messages", "hash_of", "key_of_hash"]

RETRIEVE_TOOL: Final = "headroom_retrieve"
"""The tool that LiteLLM gives the model where a response has `ccr_hashes`; its argument `hash` is one of them."""
_HASH: Final = re.compile(r"[0-9a-f]{24}")
_OPENING: Final = re.compile(rf"\b{FETCH_NAME} (?={_HASH.pattern}\b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """The messages of a request, compressed."""

    messages: list[dict[str, Any]]
    """As many as were given, in their order; those that did not change are the objects that were given."""
    tokens_before: int
    """The sum of the tokens of each message as compact JSON, as it was given, without what an array puts around it."""
    tokens_after: int
    """The same of the messages as they are now."""
    stored: dict[str, str]
    """The texts that the previews cite, by hash."""


def compress_messages(messages: Sequence[Any], *, policy: Policy, tool: str = RETRIEVE_TOOL) -> Compression:
    """Return messages with their results compressed; none gets larger, but for one that imitates our markers.

    Args:
        messages: Messages of OpenAI's Chat or Responses, or of Anthropic's; they may lack any others.
        policy: When a result becomes a preview; `cache_aware` depends on what is withheld, and should be False.
        tool: The name of the tool that a preview names, with the hash of the text.

    Raises:
        ValueError: A message is no JSON object with a role or a type; it names its index.
    """
    shown = project_messages(messages, policy=policy.excluding(tool), results_only=True)
    pairs = zip(messages, shown.messages, strict=True)
    tokens = [_Tokens(old, _named(new, old, tool, shown.stored), policy.counter) for old, new in pairs]
    texts = " ".join(compact_json(each.message) for each in tokens if each.message is not each.old)
    hashes = {hash_of(key): text for key, text in shown.stored.items()}
    return Compression(
        messages=[each.message for each in tokens],
        tokens_before=sum(each.before for each in tokens),
        tokens_after=sum(each.after for each in tokens),
        stored={name: text for name, text in hashes.items() if name in texts},
    )


class _Tokens:
    """A message as it was and as it is, with the tokens of both.

    The old one stays where the new one has more, unless it imitates our markers: then only the new one says so.
    """

    def __init__(self, old: Mapping[str, Any], new: Mapping[str, Any], counter: TokenCounter) -> None:
        self.old: Final = old
        self.before: Final = counter(compact_json(old))
        after = self.before if new is old else counter(compact_json(new))
        is_new = after < self.before or _has_escaped(old, new)
        self.message: Final[Any] = new if is_new else old
        self.after: Final = after if is_new else self.before


def _has_escaped(old: Any, new: Any) -> bool:
    """Return whether the new text marks an imitated marker as source text."""
    match new:
        case _ if new is old:
            return False
        case str():
            return new != old and unescape_markers(new) != new
        case list():
            return any(map(_has_escaped, old, new))
        case dict():
            return any(_has_escaped(old[name], each) for name, each in new.items())
    return False


def hash_of(key: str) -> str:
    """Return the key of a stored text as the 24 hexadecimal digits by which gateways know it."""
    return f"{int(key.rpartition('.')[2]):024x}"


def key_of_hash(written: str) -> str | None:
    """Return the key that belongs to a hash of `hash_of`; None if `written` is no such hash."""
    return f"cold.{int(written, 16):029d}" if _HASH.fullmatch(written) else None


def _named(node: Any, old: Any, tool: str, stored: Mapping[str, str]) -> Any:
    """Return a message in which previews name `tool` and a hash; what is as it was stays."""
    match node:
        case _ if node is old:
            return node
        case str() if find_references(node):
            hashes = {name: hash_of(key) for name, key in match_keys(find_references(node), stored).items()}
            named = replace_references(node, hashes.get)
            return _OPENING.sub(f"{tool} ", named)
        case list():
            return [_named(each, before, tool, stored) for each, before in zip(node, old, strict=True)]
        case dict():
            return {name: _named(each, old[name], tool, stored) for name, each in node.items()}
    return node
