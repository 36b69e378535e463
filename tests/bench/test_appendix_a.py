"""Appendix A of ACCP: what saves tokens, and what does not."""

from tests.bench.appendix_a import COLUMNS, SCENARIOS, table


def test_the_texts_have_about_the_sizes_of_the_draft() -> None:
    for name in SCENARIOS:
        (english, _, _), tokens = table()[name]
        assert abs(tokens[0] - english) <= english / 8


def test_a_frame_saves_against_english_and_on_the_wire_nothing_against_json() -> None:
    for name in SCENARIOS:
        _, (english, as_json, bare, wire, view) = table()[name]
        assert view <= bare < as_json < wire
        assert bare < english


def test_views_the_middleware_and_contexts_save_in_a_pipeline() -> None:
    _, tokens = table()["5-agent pipeline"]
    found = dict(zip(COLUMNS, tokens, strict=True))
    assert found["contexts"] < found["view"] < found["middleware"] < found["frame"] < found["JSON"] < found["English"]
