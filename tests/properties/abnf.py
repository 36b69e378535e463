"""A recogniser for the literal ABNF, made of the draft's own words; it shares nothing with the parser."""

import re

# ACCP section 3.1, verbatim but for "safe-char = VCHAR except delimiter", which is prose and a pattern below.
ABNF = r"""
frame       = header body [metadata]
header      = "@" agent-id ">" intent
body        = ":" operation "{" [payload] "}"
metadata    = "[" meta-pairs "]"
payload     = param *( "|" param )
param       = key ":" value
value       = typed-literal / array / map / ref / null
typed-literal = boolean / integer / decimal / string
boolean     = "true" / "false"
integer     = ["-"] 1*DIGIT
decimal     = ["-"] 1*DIGIT "." 1*DIGIT
string      = 1*( safe-char / escaped-char )
escaped-char = "\" delimiter
delimiter   = "@" / ">" / ":" / "{" / "}" / "[" / "]" / "|" / "$" / "," / "~" / "\"
null        = "~"
array       = "[" [ value *( "," value ) ] "]"
map         = "{" [ key ":" value *( "," key ":" value ) ] "}"
ref         = "$" ref-key
meta-pairs  = param *( "," param )
agent-id    = 1*( ALPHA / DIGIT / "-" / "_" )
intent      = 1*( ALPHA )
operation   = 1*( ALPHA / DIGIT / "_" )
key         = 1*( ALPHA / DIGIT / "_" )
ref-key     = 1*( ALPHA / DIGIT / "_" / "." )
"""
CLASSES = {
    "ALPHA": re.compile("[A-Za-z]"),
    "DIGIT": re.compile("[0-9]"),
    "safe-char": re.compile(r"[!-~](?<![@>:{}\[\]|$,~\\])"),
}
TOKEN = re.compile(r'"([^"]*)"|([A-Za-z-]+)|(1?\*)|([\[\]()/])')
RULES = {
    name: tuple(found[0] for found in TOKEN.finditer(body))
    for name, body in re.findall(r"^([a-z-]+) *= (.*)$", ABNF, flags=re.MULTILINE)
}


Ends = frozenset[int]


def is_frame(text: str) -> bool:
    """Return whether the ABNF has `text`, trying every way to read it."""
    return len(text) in Recogniser(text).alternation(("frame",), frozenset({0}))


class Recogniser:
    """The ends that each part of the grammar can have in one text, given where it can start."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.known: dict[tuple[str, int], Ends] = {}

    def alternation(self, tokens: tuple[str, ...], starts: Ends) -> Ends:
        return frozenset[int]().union(*(self.concatenation(choice, starts) for choice in split(tokens)))

    def concatenation(self, tokens: tuple[str, ...], starts: Ends) -> Ends:
        while tokens and starts:
            repeat = tokens[0] if tokens[0] in ("*", "1*") else ""
            tokens = tokens[1:] if repeat else tokens
            size = element_size(tokens)
            ends = self.repetition(tokens[:size], starts) if repeat else self.element(tokens[:size], starts)
            starts = ends | starts if repeat == "*" else ends
            tokens = tokens[size:]
        return starts

    def repetition(self, tokens: tuple[str, ...], starts: Ends) -> Ends:
        ends: Ends = frozenset()
        while starts := self.element(tokens, starts) - ends:
            ends |= starts
        return ends

    def element(self, tokens: tuple[str, ...], starts: Ends) -> Ends:
        first = tokens[0]
        if first in "[(":
            return self.alternation(tokens[1:-1], starts) | (starts if first == "[" else frozenset())
        if first.startswith('"'):
            literal = first[1:-1]
            return frozenset(start + len(literal) for start in starts if self.text.startswith(literal, start))
        return frozenset[int]().union(*(self.rule(first, start) for start in starts))

    def rule(self, name: str, start: int) -> Ends:
        if name in CLASSES:
            return frozenset({start + 1} if CLASSES[name].match(self.text, start) else ())
        if (name, start) not in self.known:
            self.known[name, start] = self.alternation(RULES[name], frozenset({start}))
        return self.known[name, start]


def element_size(tokens: tuple[str, ...]) -> int:
    """Return how many tokens the first element has: one, or a bracket with all it holds."""
    depth = 0
    for size, token in enumerate(tokens, 1):
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(token, 0)
        if not depth:
            return size
    raise AssertionError(tokens)


def split(tokens: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the alternatives that slashes outside brackets divide."""
    choices: list[tuple[str, ...]] = [()]
    while tokens:
        size = element_size(tokens)
        if tokens[0] == "/":
            choices.append(())
        else:
            choices[-1] += tokens[:size]
        tokens = tokens[size:]
    return choices
