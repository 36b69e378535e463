"""Secrets in the texts of messages, found by their keys and by their form, and hidden before a text is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from accp_core.accp.debug.redaction import DEFAULT_REDACTION, HIDDEN_VALUE, Redaction

__all__ = ["hide_secrets", "secrets_in"]

_PAIR: Final = re.compile(
    r"""(?<![\w.-])(?P<key>[\w.-]{3,64}+)\\{0,3}["']?[ \t]{0,3}[:=][ \t]{0,3}"""
    r"""(?P<value>\\{0,3}"[^"\\\n]{1,400}|'[^'\n]{1,400}|(?:Bearer|Basic)[ ]+[^\s"'\\]{4,400}"""
    r"""|[^\s,;&"'{}\[\]\\]{1,400})"""
)
"""A key and its value, in JSON, in JSON within JSON, in headers, in query strings and in settings."""
_FORMS: Final = re.compile(
    r"\b(?:sk-[\w-]{16,200}|gh[pousr]_\w{20,200}|github_pat_\w{20,200}|xox[abprs]-[\w-]{10,200}|AKIA[0-9A-Z]{16}"
    r"|eyJ[\w-]{8,1000}\.[\w-]{8,2000}\.[\w-]{8,1000})"
    r"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\w+/=\s\\]{0,8000}"
    r"|(?<=://)[^\s/:@]{0,100}:[^\s/@]{1,200}(?=@)"
)
"""API keys of well-known services, JSON web tokens, private keys, name and password in a URL."""
_SCHEMES: Final = re.compile(r"(?:Bearer|Basic) +", re.IGNORECASE)
_MIN_ALONE: Final = 5
"""Characters of a value that is hidden wherever it stands; a shorter one is hidden behind its key only."""
_MAX_SECRETS: Final = 500
_PLAIN: Final = frozenset({"false", "none", "null", "string", "true", "undefined"})
"""Values that are no secret."""


def secrets_in(text: str, redaction: Redaction = DEFAULT_REDACTION) -> frozenset[str]:
    """Return the values of `text` whose keys `redaction` hides, and what looks like a key, at most 500."""
    found: set[str] = set()
    for secret in _found(text, redaction):
        found.add(secret)
        if len(found) >= _MAX_SECRETS:
            break
    return frozenset(found)


def hide_secrets(text: str, known: frozenset[str] = frozenset(), redaction: Redaction = DEFAULT_REDACTION) -> str:
    """Return `text` with "[redacted]" for its secrets and for those that are `known` from another form of it."""
    secrets = sorted((secret for secret in known | secrets_in(text, redaction)), key=len, reverse=True)
    text = _PAIR.sub(lambda pair: _hidden(pair, redaction), text)
    alone = "|".join(re.escape(secret) for secret in secrets if len(secret) >= _MIN_ALONE)
    return re.sub(alone, HIDDEN_VALUE, text) if alone else text


def _found(text: str, redaction: Redaction) -> Iterator[str]:
    yield from (match[0] for match in _FORMS.finditer(text))
    for pair in _PAIR.finditer(text):
        value = _value(pair)
        if redaction.hides(pair["key"]) and value.lower() not in _PLAIN:
            yield value


def _hidden(pair: re.Match[str], redaction: Redaction) -> str:
    value = _value(pair)
    if not redaction.hides(pair["key"]) or value.lower() in _PLAIN:
        return pair[0]
    return pair[0].removesuffix(value) + HIDDEN_VALUE


def _value(pair: re.Match[str]) -> str:
    return _SCHEMES.sub("", pair["value"].lstrip("\\\"'"))
