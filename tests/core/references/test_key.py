"""The key of a stored text: what it depends on, and the three ways to write it."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core import references
from accp_core.references.key import KEY_BITS, is_hash_key, uri_to_key

KEY = "cold.70466794986036973513287136456"
OTHER = "cold.00000000000000000000000000007"

texts = st.text() | st.text(st.characters(exclude_categories=[]))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", KEY),
        ("a result", "cold.44248635772507619194520906753"),
        ("é 😀", "cold.69375633918218349339640332018"),
        ("\ud800", "cold.45076620719051792124045924375"),
    ],
)
def test_a_text_has_this_key_for_ever(text: str, key: str) -> None:
    assert references.key_of(text) == key


def test_a_key_is_the_first_96_bits_of_the_hash_in_decimal() -> None:
    assert KEY_BITS == 96
    assert int(references.key_of("a result").removeprefix("cold.")) == int(sha256(b"a result").hexdigest()[:24], 16)
    long = "\ud800 a \U0001f600 result" * 30_000
    whole = sha256(long.encode("utf-8", "surrogatepass")).hexdigest()
    assert int(references.key_of(long).removeprefix("cold.")) == int(whole[:24], 16)


@given(texts)
def test_every_key_has_one_form_and_one_length(text: str) -> None:
    assert is_hash_key(references.key_of(text))
    assert len(references.key_of(text)) == len("cold.") + 29


def test_a_pair_of_halves_is_another_text_than_the_character() -> None:
    assert references.key_of("\ud83d\ude00") != references.key_of("\U0001f600")


@pytest.mark.parametrize(
    "key",
    [
        "",
        "cold.",
        KEY[:-1],
        f"{KEY}0",
        f"{KEY}\n",
        f" {KEY}",
        f"${KEY}",
        KEY.upper(),
        KEY.replace("cold", "warm"),
        KEY[:-1] + "a",
        KEY[:-1] + "\u0663",
        "cold.c9523506b4bd",
    ],
)
def test_no_other_form_is_a_hash_key(key: str) -> None:
    assert not is_hash_key(key)


@given(texts, st.sampled_from(["{}", " {}\n", "${}", "\t${} ", "accp://cold/{}", " accp://cold/{}"]))
def test_the_key_is_read_from_every_way_to_write_it(text: str, form: str) -> None:
    key = references.key_of(text)
    assert references.parse_reference(form.format(key.removeprefix("cold.") if "://" in form else key)) == key
    assert references.uri_to_reference(
        references.reference_to_uri(references.reference_to(key))
    ) == references.reference_to(key)


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("", ""),
        ("$", ""),
        ("$warm.ckpt_1", "warm.ckpt_1"),
        ("accp://warm/ckpt_1", "warm.ckpt_1"),
        ("$$cold.1", "$cold.1"),
        (" the second result ", "the second result"),
        ("accp://cold/", "accp://cold/"),
        ("accp://cold/a/b", "accp://cold/a/b"),
        ("https://example.org/cold/1", "https://example.org/cold/1"),
    ],
)
def test_what_is_no_address_comes_back_as_it_is(written: str, key: str) -> None:
    assert references.parse_reference(written) == key


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("", []),
        ("no reference here", []),
        (KEY, [KEY]),
        (f"accp_fetch ${KEY}]", [KEY]),
        (f"see accp://{KEY.replace('.', '/')}, then ${OTHER}.", [KEY, OTHER]),
        (f"{OTHER} {KEY} ${OTHER}", [OTHER, KEY]),
        (f"結果は${KEY}です。{OTHER}も", [KEY, OTHER]),
        (f"{KEY}0", []),
        (f"{KEY}_", []),
        (f"x{KEY}", []),
        (f"_{KEY}", []),
        (KEY[:-1], []),
        (KEY[:17], [KEY[:17]]),
        (f"accp_fetch ${KEY[:17]}] accp://{KEY[:17].replace('.', '/')} ${KEY}", [KEY[:17], KEY]),
        (KEY[:16], []),
        (KEY[:18], []),
        (f"${KEY[:17]}.rows", [KEY[:17]]),
        (f"http://{KEY.replace('.', '/')}", []),
        ("$cold.c9523506b4bd $warm.ckpt_1", []),
    ],
)
def test_the_keys_in_a_text_are_found_once_and_in_order(text: str, keys: list[str]) -> None:
    assert references.find_references(text) == keys


@given(texts, texts, texts)
def test_a_reference_between_blanks_is_found_in_any_text(before: str, stored: str, after: str) -> None:
    for written in (references.reference_to, references.short_reference):
        (name,) = references.find_references(written(references.key_of(stored)))
        assert name in references.find_references(f"{before} {written(references.key_of(stored))} {after}")
        assert references.is_named(references.key_of(stored), [name])


def test_references_with_another_number_of_digits_are_mistyped() -> None:
    digits = KEY.removeprefix("cold.")
    written = f"from ${KEY}.rows, $cold.{digits[:12]}.rows, $cold.{digits[:11]}.rows, ${KEY}1 and $cold.c95, cold.12"
    assert references.mistyped_references(written) == [f"cold.{digits[:11]}", f"{KEY}1"]


def test_a_short_key_is_a_function_of_the_key_alone() -> None:
    assert references.short_key(KEY) == "cold.704667949860"
    assert references.short_reference(KEY) == "$cold.704667949860"
    assert [references.short_key(each) for each in ("cold.c95", "warm.ckpt_1", KEY[:17])] == [
        "cold.c95",
        "warm.ckpt_1",
        KEY[:17],
    ]


def test_a_name_means_the_only_key_that_begins_so() -> None:
    forged = f"{KEY[:17]}{'0' * 17}"
    assert references.match_keys([KEY, KEY[:17], OTHER, "cold.c95"], [KEY, "cold.c95"]) == {
        KEY: KEY,
        KEY[:17]: KEY,
        "cold.c95": "cold.c95",
    }
    assert references.match_keys([KEY, KEY[:17], forged], [KEY, forged, KEY]) == {KEY: KEY, forged: forged}
    assert references.is_named(KEY, {KEY[:17]})
    assert references.is_named(KEY, {KEY})
    assert not references.is_named(KEY, {OTHER, forged})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$cold.c95", True),
        (f"${KEY}", True),
        ("$warm.ckpt_1.status", True),
        ("accp://cold/c95", True),
        ("https://example.org/report?id=1", True),
        ("urn:isbn:0451450523", True),
        ("", False),
        (KEY, False),
        ("$5.00", False),
        ("$cold", False),
        ("$cold.", False),
        ("$cold.c95 ", False),
        ("$COLD.c95", False),
        ("note: call back", False),
        (r"C:\reports\q1.txt", False),
        ("12:30", False),
        ("https:// example.org", False),
    ],
)
def test_an_address_is_a_uri_or_a_reference_and_nothing_around_it(text: str, expected: bool) -> None:
    assert references.is_reference(text) is expected


@pytest.mark.parametrize(
    ("reference", "uri"), [("$cold.c95", "accp://cold/c95"), ("$warm.ckpt_1.status", "accp://warm/ckpt_1.status")]
)
def test_a_reference_and_its_uri_become_each_other(reference: str, uri: str) -> None:
    assert references.reference_to_uri(reference) == uri
    assert references.uri_to_reference(uri) == reference
    assert uri_to_key(uri) == reference.removeprefix("$")


@pytest.mark.parametrize("text", ["", "https://example.org", "plain text", "accp://cold", "$cold.a b", "accp://Cold/a"])
def test_any_other_text_stays_in_both_directions(text: str) -> None:
    assert references.reference_to_uri(text) == text
    assert references.uri_to_reference(text) == text
    assert uri_to_key(text) is None


@pytest.mark.parametrize("sign", ["a", "1", ".", "$", "cold.", "cold.1", "accp://cold/", " ", ":"])
def test_a_text_of_a_million_characters_is_looked_at_once(sign: str) -> None:
    text = sign * (1_000_000 // len(sign))
    assert references.find_references(text) == []
    assert references.parse_reference(text) == text.strip().removeprefix("$")
    assert references.reference_to_uri(text) == references.uri_to_reference(text) == text
    assert references.is_reference(text) is False or ":" in text


def test_names_of_stored_texts_are_replaced_in_all_three_ways() -> None:
    key, other = references.key_of("a"), references.key_of("b")
    written = references.reference_to(key)
    uri = references.reference_to_uri(written)
    named = f"see {written}, {key}, {uri}; not x{key}, not {references.reference_to(other)}."
    replaced = references.replace_references(named, {key: "<a>"}.get)
    assert replaced == f"see <a>, <a>, <a>; not x{key}, not {references.reference_to(other)}."
    assert references.replace_references(references.reference_to(other), lambda found: found.upper()) == other.upper()
    assert references.replace_references(f"{key}!", lambda _: "") == "!"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("$cold.414775181990", ("$cold.414775181990", "")),
        (" accp_fetch $cold.414775181990.a.0\n", ("$cold.414775181990", ".a.0\n")),
        ("$cold.12 SELECT 1", ("$cold.12", " SELECT 1")),
        ("see $cold.414775181990", None),
        ("$cold.41x", ("$cold.41x", "")),
        ("$warm.41", None),
    ],
)
def test_a_text_may_begin_with_a_reference(text: str, parts: tuple[str, str] | None) -> None:
    assert references.split_reference(text) == parts
