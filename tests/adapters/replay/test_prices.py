import json
from pathlib import Path

import pytest

from accp_adapters.replay.prices import Prices, read_prices
from accp_adapters.replay.report import totals
from tests.adapters.replay.test_report import replayed


def test_each_kind_of_token_has_its_price() -> None:
    (short, long) = replayed("r", 500, 2000).calls
    prices = Prices(input=1, read=0.1, write=2, output=10)
    assert prices.of(totals([short])) == pytest.approx((500 + 7 * 10) / 1e6)
    assert prices.of(totals([long])) == pytest.approx((2 * 2000 + 7 * 10) / 1e6)


def test_prices_are_given_as_numbers_or_in_a_file(tmp_path: Path) -> None:
    expected = Prices(input=3, read=0.3, write=3.75, output=15)
    assert read_prices("3,0.3,3.75,15") == expected
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    ours.write_text(json.dumps({"input": 3, "read": 0.3, "write": 3.75, "output": 15}), encoding="utf-8")
    names = ("input_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost")
    costs = dict(zip(names, (3e-6, 0.3e-6, 3.75e-6), strict=True)) | {"output_cost_per_token": 15e-6}
    theirs.write_text(json.dumps(costs), encoding="utf-8")
    assert read_prices(str(ours)) == expected
    assert [getattr(read_prices(str(theirs)), name) for name in ("input", "read", "write", "output")] == pytest.approx(
        [3, 0.3, 3.75, 15]
    )


def test_of_two_prices_the_cache_has_the_usual_shares() -> None:
    prices = read_prices("3,15")
    assert (prices.input, prices.output) == (3, 15)
    assert (prices.read, prices.write) == pytest.approx((0.3, 3.75))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("3,1,2", "expected prices such as 3,15 or 3,0.3,3.75,15, or a price file, found '3,1,2'"),
        ("3,1,-1,2", "expected prices of 0 or more, found '3,1,-1,2'"),
        ("3,1,nan,2", "expected prices of 0 or more"),
        ("3,1,x,2", "could not convert"),
    ],
)
def test_what_is_no_price_is_refused(given: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_prices(given)


@pytest.mark.parametrize(("content", "reason"), [("[3]", "price file with input"), ('{"input": 3}', "none for read")])
def test_a_file_without_prices_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=reason):
        read_prices(str(path))
