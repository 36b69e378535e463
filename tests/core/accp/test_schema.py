"""Schemas, registries and how two agents agree on one."""

from dataclasses import replace
from typing import Any

import pytest

from accp_core.accp import Ref
from accp_core.accp.profiles import BUILT_IN, PINNED
from accp_core.accp.schema import Schema, SchemaRegistry
from tests.core.accp.refusals import code_of

INVOICE = Schema(
    name="invoice",
    code="INV",
    version=1,
    fields=("number", "total", "lines"),
    defaults={"lines": [], "total": 0.0},
    aliases={"n": "number"},
)
EMPTY = SchemaRegistry()
INVOICES = EMPTY.register(INVOICE)
NEGOTIATE = frozenset({"negotiate"})


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"code": ""},
        {"code": "I N"},
        {"code": 7},
        {"version": 0},
        {"version": True},
        {"version": 1.0},
        {"fields": ("a", "a")},
        {"fields": ("schema",)},
        {"fields": (1,)},
        {"defaults": {"unknown": 1}},
        {"defaults": {"lines": float("nan")}},
        {"defaults": {"lines": [Ref("warm.x")]}},
        {"aliases": {"": "number"}},
        {"aliases": {"n o": "number"}},
        {"aliases": {"_x61_": "number"}},
        {"aliases": {"n": "schema"}},
        {"aliases": {"schema": "number"}},
        {"aliases": {"n": 1}},
        {"aliases": {1: "number"}},
        {"aliases": {"n": "number", "m": "number"}},
    ],
)
def test_what_could_not_do_what_a_schema_does_is_refused_e1004(change: dict[str, Any]) -> None:
    assert code_of(replace, INVOICE, **change) == "E1004"


def test_a_higher_version_replaces_a_lower_one() -> None:
    newer = replace(INVOICE, version=2, fields=("number", "total", "lines", "due"))
    registry = BUILT_IN.register(INVOICE).register(newer)
    assert registry.get("INV") is newer
    assert len(registry.schemas) == len(BUILT_IN.schemas) + 1


@pytest.mark.requirement("7.1-5")
@pytest.mark.parametrize(
    "change", [{"name": "bill"}, {"name": "bill", "version": 2}, {"defaults": {}}, {"code": "BIL"}]
)
def test_a_schema_that_conflicts_with_a_known_one_is_refused_e5001(change: dict[str, Any]) -> None:
    assert code_of(INVOICES.register, replace(INVOICE, **change)) == "E5001"


@pytest.mark.requirement("4.3-1")
def test_operations_are_registered_beside_the_core_ones() -> None:
    assert replace(EMPTY, operations=NEGOTIATE).to_json()["operations"] == ["negotiate"]
    assert code_of(SchemaRegistry, operations=frozenset({"two words"})) == "E1004"


@pytest.mark.parametrize(
    "data", [1, {"schemas": []}, {"operations": "plan"}, {"operations": [1]}, {"operations": [""]}]
)
def test_json_that_says_no_registry_is_refused_e1004(data: Any) -> None:
    assert code_of(SchemaRegistry.from_json, data) == "E1004"


def test_an_offer_on_a_base_says_only_the_difference() -> None:
    newer = replace(BUILT_IN.get("TA"), version=3)
    registry = replace(BUILT_IN.register(INVOICE).register(newer), operations=NEGOTIATE)
    offer = registry.offer(BUILT_IN)
    assert set(offer["schemas"]) == {"invoice", "task_assignment"}
    assert offer["operations"] == ["negotiate"]
    again = SchemaRegistry.from_offer(offer, bases=[EMPTY, BUILT_IN])
    assert (again.hash, again.version) == (registry.hash, registry.version)


def test_an_offer_on_an_unknown_base_is_refused_e5001() -> None:
    assert code_of(SchemaRegistry.from_offer, INVOICES.offer(BUILT_IN), bases=[EMPTY]) == "E5001"


def test_two_agents_that_merge_have_the_same() -> None:
    mine = replace(BUILT_IN.register(INVOICE), operations=NEGOTIATE)
    order = replace(INVOICE, name="order", code="ORD")
    theirs = BUILT_IN.register(order).register(replace(INVOICE, version=2))
    one, other = mine.merged(theirs, pinned=PINNED), theirs.merged(mine, pinned=PINNED)
    assert (one.hash, one.version) == (other.hash, other.version)
    assert one.get("INV").version == 2
    assert one.version == theirs.version + 1


def test_a_conflict_between_two_registries_is_refused_e5001() -> None:
    theirs = EMPTY.register(replace(INVOICE, defaults={}))
    assert code_of(INVOICES.merged, theirs) == "E5001"


@pytest.mark.requirement("9-5")
def test_no_peer_redefines_a_pinned_schema_e5001() -> None:
    theirs = BUILT_IN.register(replace(BUILT_IN.get("TX"), version=2, defaults={"currency": "XXX"}))
    assert code_of(BUILT_IN.merged, theirs, pinned=PINNED) == "E5001"
    assert code_of(EMPTY.merged, theirs, pinned=PINNED) == "E5001"
    assert BUILT_IN.merged(theirs).get("TX").version == 2


def test_peers_do_not_make_a_registry_endless_e5001() -> None:
    theirs = EMPTY.register(replace(INVOICE, fields=("number", "total", "lines", "x" * (1 << 20))))
    assert code_of(BUILT_IN.merged, theirs) == "E5001"
