"""How a text is compressed for a model: never larger, and never lost."""

import base64
import hashlib
import json
import tracemalloc
from dataclasses import replace
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_core import DecodeError, render_text
from accp_core.compression import (
    MIN_PREVIEW,
    Compressed,
    ResultLimits,
    Source,
    abridge,
    compress,
    compress_blocks,
    share_limits,
)
from accp_core.markers import escape_markers
from accp_core.packing.expansion import DEFAULT_EXPANSION
from accp_core.references import StoredText, key_of, short_key, short_reference
from accp_core.view.layout import CUT_LINE
from tests.core.view.payloads import records
from tests.properties.json_values import all_sources

counter = o200k_base()
SMALL = ResultLimits(inline=100, preview=MIN_PREVIEW)
ROWS = json.dumps(records(200), indent=2)
PROSE = " ".join(f"Sentence {number} says nothing of any note whatever." for number in range(400))
BLANKS = "a" + " " * 5_000 + "b"


def named(text: str) -> bool:
    """Return whether a preview says how its source is opened."""
    return text.split("\n")[0].endswith("]")


# Views and previews


BLOB = base64.b64encode(bytes(range(256)) * 3).decode()
ICON = json.dumps({"name": "logo", "icon": BLOB, "width": 32})


@pytest.mark.parametrize("source", ["", "prose", json.dumps(records(3)), '{"a":1}'])
def test_a_short_text_is_shown_as_its_view(source: str) -> None:
    shown = compress(source, limits=ResultLimits(), counter=counter)
    view = render_text(source, counter=counter)
    assert (shown.text, shown.layout, shown.stored) == (view.text, view.layout, None)
    assert (shown.tokens_before, shown.tokens_after) == (view.tokens_before, view.tokens_after)
    assert shown.reference is None
    assert shown.is_smaller == (view.text != source)
    assert shown.restore() == source


def test_a_long_text_is_shown_as_a_preview_that_names_the_tool_and_the_reference() -> None:
    shown = compress(ROWS, limits=SMALL, counter=counter, open_with="accp_fetch")
    assert f"the whole is intact: accp_fetch {short_reference(key_of(ROWS))}" in shown.text.split("\n")[0]
    assert shown.stored == StoredText.of(ROWS)
    assert (shown.layout, shown.reference, shown.is_smaller) == (None, f"${key_of(ROWS)}", True)
    assert shown.tokens_before == counter(ROWS)
    assert shown.tokens_after == counter(shown.text) <= MIN_PREVIEW
    assert shown.restore() == ROWS


def test_a_preview_names_the_reference_alone_where_no_tool_opens_it() -> None:
    assert f"intact: {short_reference(key_of(ROWS))}]" in compress(ROWS, limits=SMALL, counter=counter).text


def test_the_request_ranks_what_a_preview_keeps() -> None:
    limits = ResultLimits(inline=100, preview=150)
    assert "\n171 " in compress(ROWS, limits=limits, counter=counter, request="employee 171").text
    assert "\n171 " not in compress(ROWS, limits=limits, counter=counter).text


def test_without_a_request_and_a_tool_none_is_named_and_nothing_ranked() -> None:
    letters = ascii_uppercase
    names = [2 * letters[number % 26] + 2 * letters[(number // 26 + 20) % 26] for number in range(200)]
    source = json.dumps([{**row, "full_name": name} for row, name in zip(records(200), names, strict=True)])
    limits = ResultLimits(inline=100, preview=150)
    unranked = compress(source, limits=limits, counter=counter, request="", open_with="")
    assert "XXXX" in compress(source, limits=limits, counter=counter, request="XXXX").text
    assert "XXXX" not in unranked.text
    assert compress(source, limits=limits, counter=counter) == unranked
    assert Source(source, counter=counter).preview(150) == unranked
    assert (
        f"intact: {short_reference(key_of(source))}]"
        in abridge(source, limit=150, max_chars=2_000, counter=counter).text
    )
    hidden = Source(ICON, counter=counter).without_blobs()
    assert hidden is not None
    assert f"intact: {short_reference(key_of(ICON))}]" in hidden.text


@pytest.mark.parametrize(("open_with", "shown"), [("accp_fetch", True), ("", False)])
def test_a_preview_and_an_abstract_show_a_query_where_a_tool_takes_one(open_with: str, shown: bool) -> None:
    preview = compress(ROWS, limits=ResultLimits(inline=100, preview=400), counter=counter, open_with=open_with)
    abstract = abridge(ROWS, limit=400, max_chars=4_000, counter=counter, open_with=open_with)
    assert [("e.g. query: " in each.text) for each in (preview, abstract)] == [shown, shown]


@pytest.mark.parametrize("inline", [None, 1_000_000])
def test_no_preview_is_made_where_the_view_fits(inline: int | None) -> None:
    limits = ResultLimits(inline=inline, preview=MIN_PREVIEW)
    assert compress(ROWS, limits=limits, counter=counter) == Source(ROWS, counter=counter).view()


def test_a_view_is_kept_where_a_preview_is_not_smaller() -> None:
    source = " ".join(map(str, range(40)))
    assert compress(source, limits=ResultLimits(inline=1), counter=counter) == Source(source, counter=counter).view()
    assert Source(source, counter=counter).preview(2_000) is None
    assert Source(ROWS, counter=counter).preview(1_000_000) is None


def test_a_view_of_exactly_the_limit_is_shown() -> None:
    view = Source(ROWS, counter=counter).view()
    limits = ResultLimits(inline=view.tokens_after, preview=MIN_PREVIEW)
    assert compress(ROWS, limits=limits, counter=counter) == view
    assert compress(ROWS, limits=replace(limits, inline=view.tokens_after - 1), counter=counter).stored is not None


def test_a_preview_of_as_many_tokens_as_the_text_is_not_shown() -> None:
    assert Source(PROSE, counter=lambda _: 50).preview(100) is None

    def counts_a_cut(text: str) -> int:
        return 50 + (text in PROSE and text != PROSE)

    assert Source(PROSE, counter=counts_a_cut).preview(100) is None


def test_a_text_is_not_counted_again_whose_view_is_known() -> None:
    counting = Counting()
    source = Source(ROWS, counter=counting)
    source.view()
    counting.characters = 0
    assert source.preview(100) is not None
    assert counting.characters < len(ROWS)


def test_a_preview_is_the_same_with_and_without_the_view_of_its_text() -> None:
    source = Source(ROWS, counter=counter)
    source.view()
    shown = source.preview(100, chars=len(ROWS))
    assert shown == Source(ROWS, counter=counter).preview(100)
    assert shown is not None


def test_a_text_of_just_the_characters_that_are_looked_at_is_looked_at_whole() -> None:
    shown = Source(PROSE, counter=counter).preview(400, chars=len(PROSE))
    assert shown == Source(PROSE, counter=counter).preview(400)
    assert shown is not None


def test_a_preview_with_room_for_the_view_of_a_long_text_is_that_view() -> None:
    source = json.dumps([PROSE[:500]] * 100)
    shown = compress(source, limits=ResultLimits(inline=100, preview=2_000), counter=counter)
    assert (shown.text, shown.stored) == (render_text(source, counter=counter).text, StoredText.of(source))


def test_a_source_of_more_than_any_view_of_others_may_stand_for_comes_back() -> None:
    source = json.dumps(["x" * 400_000] * 44)
    shown = compress(source, limits=ResultLimits(inline=None), counter=len)
    assert len(source) > DEFAULT_EXPANSION.size
    assert len(shown.text) < len(source) / 40
    assert shown.restore() == source


@pytest.mark.parametrize("is_viewed", [False, True])
def test_a_preview_of_the_beginning_names_the_whole(*, is_viewed: bool) -> None:
    source = Source(PROSE, counter=counter, open_with="accp_fetch")
    if is_viewed:
        source.view()
    shown = source.preview(400, chars=400)
    assert shown is not None
    first, *_, last = shown.text.split("\n")
    assert first.startswith(
        f"[preview of the first 1 line; the whole is intact: accp_fetch {short_reference(key_of(PROSE))}"
    )
    assert last.endswith("characters]") or last == PROSE[:400].strip()
    assert PROSE[:100] in shown.text
    assert "Sentence 300" not in shown.text
    assert (shown.tokens_before, shown.restore()) == (counter(PROSE), PROSE)


def test_a_beginning_that_fits_is_not_taken_for_the_whole() -> None:
    limits = ResultLimits(inline=100, preview=200, previewed_chars=300)
    shown = compress(PROSE, limits=limits, counter=counter)
    assert short_reference(key_of(PROSE)) in shown.text
    assert shown.tokens_after <= 200


def test_the_tokens_of_a_source_are_counted_once_whatever_its_preview_is_made_of() -> None:
    source = PROSE * 3
    limits = ResultLimits(inline=2_000, preview=100, previewed_chars=5_000)
    part = compress(source, limits=limits, counter=counter)
    whole = compress(source, limits=replace(limits, previewed_chars=None), counter=counter)
    assert part.text != whole.text
    for shown in (part, whole):
        assert (shown.tokens_before, shown.is_estimated, shown.layout) == (counter(source), False, None)


def test_no_preview_of_a_beginning_is_larger_than_the_text() -> None:
    assert Source("x " * 50, counter=counter).preview(200, chars=90) is None


def test_where_a_limit_has_no_room_for_the_reference_the_view_is_shown() -> None:
    shown = compress(ROWS, limits=ResultLimits(inline=100, preview=60), counter=lambda text: 4 * len(text))
    assert shown.stored is None
    assert shown.restore() == ROWS


def test_a_counter_that_counts_nothing_ends_in_a_preview() -> None:
    assert abridge("a" * 200_001, limit=60, max_chars=300, counter=lambda _: 0).stored is not None


def test_a_text_that_is_not_the_view_of_its_layout_is_refused() -> None:
    with pytest.raises(DecodeError) as refusal:
        Compressed(text="a 1", layout="o:9", stored=None, tokens_before=9, tokens_after=3).restore()
    assert (refusal.value.code, refusal.value.position) == ("E1001", 0)


# Long texts: only parts of them are counted


LONG = "\n".join(
    f"line {number} says nothing of any note whatever, and is as long as any other" for number in range(9_000)
)


class Counting:
    """Counts tokens, and the characters that it was given."""

    def __init__(self) -> None:
        self.characters = 0

    def __call__(self, text: str) -> int:
        self.characters += len(text)
        return counter(text)


def test_of_a_long_text_only_a_part_is_counted() -> None:
    counting = Counting()
    shown = compress(LONG, limits=ResultLimits(), counter=counting)
    assert shown.stored == StoredText.of(LONG)
    assert counting.characters < len(LONG) / 5
    assert shown.is_estimated
    assert shown.tokens_before == pytest.approx(counter(LONG), rel=0.02)
    assert shown.tokens_after == counter(shown.text) <= 2_000


@pytest.mark.parametrize(("length", "is_estimated"), [(32_000, False), (32_001, True)])
def test_a_text_of_so_many_characters_is_estimated(length: int, is_estimated: bool) -> None:
    source = PROSE.ljust(length, "-")
    shown = Source(source, counter=counter).preview(100, chars=500)
    assert shown is not None
    assert shown.is_estimated == is_estimated
    assert is_estimated or shown.tokens_before == counter(source)


def test_the_parts_that_are_counted_reach_from_the_beginning_to_the_end() -> None:
    for source in ("a" * 63_007 + "b" * 4_000, "b" * 4_000 + "a" * 63_007):
        shown = Source(source, counter=lambda text: text.count("b")).view(1)
        assert repr(shown.tokens_before) == repr(4_000 * len(source) // 32_000)
        assert (shown.text, shown.layout, shown.is_estimated) == (source, "as-is", True)


def test_a_long_text_that_may_not_be_previewed_is_counted_and_rendered() -> None:
    source = json.dumps(records(3_000))
    shown = compress(source, limits=ResultLimits(inline=None), counter=counter)
    assert (shown.is_estimated, shown.layout is None) == (False, False)
    assert shown.restore() == source


def test_a_long_text_of_few_tokens_is_not_made_larger() -> None:
    def ten_at_most(text: str) -> int:
        return min(len(text), 10)

    shown = compress("x" * 300_000, limits=ResultLimits(inline=100), counter=ten_at_most)
    assert (shown.text, shown.stored) == ("x" * 300_000, None)


limits = st.builds(
    ResultLimits,
    inline=st.none() | st.integers(1, 150),
    preview=st.integers(MIN_PREVIEW, 150),
    previewed_chars=st.none() | st.integers(1, 500),
)
long_sources = all_sources | st.builds(lambda text, times: text * times, all_sources, st.integers(2, 60))


@pytest.mark.slow
@given(long_sources, limits, st.text(max_size=20), st.sampled_from(["", "accp_fetch"]))
def test_any_text_comes_back_from_no_more_tokens(
    source: str, chosen: ResultLimits, request: str, open_with: str
) -> None:
    shown = compress(source, limits=chosen, counter=counter, request=request, open_with=open_with)
    assert shown.restore() == source
    assert shown.is_estimated or shown.tokens_before == counter(source)
    assert shown.tokens_after == counter(shown.text) <= shown.tokens_before
    assert (shown.layout is None) == (shown.stored is not None)
    if shown.stored is not None:
        assert f"{open_with} {short_reference(shown.stored.key)}".strip() in shown.text
        assert shown.stored == StoredText.of(source)
        assert shown.tokens_after <= max(chosen.preview, chosen.inline or 0)
    assert compress(source, limits=chosen, counter=counter, request=request, open_with=open_with) == shown


# Abstracts


def test_a_short_result_is_its_own_abstract() -> None:
    shown = abridge("done", limit=60, max_chars=100, counter=counter)
    assert shown == Compressed(text="done", layout="as-is", stored=None, tokens_before=1, tokens_after=1)


@pytest.mark.parametrize("source", [PROSE, ROWS, PROSE * 20], ids=["prose", "rows", "400,000 characters"])
def test_a_long_result_is_abridged_and_stored(source: str) -> None:
    shown = abridge(source, limit=200, max_chars=2_000, counter=counter, open_with="accp_fetch")
    assert f"accp_fetch {short_reference(key_of(source))}" in shown.text
    assert shown.tokens_after <= 200
    assert len(shown.text) <= 2_000
    assert (shown.layout, shown.stored) == (None, StoredText.of(source))


def test_the_abstract_of_a_text_of_any_length_is_made_of_all_of_it() -> None:
    source = PROSE + " The last word is omega_4711."
    assert "omega_4711" in abridge(source * 20, limit=200, max_chars=2_000, counter=counter).text


def test_a_result_whose_view_fits_is_shown_as_its_view_and_stored() -> None:
    source = json.dumps(records(4), indent=2)
    shown = abridge(source, limit=120, max_chars=2_000, counter=counter)
    assert shown.text == render_text(source, counter=counter).text
    assert shown.stored == StoredText.of(source)


@pytest.mark.parametrize("open_with", ["", "accp_fetch"])
def test_an_abstract_of_long_tokens_is_cut_and_names_the_reference(open_with: str) -> None:
    assert counter(BLANKS) < 100 < len(BLANKS)
    for source in (BLANKS, BLANKS * 30, ("-" * 90 + "\n") * 90):
        shown = abridge(source, limit=100, max_chars=1_000, counter=counter, open_with=open_with)
        assert f"{open_with} {short_reference(key_of(source))}".strip() in shown.text
        assert shown.tokens_after == counter(shown.text) <= 100
        assert len(shown.text) <= 1_000


def test_a_result_of_exactly_both_limits_is_its_own_abstract() -> None:
    shown = abridge(PROSE, limit=counter(PROSE), max_chars=len(PROSE), counter=counter)
    assert (shown.text, shown.stored) == (PROSE, None)


def test_the_tokens_of_a_result_are_counted_where_its_view_may_fit_and_else_estimated() -> None:
    shown = abridge(PROSE * 3, limit=1_000, max_chars=9_000, counter=counter)
    assert (shown.tokens_before, shown.is_estimated) == (counter(PROSE * 3), False)
    counting = Counting()
    assert abridge(LONG, limit=200, max_chars=9_000, counter=counting).is_estimated
    assert counting.characters < len(LONG) / 5


def test_an_abstract_that_is_cut_names_the_reference_once() -> None:
    shown = abridge(ROWS, limit=200, max_chars=300, counter=counter, open_with="accp_fetch")
    assert shown.text.startswith("[preview")
    assert (len(shown.text), shown.text.count(short_key(key_of(ROWS)))) == (300, 1)


def test_a_view_of_exactly_the_characters_of_an_abstract_is_not_cut() -> None:
    source = json.dumps(records(4), indent=2)
    view = render_text(source, counter=counter)
    assert abridge(source, limit=120, max_chars=len(view.text), counter=counter).text == view.text


@pytest.mark.parametrize("room", range(10, 51))
def test_a_cut_leaves_three_quarters_of_what_fits(room: int) -> None:
    source = "a" * 50 + " " * 5_000
    opening = f"{short_reference(key_of(source))} "

    def blanks_are_free(text: str) -> int:
        return len(text.replace(" ", ""))

    limit = blanks_are_free(opening) + room
    shown = abridge(source, limit=max(limit, MIN_PREVIEW), max_chars=1_000, counter=blanks_are_free)
    fits = 1_000 if room == 50 else len(opening) + max(limit, MIN_PREVIEW) - blanks_are_free(opening)
    assert fits >= len(shown.text) > fits * 3 / 4 - 1


def test_a_cut_that_splits_tokens_keeps_to_the_limit() -> None:
    def blanks_are_free(text: str) -> int:
        return len(text.replace(" ", ""))

    source = "a" * 50 + " " * 5_000
    shown = abridge(source, limit=60, max_chars=1_000, counter=blanks_are_free)
    assert shown.text.startswith(f"{short_reference(key_of(source))} aaaa")
    assert blanks_are_free(shown.text) <= 60


@given(long_sources | st.integers(0, 3_000).map(" ".__mul__), st.integers(MIN_PREVIEW, 250), st.integers(200, 2_000))
def test_an_abstract_fits_both_limits(source: str, limit: int, max_chars: int) -> None:
    shown = abridge(source, limit=limit, max_chars=max_chars, counter=counter)
    assert shown.tokens_after == counter(shown.text) <= limit
    assert len(shown.text) <= max_chars
    assert shown.is_estimated or shown.tokens_before == counter(source)
    assert shown.restore() == source
    assert (shown.stored is None) == (shown.text == source and shown.layout is not None)


# Limits


def test_the_limits_of_results_are_these() -> None:
    assert ResultLimits() == ResultLimits(inline=2_500, preview=1_000, fetch=4_000, abstract=200, previewed_chars=None)
    assert ResultLimits(inline=None).inline is None


@pytest.mark.parametrize(
    ("name", "minimum"), [("inline", 1), ("preview", 60), ("fetch", 1), ("abstract", 60), ("previewed_chars", 1)]
)
def test_a_limit_that_leaves_no_room_is_refused(name: str, minimum: int) -> None:
    assert getattr(ResultLimits(**{name: minimum}), name) == minimum
    with pytest.raises(ValueError, match=f"expected the limit '{name}' to be at least {minimum}, found {minimum - 1}"):
        ResultLimits(**{name: minimum - 1})


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        ([], []),
        ([0, 100], [None, None]),
        ([1_000], [None]),
        ([1_001], [600]),
        ([100, 5_000], [None, 600]),
        ([500, 5_000], [None, 600]),
        ([5_000, 100, 5_000], [450, None, 450]),
        ([400, 400, 400], [333, 333, 333]),
        ([900, 50, 900, 50], [450, None, 450, None]),
        ([2_000] * 20, [MIN_PREVIEW] * 20),
    ],
)
def test_the_blocks_of_a_result_share_its_limit(sizes: list[int], shares: list[int | None]) -> None:
    assert share_limits(sizes, ResultLimits(inline=1_000, preview=600)) == shares


def test_large_blocks_share_a_preview_that_is_larger_than_the_limit() -> None:
    shares = share_limits([400, 400, 400], ResultLimits(inline=1_000, preview=1_100))
    assert repr(shares) == "[366, 366, 366]"


def test_nothing_is_shared_without_a_limit() -> None:
    assert share_limits([1, 100_000], ResultLimits(inline=None)) == [None, None]


@given(st.lists(st.integers(0, 5_000), max_size=9), limits)
def test_a_block_is_previewed_where_it_is_larger_than_its_part(sizes: list[int], chosen: ResultLimits) -> None:
    shares = share_limits(sizes, chosen)
    assert len(shares) == len(sizes)
    assert all(share is None or MIN_PREVIEW <= share <= chosen.preview for share in shares)
    if chosen.inline is None or sum(sizes) <= chosen.inline:
        assert shares == [None] * len(sizes)
    else:
        shown = [size for size, share in zip(sizes, shares, strict=True) if share is None]
        assert len(shown) < len(sizes)
        assert sum(shown) <= chosen.inline


# Blobs in results that fit


def test_a_large_blob_in_a_result_that_fits_is_sized_and_stored() -> None:
    shown = compress(ICON, limits=ResultLimits(), counter=counter, open_with="accp_fetch")
    first, *rest = shown.text.split("\n")
    assert first == f"[preview; the whole is intact: accp_fetch {short_reference(key_of(ICON))}]"
    assert f"icon […base64, {len(BLOB):,} characters]" in rest
    assert "name logo" in rest
    assert (shown.restore(), shown.stored) == (ICON, StoredText.of(ICON))
    assert shown.tokens_after == counter(shown.text) < Source(ICON, counter=counter).view().tokens_after
    assert compress_blocks([ICON, None], limits=ResultLimits(), counter=counter, open_with="accp_fetch")[0] == shown


def test_without_previews_a_blob_is_shown() -> None:
    limits = ResultLimits(inline=None)
    assert compress(ICON, limits=limits, counter=counter) == Source(ICON, counter=counter).view()
    (shown,) = compress_blocks([ICON], limits=limits, counter=counter)
    assert shown is None or shown.stored is None


@pytest.mark.parametrize("blob", [hashlib.sha512(b"x").hexdigest(), "-" * 900, "/".join(["releases", "linux"] * 30)])
def test_a_digest_a_ruler_and_a_path_are_shown(blob: str) -> None:
    source = json.dumps({"name": "logo", "value": blob})
    assert blob in compress(source, limits=ResultLimits(), counter=counter).text


def test_a_blob_stays_where_its_size_and_the_reference_take_more_tokens() -> None:
    assert Source("ab" * 99, counter=lambda _: 1).without_blobs() is None


def test_the_cut_of_a_document_beside_a_blob_is_shown_as_a_cut() -> None:
    source = f"first: {json.dumps([{'icon': BLOB}, *records(20)])[:-30]}"
    view = Source(source, counter=counter).view()
    shown = compress(source, limits=ResultLimits(), counter=counter)
    assert CUT_LINE in view.text
    assert shown.stored == StoredText.of(source)
    assert CUT_LINE in shown.text


def test_a_marker_of_others_beside_a_blob_says_that_it_is_not_ours() -> None:
    source = json.dumps({"note": "[as above: 14 lines]", "icon": BLOB})
    shown = compress(source, limits=ResultLimits(), counter=counter)
    assert shown.stored is not None
    assert escape_markers("[as above: 14 lines]") in shown.text


@pytest.mark.slow
@pytest.mark.parametrize("end", ["", "\u00e9", "\u65e5", "\U0001f600"])
def test_a_long_text_is_not_copied_whole_to_be_previewed(end: str) -> None:
    text = "\n".join([*(f"GET /items/{number} took {number % 900} ms" for number in range(70_000)), end])
    tracemalloc.start()
    try:
        assert Source(text, counter=counter).preview(400) is not None
        assert tracemalloc.get_traced_memory()[1] < len(text)
    finally:
        tracemalloc.stop()
