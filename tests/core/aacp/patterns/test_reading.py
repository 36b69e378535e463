"""What patterns read in a text: tokens, periods, dates, money, names, identifiers; and what they leave to a model."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.aacp.patterns.english import PARTS
from accp_core.aacp.patterns.notation import read_phrase
from accp_core.aacp.patterns.sayings import expand, read_kinds
from accp_core.aacp.patterns.tokens import MAX_TOKENS, Sentence, read_sentence
from accp_core.aacp.patterns.values import (
    FoundValue,
    is_user,
    read_date,
    read_money,
    read_month_end,
    read_name,
    read_period,
    read_quoted,
)
from accp_core.aacp.tables.contracts import CONTRACT_SAYINGS
from accp_core.aacp.tables.invoices import INVOICE_SAYINGS
from accp_core.aacp.tables.payroll import PAYROLL_SAYINGS
from accp_core.aacp.tables.provisioning import PROVISIONING_SAYINGS


def parts(table: dict[str, Any]) -> dict[str, str]:
    known = dict(PARTS)
    for name, text in table["parts"].items():
        known[name] = expand(text, known)
    return known


def sentence(text: str) -> Sentence:
    found = read_sentence(text)
    assert found is not None
    return found


TABLES = (PAYROLL_SAYINGS, PROVISIONING_SAYINGS, INVOICE_SAYINGS, CONTRACT_SAYINGS)
KINDS = {name: read for table in TABLES for name, read in read_kinds(table, parts(table)).items()}


def slot(kind: str, text: str) -> list[tuple[str, FoundValue]]:
    """Return what a slot of this kind takes at the beginning: the rest of the text, and the value."""
    said = sentence(text)
    found = read_phrase(f"{{x:{kind}}}", KINDS).find(said, 0)
    return [(" ".join(token.source for token in said.tokens[end:]), values["x"]) for end, values in found]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Please get the A-17, a b.", ["get", "a-17", ",", "b", "."]),
        ("for group A", ["for", "group", "a"]),
        ("j.smith's account (PO-441)!", ["j.smith", "'s", "account", "(", "po-441", ")", "!"]),
        ("Traders' invoice", ["traders", "'s", "invoice"]),
        (
            "'needs sign off' \u2018yes\u2019 \u201cno\u201d",
            ["'", "needs", "sign", "off", "'", "'", "yes", "'", '"', "no", '"'],
        ),
        ("year-to-date PO-12 X-ray", ["year", "to", "date", "po-12", "x", "ray"]),
        ("' ok", ["'", "ok"]),
        ("", []),
    ],
)
def test_a_text_is_read_as_words_and_marks(text: str, words: list[str]) -> None:
    assert [token.word for token in sentence(text).tokens] == words


@given(st.text(max_size=99))
def test_every_token_stands_in_the_text_where_it_says(text: str) -> None:
    found = read_sentence(text)
    if found is not None:
        assert all(found.text[token.start : token.end] == token.source for token in found.tokens)
        assert all(token.source.strip() == token.source != "" for token in found.tokens)


def test_a_long_text_is_not_read() -> None:
    assert read_sentence("word " * MAX_TOKENS) is not None
    assert read_sentence("word " * (MAX_TOKENS + 1)) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-08", "2024-08"),
        ("2024/08", "2024-08"),
        ("8/2024", "2024-08"),
        ("August 2024", "2024-08"),
        ("aug. 2024", "2024-08"),
        ("Sept, 2024", "2024-09"),
        ("Q3 2024", "2024-Q3"),
        ("2024-Q3", "2024-Q3"),
        ("August", None),
        ("Q3", None),
        ("2024", None),
        ("2024-13", None),
        ("13/2024", None),
        ("August 24", None),
        ("last month", None),
        ("", None),
    ],
)
def test_a_period_has_a_year_and_a_month_or_quarter(text: str, value: str | None) -> None:
    found = read_period(sentence(text), 0)
    assert (found and found[1]) == value


@pytest.mark.parametrize(
    ("text", "value", "month"),
    [
        ("31 August 2024", "2024-08-31", "2024-08"),
        ("August 31st, 2024", "2024-08-31", "2024-08"),
        ("August 30 2024", "2024-08-30", None),
        ("2024-02-29", "2024-02-29", "2024-02"),
        ("2023-02-28", "2023-02-28", "2023-02"),
        ("2024-02-28", "2024-02-28", None),
        ("29 February 2023", None, None),
        ("29 February 2000", "2000-02-29", "2000-02"),
        ("2024-04-31", None, None),
        ("31 August", None, None),
        ("August the 31st", None, None),
        ("31 days", None, None),
        ("x", None, None),
    ],
)
def test_a_date_is_a_day_that_exists(text: str, value: str | None, month: str | None) -> None:
    date, end = read_date(sentence(text), 0), read_month_end(sentence(text), 0)
    assert (date and date[1]) == value
    assert (end and end[1]) == month


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("£4,200", ("4200", "GBP")),
        ("£ 4200.50", ("4200.50", "GBP")),
        ("US$1,250.50", ("1250.50", "USD")),
        ("£4,200 GBP", ("4200", "GBP")),
        ("$500 CAD", None),
        ("4200 GBP", ("4200", "GBP")),
        ("gbp 4,200", ("4200", "GBP")),
        ("4200EUR", ("4200", "EUR")),
        ("EUR4200", ("4200", "EUR")),
        ("980 euros", ("980", "EUR")),
        ("75 pounds sterling", ("75", "GBP")),
        ("75 dollars sterling", ("75", "USD")),
        ("(£500)", None),
        ("(£500, paid)", ("500", "GBP")),
        ("4.200,00 GBP", None),
        ("£4.2k", None),
        ("-£5", None),
        ("¥500", None),
        ("4200", None),
        ("GBP", None),
        ("12,34 EUR", None),
    ],
)
def test_an_amount_has_a_currency_and_one_meaning(text: str, value: tuple[str, str] | None) -> None:
    said = sentence(text)
    found = read_money(said, 1 if text.startswith("(") else 0)
    assert (found and tuple(found[1])) == value
    phrase = read_phrase("{amount,currency:money}", KINDS)
    captured = [values for _, values in phrase.find(said, 1 if text.startswith("(") else 0)]
    assert captured == ([{"amount": value[0], "currency": value[1]}] if value else [])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ABC Ltd for the new one", "ABC Ltd"),
        ("Smith & Sons for the new one", "Smith & Sons"),
        ("Acme Ltd. for the new one", "Acme Ltd"),
        ('"acme" for the new one', "acme"),
        ("Acme Ltd Today for the new one", "Acme Ltd"),
        ("Acme & for the new one", None),
        ("& Sons for the new one", None),
        ("One Two Three Four Five Six Seven for the new one", None),
        ("acme for the new one", None),
        ("ACME LTD BUT DO NOT PAY", None),
        ("Acme Ltd For The New One", None),
        ('"" for the new one', None),
        ('"one two three four five six seven eight" for it', None),
        ('" for the new one', None),
    ],
)
def test_a_name_has_capitals_in_a_text_that_has_other_words(text: str, name: str | None) -> None:
    found = read_name(sentence(text), 0)
    assert (found and found[1]) == name


def test_nothing_is_quoted_after_the_end() -> None:
    assert read_quoted(sentence("word"), 1) is None
    said = sentence("for the new one Acme Ltd.")
    assert read_name(said, 3) == (5, "Acme Ltd")


@pytest.mark.parametrize("word", ["j.smith", "J.Smith", "r_patel", "mbrown2", "JSmith", "a.b-c"])
def test_the_name_of_an_account_looks_like_no_plain_word(word: str) -> None:
    assert is_user(word)


@pytest.mark.parametrize("word", ["smith", "Smith", "nobody", "report.pdf", "example.com", "e.g", "GitHub", "j@co.com"])
def test_a_plain_word_a_file_and_an_address_are_no_account(word: str) -> None:
    assert not is_user(word)
    assert slot("account", word) == []


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("account", "'smith' now", [("now", "smith")]),
        ("account", "'john smith' now", []),
        ("login", "sjones now", [("now", "sjones")]),
        ("login", "everyone now", []),
        ("order", "PO-441.", [(".", "PO-441")]),
        ("order_number", "441.", [(".", "PO-441")]),
        ("order", "PO number", []),
        ("reference", "INV-2024-03", [("", "INV-2024-03")]),
        ("reference", "9921 from", [("from", "9921")]),
        ("reference", "2024-08", []),
        ("section", "7.2 of", [("of", "s7.2")]),
        ("section", "seven", []),
        ("clause", "7 of", [("of", "7")]),
        ("section_sign", "\u00a77 of", [("of", "s7")]),
        ("section_sign", "7 of", []),
        ("identifier", "ip_rights_restriction", [("", "ip_rights_restriction")]),
        ("issue", "Non-compete, high", [(", high", "non-compete")]),
        ("issue", "limitation of liability", [("", "limitation of liability")]),
        ("issue", "of liability", []),
        ("version", "v3", [("", "payroll_v3")]),
        ("version", "three", []),
        ("net", "net30", [("", "net30")]),
        ("days", "15 days x", [("days x", "net15")]),
        ("days_word", "15-day terms", [("terms", "net15")]),
        ("code*", "HRMS, FIN, and RPT, then", [(", then", ("HRMS", "FIN", "RPT"))]),
        ("code*", "hrms", []),
        ("zone*", "main entrance and the lab", [("", ("main_entrance", "lab"))]),
        ("recipient*", "finance and HR directors", [("", ("fin_director", "hr_director"))]),
        ("message", "for review", [("", "review_required")]),
        ("label", '"needs sign off"', [("", "needs_sign_off")]),
        ("month", "August 2024", [("", "2024-08")]),
        ("status", "needs review", [("", "review_required")]),
        ("format*", "PDF file for distribution and Excel", [("", ("pdf", "xlsx"))]),
        ("month_end", "31 August 2024", [("", "2024-08")]),
        ("month_end", "August 2024", []),
        ("date", "31 August 2024", [("", "2024-08-31")]),
    ],
)
def test_a_slot_takes_its_kind_of_value_and_nothing_else(
    kind: str, text: str, found: list[tuple[str, FoundValue]]
) -> None:
    assert slot(kind, text) == found
