"""Other encodings of JSON for models, each run and read back here; those that are not installed are left out.

`make bench-peers` installs all of them into an environment of their own.
"""

import importlib
import importlib.util
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accp_core.packing.values import is_same_json
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = ["PEERS", "Measured", "Outcome", "installed", "measure", "outcome_of"]

Encoder: TypeAlias = Callable[[Any, TokenCounter], tuple[str, Any]]
"""Returns the text of a value and the value that the same library reads from it."""


class Outcome(StrEnum):
    """What a library reads from the text that it wrote."""

    SAME = "same"
    """The same value, with its keys in their order."""
    REORDERED = "reordered"
    """The same value with other orders of keys."""
    CHANGED = "changed"
    """Another value; such a text is no peer of a lossless one."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The tokens that a peer takes for a value."""

    name: str
    tokens: int
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another encoding."""

    package: str
    module: str
    encode: Encoder


def bpp(value: Any, count: TokenCounter) -> tuple[str, Any]:
    """Encode by bpp, which may reorder keys."""
    module = importlib.import_module("bpp")
    text = module.dumps(value)
    return text, module.loads(text)


def bpp_in_order(value: Any, count: TokenCounter) -> tuple[str, Any]:
    """Encode by bpp with its option to keep the order of keys."""
    module = importlib.import_module("bpp")
    text = module.dumps(value, keep_order=True)
    return text, module.loads(text)


def headroom(value: Any, count: TokenCounter) -> tuple[str, Any]:
    """Encode by headroom's lossless mode, as the result of a tool."""
    os.environ["HEADROOM_TELEMETRY"] = "off"
    module = importlib.import_module("headroom")
    call = {"id": "c", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Fetch it."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": compact_json(value)},
    ]
    text = module.densify(messages, protect_recent=0).messages[-1]["content"]
    expanded = module.expand_compacted(text)
    return text, json.loads(text) if expanded is None else expanded


def terse(value: Any, count: TokenCounter) -> tuple[str, Any]:
    """Encode by terse with JSON inside strings opened; its guard counts the tokens that are measured here."""
    module = importlib.import_module("terse.transforms")
    module.count_cl100k = count
    text = module.compress_with(value, embedded=True)
    return text, module.decompress(text)


def tokenfold(value: Any, count: TokenCounter) -> tuple[str, Any]:
    """Encode by tokenfold."""
    module = importlib.import_module("tokenfold")
    payload = bytes(module.compress(compact_json(value).encode(), format=module.InputFormat.JSON).payload)
    return payload.decode(), json.loads(bytes(module.decode(payload)))


def toon(value: Any, count: TokenCounter) -> tuple[str, Any]:
    """Encode by TOON's library in Python."""
    module = importlib.import_module("toon_format")
    text = module.encode(value)
    return text, module.decode(text)


def tron(value: Any, count: TokenCounter) -> tuple[str, Any]:
    """Encode by TRON."""
    module = importlib.import_module("tron")
    text = module.stringify(value)
    return text, module.parse(text)


def trimtok(value: Any, count: TokenCounter) -> tuple[str, Any]:
    """Encode by trimtok's tables; compact JSON where it writes none."""
    module = importlib.import_module("trimtok.toon_codec")
    text = module.encode(value)
    return (compact_json(value), value) if text is None else (text, module.toon_decode(text))


def zon(value: Any, count: TokenCounter) -> tuple[str, Any]:
    """Encode by ZON."""
    module = importlib.import_module("zon")
    text = module.encode(value)
    return text, module.decode(text)


PEERS: Final[Mapping[str, Peer]] = MappingProxyType(
    {
        "bpp": Peer(package="bpp-format", module="bpp", encode=bpp),
        "bpp, in order": Peer(package="bpp-format", module="bpp", encode=bpp_in_order),
        "headroom": Peer(package="headroom-ai", module="headroom", encode=headroom),
        "terse": Peer(package="terse-mcp", module="terse", encode=terse),
        "tokenfold": Peer(package="tokenfold", module="tokenfold", encode=tokenfold),
        "TOON": Peer(package="toon-format", module="toon_format", encode=toon),
        "TRON": Peer(package="tron-python", module="tron", encode=tron),
        "trimtok": Peer(package="trimtok", module="trimtok", encode=trimtok),
        "ZON": Peer(package="zon-format", module="zon", encode=zon),
    }
)


def installed() -> dict[str, str]:
    """Return the packages of the peers that are installed, with their versions."""
    found = {peer.package for peer in PEERS.values() if importlib.util.find_spec(peer.module)}
    return {package: version(package) for package in sorted(found)}


def measure(value: Any, count: TokenCounter) -> Iterator[Measured]:
    """Yield what compact JSON and each installed peer take for `value`."""
    yield Measured("compact JSON", count(compact_json(value)), Outcome.SAME)
    packages = installed()
    for name, peer in PEERS.items():
        if peer.package in packages:
            text, read = peer.encode(value, count)
            yield Measured(name, count(text), outcome_of(read, value))


def outcome_of(read: Any, value: Any) -> Outcome:
    """Return what became of `value`."""
    if is_same_json(read, value):
        return Outcome.SAME
    return Outcome.REORDERED if is_same_json(_in_order(read), _in_order(value)) else Outcome.CHANGED


def _in_order(value: Any) -> Any:
    """Return a value with sorted keys."""
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(each) for each in value] if isinstance(value, list) else value
