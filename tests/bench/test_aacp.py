"""The table of AACP's tokens: the figures of the draft and those of the other forms."""

from __future__ import annotations

from accp_core.aacp import EncodingTier, validate
from tests.bench.aacp import ENVELOPE, HOPS, serve_thrice, totals
from tests.core.aacp.wordings import HALVES, load_wordings, outcome


def test_the_draft_s_gpt_4o_column_is_reproduced() -> None:
    found = totals()
    english, packet = found["draft's English"], found["draft's packet"]
    with_envelope = [
        (before + ENVELOPE, after + ENVELOPE) for before, after in zip(english[:-1], packet[:-1], strict=True)
    ]
    assert with_envelope == [(55, 48), (50, 42), (57, 39), (57, 38)]
    assert tuple(map(sum, zip(*with_envelope, strict=True))) == (219, 167)
    assert [round(100 * (after / before - 1), 1) for before, after in with_envelope] == [-12.7, -16.0, -31.6, -33.3]


def test_packets_save_nothing_against_terse_english_or_json() -> None:
    all_hops = {name: counts[-1] for name, counts in totals().items()}
    assert all_hops["encoder's packet"] == 151
    assert all_hops["its defaults known"] == 139
    assert all_hops["terse English"] < all_hops["compact JSON of it"] < all_hops["encoder's packet"]


def test_what_is_counted_is_valid() -> None:
    assert all(validate(hop.draft).valid and validate(hop.ours).valid for hop in HOPS)


def test_a_wording_that_comes_again_asks_no_model() -> None:
    for half in HALVES:
        tiers, calls = serve_thrice(half)
        assert calls == len(outcome(half).missed) == tiers[EncodingTier.MODEL]
        assert sum(tiers.values()) == 3 * len(load_wordings("wordings", half))
