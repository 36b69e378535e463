"""Payloads of frames, read by the letter of sections 3.1 and 3.1.1."""

import re
from typing import Any

__all__ = ["read_payload", "write_string"]

_TOKEN = re.compile(r"[|,:\[\]{}$~]|(?:\\[@>:{}\[\]|$,~\\]|[^@>:{}\[\]|$,~\\ \t\n])+")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def read_payload(body: str) -> dict[str, Any]:
    """Return the parameters of a payload; a reference is its text with the `$`."""
    tokens = _TOKEN.findall(body)
    assert "".join(tokens) == body, body
    return _members(["{", *tokens, "}"], "|") if tokens else {}


def write_string(text: str) -> str:
    """Return a string with its delimiters escaped."""
    return re.sub(r"[@>:{}\[\]|$,~\\]", lambda found: f"\\{found[0]}", text)


def _members(tokens: list[str], separator: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    assert tokens.pop(0) == "{"
    while tokens[0] != "}":
        key, colon = tokens.pop(0), tokens.pop(0)
        assert colon == ":" and key not in found, key
        found[key] = _value(tokens)
        assert tokens[0] == "}" or tokens.pop(0) == separator, tokens
    tokens.pop(0)
    return found


def _value(tokens: list[str]) -> Any:
    if tokens[0] == "{":
        return _members(tokens, ",")
    token = tokens.pop(0)
    if token == "[":
        items = []
        while tokens[0] != "]":
            items.append(_value(tokens))
            assert tokens[0] == "]" or tokens.pop(0) == ",", tokens
        tokens.pop(0)
        return items
    if token == "$":
        return f"${tokens.pop(0)}"
    if token in ("~", "true", "false"):
        return {"~": None, "true": True, "false": False}[token]
    assert token not in "|,:]}", token
    if number := _NUMBER.fullmatch(token):
        return float(token) if number[1] else int(token)
    return re.sub(r"\\(.)", r"\1", token)
