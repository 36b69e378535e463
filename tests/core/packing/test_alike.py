"""Columns that repeat something: the strings of a column, or the cells of another one."""

import pytest

from accp_core.packing.alike import pack_affixes, pack_keys, pack_same_columns, unpack_affixes
from accp_core.packing.columns import pack_keyed_rows, pack_table, unpack_table
from accp_core.packing.expansion import size_of, table_size
from accp_core.packing.tree import KEY, Affixed, Column, Constant, SameColumn, Table

DAYS = ["2026-05-01", "2026-05-12", "2026-05-30", "2026-05-31"]


@pytest.mark.parametrize(
    ("texts", "before", "behind"),
    [
        (DAYS, "2026-05-", ""),
        (["ana@example.com", "ben@example.com", "cyd@example.com"], "", "@example.com"),
        (["https://a.example/x/1.html", "https://a.example/x/22.html", "https://a.example/"], "https://a.example/", ""),
        (["ORD-701 (unpaid)", "ORD-72 (unpaid)", "ORD-703 (unpaid)"], "ORD-", " (unpaid)"),
        (["--------1", "--------", "--------2", "--------3"], "--------", ""),
    ],
)
def test_what_strings_have_in_common_ends_between_words(texts: list[str], before: str, behind: str) -> None:
    packed = pack_affixes(list(texts))
    assert packed is not None
    assert (packed.before, packed.behind) == (before, behind)
    assert unpack_affixes(packed) == texts


@pytest.mark.parametrize(
    "values",
    [
        [],
        DAYS[:2],
        [*DAYS, None],
        [*DAYS, 1],
        [*DAYS, "2027"],
        ["a-1", "a-2", "a-3", "a-4"],
        ["prefixed01", "prefixed02", "prefixed03", "prefixed04"],
        ["2026-*-01", "2026-*-02", "2026-*-03", "2026-*-04", "2026-*-05"],
    ],
)
def test_what_saves_hardly_anything_stays(values: list[object]) -> None:
    assert pack_affixes(values) is None


def test_a_column_is_the_same_as_the_first_one_with_its_strings() -> None:
    columns: dict[str, Column] = {
        "a": list(DAYS),
        "n": [1, 2, 3, 4],
        "b": list(DAYS),
        "c": list(DAYS),
        "d": Constant(1),
    }
    pack_same_columns(columns)
    assert columns == {
        "a": DAYS,
        "n": [1, 2, 3, 4],
        "b": SameColumn("a"),
        "c": SameColumn("a"),
        "d": Constant(1),
    }


def test_the_column_key_is_never_what_another_one_is_the_same_as() -> None:
    columns: dict[str, Column] = {KEY: list(DAYS), "b": list(DAYS), "c": list(DAYS)}
    pack_same_columns(columns)
    assert columns == {KEY: DAYS, "b": DAYS, "c": SameColumn("b")}


def test_columns_with_the_keys_of_the_rows_name_no_other_column() -> None:
    columns: dict[str, Column] = {"a": list(DAYS), "b": SameColumn("a"), "c": [1, 2, 3, 4]}
    pack_keys(columns, DAYS)
    assert columns == {"a": SameColumn(KEY), "b": SameColumn(KEY), "c": [1, 2, 3, 4]}


def test_rows_keep_a_cell_besides_their_key() -> None:
    table = pack_keyed_rows({day: {"day": day, "id": 7} for day in DAYS})
    assert table is not None
    assert table.columns == {"day": DAYS, "id": Constant(7)}
    assert pack_keyed_rows({day: [day] for day in DAYS}) is None


def test_a_table_with_the_same_column_twice_is_unpacked() -> None:
    rows: list[object] = [{"a": day, "n": 1, "b": day} for day in DAYS]
    table = pack_table(rows)
    assert table is not None
    assert table.columns["b"] == SameColumn("a")
    assert unpack_table(table) == rows


def test_what_a_column_repeats_counts() -> None:
    packed = Affixed("2026-05-", "Z", ["01", "02"])
    assert table_size(packed, 2) == 2 * 9
    whole = table_size(Table({"a": unpack_affixes(packed)}, None, 2), 0)
    assert table_size(Table({"a": packed}, None, 2), 0) == whole + 2 * 9
    again = table_size(Table({"a": packed, "b": SameColumn("a")}, None, 2), 0)
    assert again >= 2 * table_size(Table({"a": packed}, None, 2), 0) + size_of(packed.values)
