"""Schemas, registries and how two agents agree on one."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accp_core.accp import Ref
from accp_core.accp.profiles import BUILT_IN, PINNED
from accp_core.accp.schema import Schema, SchemaRegistry, read_hash
from accp_core.errors import ProtocolError

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


def code_of(call: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(ProtocolError) as refusal:
        call(*arguments, **named)
    return refusal.value.code


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


def test_a_schema_is_written_and_read() -> None:
    assert Schema.from_json("invoice", INVOICE.to_json()) == INVOICE
    assert INVOICE.to_json()["aliases"] == {"n": "number"}
    assert "aliases" not in BUILT_IN.get("SR").to_json()


@pytest.mark.parametrize(
    "data",
    [
        [],
        {},
        {"code": "A", "version": 1, "fields": "abc"},
        {"code": "A", "version": 1, "fields": [], "defaults": []},
        {"code": "A", "version": 1, "fields": [], "aliases": 1},
        {"code": "A", "version": 1, "fields": [], "color": "red"},
    ],
)
def test_json_that_says_no_schema_is_refused_e1004(data: Any) -> None:
    assert code_of(Schema.from_json, "x", data) == "E1004"


def test_defaults_are_of_json_and_of_ones_own() -> None:
    lines: list[Any] = []
    schema = replace(INVOICE, defaults={"lines": lines, "total": Decimal("0.0")})
    lines.append(1)
    schema.missing({})["lines"].append(2)
    assert schema.missing({"total": 1}) == {"lines": []}
    assert schema.canonical_json == INVOICE.canonical_json


def test_defaults_are_filled_in_in_the_order_of_the_schema() -> None:
    assert list(BUILT_IN.get("TA").missing({})) == ["priority", "deps"]


def test_a_default_is_one_in_type_as_well() -> None:
    assert INVOICE.is_default("total", 0.0)
    assert not INVOICE.is_default("total", 0)
    assert not INVOICE.is_default("number", None)


def test_an_unknown_schema_is_refused_e1003() -> None:
    assert code_of(EMPTY.get, "INV") == "E1003"


def test_registering_gives_another_registry_of_the_next_version() -> None:
    assert INVOICES.get("INV") is INVOICE
    assert (EMPTY.version, INVOICES.version, EMPTY.schemas) == (1, 2, ())
    assert INVOICES.register(replace(INVOICE)) is INVOICES


def test_a_higher_version_replaces_a_lower_one() -> None:
    newer = replace(INVOICE, version=2, fields=("number", "total", "lines", "due"))
    registry = BUILT_IN.register(INVOICE).register(newer)
    assert registry.get("INV") is newer
    assert len(registry.schemas) == len(BUILT_IN.schemas) + 1


@pytest.mark.parametrize(
    "change",
    [{"name": "bill"}, {"name": "bill", "version": 2}, {"defaults": {}}, {"code": "BIL"}],
)
def test_a_schema_that_conflicts_with_a_known_one_is_refused_e5001(change: dict[str, Any]) -> None:
    assert code_of(INVOICES.register, replace(INVOICE, **change)) == "E5001"


def test_a_lower_version_is_refused_e5001() -> None:
    registry = EMPTY.register(replace(INVOICE, version=3))
    assert code_of(registry.register, replace(INVOICE, version=2)) == "E5001"


def test_two_schemas_of_one_code_make_no_registry_e1004() -> None:
    assert code_of(SchemaRegistry, schemas=(INVOICE, replace(INVOICE, name="x"))) == "E1004"
    assert code_of(SchemaRegistry, schemas=(INVOICE, replace(INVOICE, code="X"))) == "E1004"


@pytest.mark.parametrize("version", [-1, True, 1.0])
def test_a_registry_counts_its_versions_e1004(version: Any) -> None:
    assert code_of(SchemaRegistry, version=version) == "E1004"


def test_operations_are_registered_beside_the_core_ones() -> None:
    assert replace(EMPTY, operations=NEGOTIATE).to_json()["operations"] == ["negotiate"]
    assert code_of(SchemaRegistry, operations=frozenset({"two words"})) == "E1004"


def test_a_registry_is_written_and_read() -> None:
    registry = replace(BUILT_IN.register(INVOICE), operations=NEGOTIATE)
    again = SchemaRegistry.from_json(registry.to_json(), version=registry.version)
    assert again.canonical_json == registry.canonical_json
    assert again.version == registry.version
    assert "operations" not in BUILT_IN.to_json()


@pytest.mark.parametrize(
    "data", [1, {"schemas": []}, {"operations": "plan"}, {"operations": [1]}, {"operations": [""]}]
)
def test_json_that_says_no_registry_is_refused_e1004(data: Any) -> None:
    assert code_of(SchemaRegistry.from_json, data) == "E1004"


def test_the_hash_goes_by_content_and_not_by_order_or_version() -> None:
    turned = SchemaRegistry(version=9, schemas=BUILT_IN.schemas[::-1])
    assert turned.hash == BUILT_IN.hash
    assert len(BUILT_IN.hash) == 12
    assert INVOICES.hash != EMPTY.hash


def test_hashes_are_compared_over_the_shorter_six_digits_at_least() -> None:
    digest = BUILT_IN.hash
    assert BUILT_IN.matches(digest)
    assert BUILT_IN.matches(digest[:6])
    assert BUILT_IN.matches(digest + "0000")
    assert not BUILT_IN.matches(digest[:5])
    assert not BUILT_IN.matches("000000")


def test_a_hash_of_digits_was_read_as_a_number() -> None:
    assert read_hash(123456) == "123456"
    assert code_of(read_hash, True) == "E1004"
    assert code_of(read_hash, None) == "E1004"


def test_an_offer_says_all_of_the_registry() -> None:
    registry = BUILT_IN.register(INVOICE)
    offer = registry.offer()
    assert {"version": registry.version, "hash": registry.hash}.items() <= offer.items()
    assert SchemaRegistry.from_offer(offer).canonical_json == registry.canonical_json


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


def test_a_registry_that_was_changed_on_its_way_is_refused_e5001() -> None:
    offer = INVOICES.offer()
    offer["schemas"]["invoice"]["defaults"] = {"total": 1.0}
    assert code_of(SchemaRegistry.from_offer, offer) == "E5001"


@pytest.mark.parametrize("change", [{"hash": None}, {"version": "N+1"}, {"version": True}])
def test_an_offer_without_version_or_hash_is_refused_e1004(change: dict[str, Any]) -> None:
    assert code_of(SchemaRegistry.from_offer, {**INVOICES.offer(), **change}) == "E1004"


def test_two_agents_that_merge_have_the_same() -> None:
    mine = replace(BUILT_IN.register(INVOICE), operations=NEGOTIATE)
    order = replace(INVOICE, name="order", code="ORD")
    theirs = BUILT_IN.register(order).register(replace(INVOICE, version=2))
    one, other = mine.merged(theirs, pinned=PINNED), theirs.merged(mine, pinned=PINNED)
    assert (one.hash, one.version) == (other.hash, other.version)
    assert one.get("INV").version == 2
    assert one.version == theirs.version + 1


def test_who_knows_it_all_already_keeps_the_newest_version() -> None:
    mine = BUILT_IN.register(INVOICE)
    assert mine.merged(BUILT_IN).version == mine.version
    assert BUILT_IN.merged(mine).version == mine.version
    assert mine.merged(BUILT_IN).hash == mine.hash


def test_a_conflict_between_two_registries_is_refused_e5001() -> None:
    theirs = EMPTY.register(replace(INVOICE, defaults={}))
    assert code_of(INVOICES.merged, theirs) == "E5001"


def test_no_peer_redefines_a_pinned_schema_e5001() -> None:
    theirs = BUILT_IN.register(replace(BUILT_IN.get("TX"), version=2, defaults={"currency": "XXX"}))
    assert code_of(BUILT_IN.merged, theirs, pinned=PINNED) == "E5001"
    assert code_of(EMPTY.merged, theirs, pinned=PINNED) == "E5001"
    assert BUILT_IN.merged(theirs).get("TX").version == 2


def test_peers_do_not_make_a_registry_endless_e5001() -> None:
    theirs = EMPTY.register(replace(INVOICE, fields=("number", "total", "lines", "x" * (1 << 20))))
    assert code_of(BUILT_IN.merged, theirs) == "E5001"
