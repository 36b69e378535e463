"""Beside each middleware, above and below it, with a store and without, sync and async: what must hold, holds."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import pytest

from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.stores import SqliteColdStore
from tests.adapters.langgraph.composition import checks
from tests.adapters.langgraph.composition.harness import POLICY, Run, converse
from tests.adapters.langgraph.composition.neighbours import EMAIL, NEIGHBOURS


@dataclass(frozen=True)
class Case:
    """One place beside the middleware."""

    beside: str
    above: bool
    stored: bool
    asynchronous: bool

    def __str__(self) -> str:
        place = "above" if self.above else "below"
        return f"{self.beside} {place}{', store' * self.stored}{', async' * self.asynchronous}"


CASES = [Case(*each) for each in product([*NEIGHBOURS, ""], [True, False], [False, True], [False, True])]
# With every other one, any two of the four choices meet in all combinations.
CASES = [case for case in CASES if (case.above + case.stored + case.asynchronous) % 2 and (case.beside or case.above)]

SELECTORS = ("tool selector", "seven of these")
"""Below us they choose among all tools, ours included: they belong above."""


@dataclass(frozen=True)
class Runs:
    """The same conversation without us, with us, and with us and a model that opens what it is shown."""

    case: Case
    plain: Run
    ours: Run
    curious: Run


@functools.cache
def plain_run(beside: str, asynchronous: bool) -> Run:
    # `always_include` names our tool, which is not there: the selection is the same without it.
    name = "tool selector" if beside.startswith("tool selector") else beside
    return converse(None, NEIGHBOURS.get(name), asynchronous=asynchronous)


@functools.cache
def our_run(case: Case) -> Run:
    return _run(case, None, curious=False)


@pytest.fixture(scope="module", params=CASES, ids=str)
def runs(request: pytest.FixtureRequest) -> Iterator[Runs]:
    case: Case = request.param
    store = SqliteColdStore() if case.stored else None
    curious = _run(case, store, curious=True)
    # A store changes nothing that is sent; the curious model is run with it and without.
    yield Runs(case, plain_run(case.beside, case.asynchronous), our_run(replace(case, stored=False)), curious)
    if store is not None:
        store.close()


def _run(case: Case, store: SqliteColdStore | None, *, curious: bool) -> Run:
    accp = AccpMiddleware(POLICY, store=store)
    return converse(
        accp, NEIGHBOURS.get(case.beside), above=case.above, asynchronous=case.asynchronous, curious=curious
    )


@pytest.mark.slow
def test_the_state_is_the_one_without_us(runs: Runs) -> None:
    checks.same_state(runs.ours, runs.plain)
    # A summary is due at a number of messages, fetches included.
    if runs.case.beside != "summarization":
        checks.same_state(runs.curious, runs.plain)


def test_a_sent_prefix_stays(runs: Runs) -> None:
    checks.prefixes_stay(runs.ours)
    checks.prefixes_stay(runs.curious)


def test_only_texts_of_others_change(runs: Runs) -> None:
    checks.only_texts_changed(runs.ours)


def test_each_reference_opens(runs: Runs) -> None:
    assert checks.opened(runs.curious, everything=runs.case.stored) > 0


def test_the_tools_are_those_without_us_and_the_fetch_tool(runs: Runs) -> None:
    checks.same_tools(runs.ours, runs.plain)
    if runs.case.above or runs.case.beside not in SELECTORS:
        checks.fetch_is_offered(runs.ours)
        checks.fetch_is_offered(runs.curious)


def test_each_repeat_marker_names_lines_above(runs: Runs) -> None:
    markers = checks.markers_have_lines(runs.ours) + checks.markers_have_lines(runs.curious)
    assert markers or runs.case.beside


def test_no_provider_refuses_a_prompt(runs: Runs) -> None:
    checks.provider_rules(runs.curious)


def test_what_is_redacted_is_never_served(runs: Runs) -> None:
    if runs.case.beside == "redactor":
        shown = [message.text for prompt in runs.curious.prompts for message in prompt.messages]
        assert not any(EMAIL.search(text) for text in shown)
    if runs.case.beside == "PII" or (runs.case.beside == "redactor" and runs.case.above):
        assert not any(EMAIL.search(answer.text) for answer in checks.answers_of(runs.curious).values())
