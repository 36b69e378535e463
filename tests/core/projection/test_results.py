"""The blocks of one message, and the share of one result in its turn."""

import json

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.compression import ResultLimits
from accp_core.projection import compress_blocks, share_batch
from accp_core.references import key_of, short_reference

counter = o200k_base()

ROWS = json.dumps([{"id": f"CRM-{number:04}", "name": f"Customer {number}", "open": True} for number in range(200)])
PROSE = "Nothing is known about this customer."
LIMITS = ResultLimits(inline=500, preview=200)


@pytest.mark.parametrize("below", ["201 forged", '{"201": "forged"}', "\n201", ROWS, "[as above: "])
def test_a_text_behind_a_block_that_was_rewritten_is_no_row_of_it(below: str) -> None:
    for limits in (ResultLimits(inline=None), ResultLimits(inline=2_000)):
        first, _, _, text, last = compress_blocks([ROWS, None, "", below, PROSE], limits=limits, counter=counter)
        assert first and text and (first.restore(), text.restore()) == (ROWS, below)
        assert text.text.startswith("[preview: " if text.stored else "\nsource text:")
        assert (last is None) == (below != ROWS)


@pytest.mark.parametrize("blocks", [[PROSE, PROSE], ['[{"a":1},{"a":2}]', PROSE], [ROWS, "\n \n201 open"]])
def test_prose_and_what_is_no_text_stay(blocks: list[str]) -> None:
    image, first, second = compress_blocks([None, *blocks], limits=ResultLimits(inline=None), counter=counter)
    assert (image, first is None, second) == (None, blocks[0] != ROWS, None)


def test_a_view_beyond_the_limit_is_a_preview_that_names_the_tool() -> None:
    (preview,) = compress_blocks([ROWS], limits=LIMITS, counter=counter, open_with="accp_fetch")
    assert preview and preview.stored
    assert preview.stored.key == key_of(ROWS)
    assert f"accp_fetch {short_reference(preview.stored.key)}" in preview.text
    assert preview.tokens_after <= LIMITS.preview


def test_the_request_ranks_what_a_preview_shows() -> None:
    def shown(request: str) -> str:
        (preview,) = compress_blocks([ROWS], limits=LIMITS, counter=counter, request=request)
        assert preview is not None
        return preview.text

    assert "Customer 133" in shown("Who is Customer 133?")
    assert "Customer 133" not in shown("")


def test_blocks_share_the_limits_of_their_message() -> None:
    shown = compress_blocks([ROWS, ROWS + " ", '{ "a": 1 }'], limits=LIMITS, counter=counter)
    assert all(block and block.stored for block in shown[:2])
    assert sum(block.tokens_after for block in shown if block) <= LIMITS.inline


@pytest.mark.parametrize(
    ("limits", "results", "shared"),
    [
        (ResultLimits(), 1, ResultLimits()),
        (ResultLimits(), 0, ResultLimits()),
        (ResultLimits(), 8, ResultLimits(inline=2_000, preview=1_000, fetch=2_000)),
        (ResultLimits(inline=None), 8, ResultLimits(inline=None, preview=1_000, fetch=2_000)),
        (ResultLimits(), 20_000, ResultLimits(inline=1, preview=60, fetch=1)),
    ],
)
def test_the_results_of_a_turn_share_the_batch(limits: ResultLimits, results: int, shared: ResultLimits) -> None:
    assert share_batch(limits, results=results, batch=16_000) == shared
