"""The table of a workflow of one's own: what it may say, and where it is wrong."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from accp_core.aacp import FallbackEncoder, InstructionRegistry, workflow_from_dict
from accp_core.errors import EncodeError, ProtocolError

RATES = r"""
name = "month_end"
[steps.fetch_rates]
task = "FETCH"
domain = "FIN"
return = "FIN-Agent"
[steps.fetch_rates.fields]
res = "fx_rates"
period = "{period}"
filter = "pair={pair}[,desk={desk}]"
fmt = "{formats}"
subj = "{why}"
[steps.fetch_rates.defaults]
desk = "london"
formats = ["json"]
why = ""

[sayings.parts]
rates = "(exchange|fx) rates"
wanted = "<rates>|rates"
[sayings.choices.desk]
london = "london [desk]"
paris = "paris [desk]"
[sayings.forms]
pair = ['([A-Z]{3})/?([A-Z]{3})', '\1\2']
[sayings.vocabularies]
why = "month end close of"
[[sayings.steps.fetch_rates]]
needs = ["<fetch>", "<wanted>", "[of|for] {pair}"]
may = ["<period>", "(from|for) {desk}", "as {formats:format*}", "because of {why}"]
"""


def packet(english: str) -> dict[str, str] | None:
    encoder = FallbackEncoder(InstructionRegistry(), workflows=[workflow_from_dict(tomllib.loads(RATES))])
    try:
        return dict(encoder.encode(english, domain="FIN", return_agent="A").packet.fields)
    except EncodeError as error:
        assert error.code == "E4001"
        return None


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("Fetch the fx rates of EUR/USD for August 2024.", {"filter": "pair=EURUSD", "fmt": "json"}),
        (
            "Could you get me the exchange rates for gbpusd from the Paris desk, Q3 2024?",
            {"filter": "pair=gbpusd,desk=paris"},
        ),
        ("Get rates of EURUSD for 2024-08 as Excel and PDF", {"fmt": "xlsx,pdf"}),
        ("Get rates of EURUSD for 2024-08 because of month end close", {"subj": "month_end_close"}),
        ("Get rates of EURUSD for 2024-08 because of the close of", None),
        ("Get rates of EURUSD for 2024-08 because of weather", None),
        ("Get rates of EURUSD", None),
        ("Do not get rates of EURUSD for 2024-08", None),
        ("Get rates of EURUSD for 2024-08 from the Rome desk", None),
    ],
)
def test_a_table_of_one_s_own_is_read_as_the_built_in_ones(english: str, said: dict[str, str] | None) -> None:
    found = packet(english)
    assert (found is None) == (said is None)
    assert (said or {}).items() <= (found or {}).items()


def own(**sections: Any) -> dict[str, Any]:
    steps = {"s": {"task": "FETCH", "domain": "HR", "return": "A", "fields": {"res": "{x}"}}}
    return {"name": "own", "steps": steps, "sayings": sections}


def ways(*needs: Any, **more: Any) -> dict[str, Any]:
    return own(steps={"s": [{"needs": list(needs), **more}]})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (own(words={}), "sayings: expected choices, forms, parts, steps, vocabularies, found words"),
        (own(parts=[]), r"sayings.parts: expected a table of values of type str, found \[\]"),
        (own(parts={"a": 3}), "sayings.parts: expected a table of values of type str"),
        (own(parts={"a": "<b>", "b": "x"}), "expected the name of a part, found 'b'"),
        (own(parts={"a": "x " * 10_000, "b": "<a> <a>"}), "expected a phrase of at most 20000 characters"),
        (own(choices={"c": "x"}), "sayings.choices: expected a table of values of type Mapping"),
        (own(choices={"c": {"a": 3}}), "expected phrases as text, found"),
        (own(choices={"c": {"a": "{period}"}}), r"expected a kind of value that the table has"),
        (own(forms={"f": ["(", "x"]}), "expected a regular expression and what it stands for"),
        (own(forms={"f": ["x"]}), "expected a regular expression and what it stands for"),
        (own(forms={"f": [1, "x"]}), "expected a regular expression and what it stands for"),
        (own(forms={"f": ["x", "\\1"]}), "expected a regular expression and what it stands for"),
        (own(forms={"f": ["x", 1]}), "expected a regular expression and what it stands for"),
        (own(steps={"s": [3]}), "sayings.steps.s: expected a table of needs and optionally may, found 3"),
        (ways(), "sayings.steps.s: expected a table of needs"),
        (ways("get", color=1), "sayings.steps.s: expected a table of needs"),
        (own(steps={"s": [{"needs": "get"}]}), "sayings.steps.s: expected lists of groups"),
        (ways(3), "sayings.steps.s: expected lists of groups"),
        (own(steps={"t": [{"needs": ["get"]}]}), "sayings.steps.t: expected a step and its arguments"),
        (ways("get {y:period}"), r"sayings.steps.s: expected a step and its arguments, found \['y'\]"),
        (ways("get {x}"), "expected a kind of value that the table has, two names for money, found '{x}'"),
        (ways("get {x:money}"), "two names for money, found '{x:money}'"),
        (ways("get {x,y:period}"), "two names for money, found '{x,y:period}'"),
        (ways("[get]"), "expected words, {slot}"),
        (ways("(" * 30 + "a" + ")" * 30), "expected words, {slot}"),
        (ways("a " * 2_000), "expected words, {slot}"),
    ],
)
def test_a_table_without_meaning_is_refused_where_it_is_wrong(data: dict[str, Any], reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason) as refusal:
        FallbackEncoder(InstructionRegistry(), workflows=[workflow_from_dict(data)])
    assert refusal.value.code == "E1004"
