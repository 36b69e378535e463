"""Where the values of an answer come from."""

import json
from collections import Counter

import pytest

from accp_core.receipts import ClaimKind, Origin, Receipt, check
from accp_core.receipts.claims import claims_in
from accp_core.receipts.moments import moments_in
from tests.work import grows_in_proportion

ORDERS = json.dumps(
    {
        "orders": [
            {"id": "SO-1001", "customer": "Ann Lee", "city": "Oslo", "total": 120.5, "pieces": 40, "note": None},
            {"id": "SO-1002", "customer": "Bo Park", "city": "Oslo", "total": 99.25, "pieces": 15, "note": "late"},
            {"id": "SO-1003", "customer": "Cy Dahl", "city": "Bergen", "total": 1300.0, "pieces": 11, "note": None},
            *(
                {"id": f"SO-{2000 + n}", "customer": f"C{n}", "city": "Ghent", "total": n / 8, "pieces": n, "note": "-"}
                for n in range(13)
            ),
        ]
    },
    indent=1,
)
LOG = "Feb 17 21:22:45 host sshd: 12345 bytes\nseen on 2026-03-04T09:15:00Z by v2.14.3, 87ms, path /srv/app/main.py\n"
CSV = "id,amount,rate\nP90183,1200,0.125\nP90211,350,0.5\nP90372,17,0.0625\n"
MAIL = "Please note: the “red door” stays closed until Monday.\nCall +47 22 33, all 1,234,567 of us, or use LS-320/092."
NOTES = json.dumps({"notes": [{"size": 100 + (n > 2), "note": "x" if n > 18 else None} for n in range(21)]})
SHOWN = [ORDERS, LOG, CSV, MAIL, NOTES]


def origins(answer: str) -> list[tuple[str, str]]:
    return [(receipt.text, receipt.origin.value) for receipt in check(answer, SHOWN)]


def only(answer: str, request: str = "") -> Receipt:
    (receipt,) = check(answer, SHOWN, request=request)
    return receipt


@pytest.mark.parametrize(
    "value",
    [
        *("SO-1002", "120.50", "1,300", "$1300", "12,345", "1234567", "1200", "350", "87ms", "87 ms", "v2.14.3"),
        *("LS-320/092", "Feb 17", "17 February 2026", "February 17th, 21:22", "4 March 2026", "2026-03-04 09:15"),
        *("3/4/2026", "4.3.2026", "9:15 AM", "21:22", "/srv/app/main.py", '"The Red Door stays closed"', "`SO-1001`"),
        *("“red door … until Monday.”", '"4 March 2026"', "12.5%", "50 %", "1.2k", "1.3K"),
    ],
)
def test_a_value_that_was_shown_is_found_in_each_spelling(value: str) -> None:
    assert [origin for _, origin in origins(f"It is {value} here")] in (["shown"], ["derived"])


@pytest.mark.parametrize(
    ("value", "nearest"),
    [
        ("SO-1009", "SO-1001"),
        ("1,301", "1300"),
        ("12,346", "12345"),
        ("v2.14.4", "v2.14.3"),
        ("LS-320/192", "LS-320/092"),
        ("2026-04-03", "2026-03-04"),
        ("2026-13-99", "2026-03-04"),
        ("Feb 18", "Feb 17 21:22:45"),
        ("21:23", "Feb 17 21:22:45"),
        ("QX77412", ""),
        ('"the blue door stays open"', "Please note: the “red door” stays closed until Monday."),
        ('"no such words at all"', ""),
        ("007", ""),
    ],
)
def test_an_error_stands_nowhere_and_the_nearest_value_is_named(value: str, nearest: str) -> None:
    receipt = only(f"It is {value} here")
    assert (receipt.origin, receipt.nearest.startswith(nearest), bool(receipt.nearest)) == (
        Origin.NOWHERE,
        True,
        bool(nearest),
    )


@pytest.mark.parametrize(
    ("answer", "derivation"),
    [
        ("There are 16 orders.", "count of orders"),
        ("13 of the orders go to Ghent.", "count of orders where city=ghent"),
        ("14 of the orders have no note.", ""),
        ("They come to 1529.5 in all.", "sum of total"),
        ("19 of them have no note.", "count of notes without note"),
        ("Oslo took 219.75.", "sum of 2 values"),
        ("Ghent took 9.75.", "sum of total where city=ghent"),
        ("`SO-1001` is 21.25 above `SO-1002`.", "120.5 - 99.25"),
        ("`SO-1001` and `SO-1002` make 55 pieces.", "40 + 15"),
        ("P90183 has 850 more than P90211.", "1200 - 350"),
        ("350 of 1200 is 29.2%.", "350 / 1200"),
        ("With 1200, 350 and 17 that makes 1,567.", "sum of 3 values"),
        ("With 12345, 1200 and 350 that makes 13,895.", "sum of 3 values"),
    ],
)
def test_a_count_a_sum_a_difference_or_a_share_is_derived(answer: str, derivation: str) -> None:
    derived = [receipt.derivation for receipt in check(answer, SHOWN) if receipt.origin is Origin.DERIVED]
    assert derived == [derivation] if derivation else not derived


def test_a_count_above_a_bound_and_without_a_value_is_derived_from_the_request() -> None:
    receipt = only("There are 19.", request="How many have a size over 1 and are without a note?")
    assert (receipt.origin, receipt.derivation) == (Origin.DERIVED, "count of notes with size and without note")
    receipt = only("There are 18.", request="How many have a size over 100?")
    assert (receipt.origin, receipt.derivation) == (Origin.DERIVED, "count of notes with size and where size>100")


def test_a_value_of_another_row_is_not_told_from_the_right_one() -> None:
    assert origins("SO-1001 comes to 1300") == [("SO-1001", "shown"), ("1300", "shown")]


def test_what_the_agent_wrote_itself_is_named_so() -> None:
    (receipt,) = check("It is in report_77.csv", SHOWN, own=['{"path":"report_77.csv"}'])
    assert receipt.origin is Origin.OWN


def test_plain_words_labels_and_numbers_of_one_digit_are_not_checked() -> None:
    assert check('Here are 3 of them, nothing else. {"label": true}', SHOWN) == ()


def test_a_receipt_says_what_and_where_the_value_is() -> None:
    answer = "Take SO-1009, please."
    receipt = only(answer)
    assert (receipt.kind, receipt.text) == (ClaimKind.ID, "SO-1009")
    assert answer[receipt.start :].startswith(receipt.text)


def test_no_more_than_a_thousand_values_are_checked() -> None:
    assert len(check("SO-1001 " * 2_000, SHOWN)) == 1_000


def test_values_in_escaped_json_are_found() -> None:
    block = json.dumps([{"type": "text", "text": json.dumps({"rows": [{"id": "A-17", "note": 'a "quoted" word'}]})}])
    assert next(each.origin for each in check('A-17 says "a "', [block])) is Origin.SHOWN
    assert Counter(each.origin for each in check("“a 'quoted' word”", [block])) == {Origin.SHOWN: 1}


def test_times_with_seconds_and_halves_of_the_day() -> None:
    assert [each.origin for each in check("at 2:30 pm, at 12:05 am and at 12:05 pm", ["14:30:09 and 00:05"])] == [
        Origin.SHOWN,
        Origin.SHOWN,
        Origin.NOWHERE,
    ]


@pytest.mark.parametrize(
    ("date", "days"),
    [
        ("2026-03-04", {(2026, 3, 4)}),
        ("03/04/2026", {(2026, 3, 4), (2026, 4, 3)}),
        ("17.2.2026", {(2026, 2, 17)}),
        ("17/Feb/2026", {(2026, 2, 17)}),
        ("the 2nd of May", {(None, 5, 2)}),
        ("2026-13-13", set()),
    ],
)
def test_a_date_is_read_in_each_order(date: str, days: set[object]) -> None:
    assert {moment[:3] for moment in moments_in(date)} == days


def test_a_table_of_too_many_rows_is_not_counted() -> None:
    rows = "\n".join(["id,kind", *(f"{n},x" for n in range(20_001))])
    assert only_in("There are 20003 rows.", rows) is Origin.NOWHERE


def only_in(answer: str, text: str) -> Origin:
    (receipt,) = check(answer, [text])
    return receipt.origin


@pytest.mark.parametrize("part", ["A/", "A-", "1,", "1.", '"', "“", "Jan", "Jan 1", "1:", "a@", "`a", "2026-", "1 %"])
def test_a_long_run_takes_no_quadratic_time(part: str) -> None:
    assert grows_in_proportion(lambda size: list(claims_in(part * size)), 1_000)


@pytest.mark.parametrize("cell", ["nan", "NaN", "-inf", "Infinity", "9e999999", "1e-999999999", "-" + "9" * 50])
def test_what_is_no_usual_number_is_no_error(cell: str) -> None:
    shown = [json.dumps([{"n": cell, "m": 5}, {"n": cell, "m": 7.5}, {"n": "4", "m": 99}])]
    found = check("Above 12 the sum of n and m is 1234.", shown, request="the sum of n above 3 and m below 50")
    assert [(receipt.text, receipt.origin) for receipt in found][-1] == ("1234", Origin.NOWHERE)


def test_a_number_of_many_digits_is_no_error() -> None:
    long = "0.1212345678901234567890123456789"
    (receipt,) = check("It is 12.123456789012345678901234567890 %.", [long])
    assert receipt.origin is Origin.NOWHERE
    (receipt,) = check("It is 12.12 %.", [long])
    assert receipt.derivation == f"{long} rounded"
