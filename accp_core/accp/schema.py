"""Data structures that two agents name instead of describing, and the registry they agree on (ACCP section 6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

from accp_core.accp import grammar
from accp_core.accp.keys import PLAIN_KEYS, SCHEMA_KEY, KeyTable
from accp_core.accp.values import same
from accp_core.accp.vocabulary import CORE_OPERATIONS
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["PLAIN_KEYS", "SCHEMA_KEY", "KeyTable", "Schema", "SchemaRegistry", "read_hash"]

HASH_DIGITS: Final = 12
"""Hex digits of a hash that we write; the draft's example has 6, and so many must agree at least."""
FEWEST_HASH_DIGITS: Final = 6
LONGEST: Final = 1 << 20
"""Characters of a registry that peers add to."""


def invalid(reason: str) -> ProtocolError:
    """Return the exception that refuses what is no schema."""
    return ProtocolError(reason, code=ErrorCode.INVALID_TYPE)


def denied(reason: str) -> ProtocolError:
    """Return the exception that refuses a schema for what it would change."""
    return ProtocolError(reason, code=ErrorCode.POLICY_DENIED)


# Without slots, both of these: what is derived from them is kept beside them.
@dataclass(frozen=True, kw_only=True)
class Schema:
    """A pre-defined data structure (section 6.2).

    Raises: ProtocolError E1004 when it could not do what a schema does.
    """

    name: str
    """What people call it, such as "task_assignment"."""
    code: str
    """What a frame calls it, such as "TA"; letters, digits and `_`."""
    version: int
    """From 1; a higher one replaces a lower one."""
    fields: tuple[str, ...]
    """The full keys it knows; a message may have others."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Field to the JSON value that an absent field has."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Abbreviation to full key, before those of Table 8."""

    def __post_init__(self) -> None:
        check_names(self)
        check_aliases(self.aliases)
        if unknown := set(self.defaults) - set(self.fields):
            raise invalid(f"schema {self.code}: defaults of no field: {', '.join(sorted(map(str, unknown)))}")
        object.__setattr__(self, "defaults", MappingProxyType(json.loads(write_json(dict(self.defaults)))))
        object.__setattr__(self, "aliases", MappingProxyType(dict(self.aliases)))

    @cached_property
    def keys(self) -> KeyTable:
        """The keys of a frame that names this schema."""
        return KeyTable(self.aliases)

    @cached_property
    def canonical_json(self) -> str:
        """The one text that all equal schemas have, and no other."""
        return canonical_json(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the schema as section 6.2 writes it, without its name; `aliases` only where there are some."""
        data: dict[str, Any] = {"code": self.code, "version": self.version, "fields": list(self.fields)}
        data["defaults"] = deepcopy(dict(self.defaults))
        return {**data, "aliases": dict(self.aliases)} if self.aliases else data

    @classmethod
    def from_json(cls, name: str, data: object) -> Schema:
        """Return the schema that section 6.2 writes as `data`.

        Raises: ProtocolError E1004 when it is none.
        """
        members = check_mapping(data, f"schema {name}")
        fields, unknown = members.get("fields"), set(members) - {"code", "version", "fields", "defaults", "aliases"}
        if not isinstance(fields, list) or unknown:
            raise invalid(f"schema {name}: expected code, version, a list of fields, defaults, aliases and no other")
        return cls(
            name=name,
            code=members.get("code", ""),
            version=members.get("version", 0),
            fields=tuple(fields),
            defaults=check_mapping(members.get("defaults", {}), f"defaults of {name}"),
            aliases=check_mapping(members.get("aliases", {}), f"aliases of {name}"),
        )

    # "Omit defaults -- Do not encode values that match the schema default." (section 3.3, item 5)
    def is_default(self, key: str, value: object) -> bool:
        """Return whether an absent `key` would be read as `value`, in type as well."""
        return key in self.defaults and same(value, self.defaults[key])

    def missing(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the defaults of the fields that `payload` lacks, as values of one's own."""
        return {key: fresh(value) for key, value in self.defaults.items() if key not in payload}


def check_names(schema: Schema) -> None:
    """Refuse a schema that nobody could name, or whose fields are no keys."""
    words: tuple[object, ...] = (schema.name, schema.code, *schema.fields)
    if not all(isinstance(word, str) and word for word in words) or not grammar.NAME.fullmatch(schema.code):
        raise invalid("a schema has a name, a code of letters, digits and '_', and fields, all of them text")
    if type(schema.version) is not int or schema.version < 1:
        raise invalid(f"schema {schema.code}: a version is a whole number from 1")
    if len(set(schema.fields)) < len(schema.fields) or SCHEMA_KEY in schema.fields:
        raise invalid(f"schema {schema.code}: a field stands twice, or is called {SCHEMA_KEY}")


def check_aliases(aliases: Mapping[Any, Any]) -> None:
    """Refuse aliases that a frame could not carry, or that do not lead back."""
    for short, full in aliases.items():
        plain = isinstance(short, str) and short and grammar.escape_key(short) == short
        if not plain or not isinstance(full, str) or SCHEMA_KEY in (short, full):
            raise invalid(f"not an alias: {short!r}")
    if len(set(aliases.values())) < len(aliases):
        raise invalid("two aliases of one field")


def check_mapping(data: object, what: str) -> Mapping[str, Any]:
    """Return `data`, if it is a map."""
    if not isinstance(data, Mapping):
        raise invalid(f"{what}: expected a map")
    return data


def canonical_json(data: object) -> str:
    """Return the JSON text with sorted keys; raises what `write_json` raises."""
    return write_json(data, sort_keys=True)


def write_json(data: object, *, sort_keys: bool = False) -> str:
    """Return the JSON text without white space.

    Raises: ProtocolError E1004 when `data` is not JSON.
    """
    try:
        return json.dumps(
            data, sort_keys=sort_keys, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=read_decimal
        )
    except (TypeError, ValueError, RecursionError):
        raise invalid("a schema is made of JSON values") from None


def read_decimal(value: object) -> float:
    """Return a decimal as JSON has it: a registry means the same, however its reader likes decimals."""
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError


def fresh(value: Any) -> Any:
    """Return `value`, copied where somebody could change it."""
    return deepcopy(value) if isinstance(value, (list, dict)) else value


@dataclass(frozen=True, kw_only=True)
class SchemaRegistry:
    """The schemas and operations that an agent knows; registering gives another registry, this one stays.

    Raises: ProtocolError E1004 when two schemas share a name or a code.
    """

    version: int = 1
    """Counts the changes; what agents compare is the hash."""
    schemas: tuple[Schema, ...] = ()
    """In any order, which neither the hash nor a reader sees."""
    operations: frozenset[str] = frozenset()
    """Verbs besides those of section 4.3; nothing is refused for another one."""

    def __post_init__(self) -> None:
        if type(self.version) is not int or self.version < 0:
            raise invalid("the version of a registry is a whole number")
        names = {schema.name for schema in self.schemas}
        if len(self._codes) < len(self.schemas) or len(names) < len(self.schemas):
            raise invalid("two schemas of one name or one code")
        for operation in self.operations:
            check_operation(operation)

    @cached_property
    def _codes(self) -> Mapping[str, Schema]:
        return {schema.code: schema for schema in self.schemas}

    def get(self, code: str) -> Schema:
        """Return the schema of that code.

        Raises: ProtocolError E1003 when there is none.
        """
        try:
            return self._codes[code]
        except KeyError:
            raise ProtocolError(f"unknown schema {code}", code=ErrorCode.UNKNOWN_SCHEMA) from None

    def has_operation(self, operation: str) -> bool:
        """Return whether section 4.3 or somebody who registered it knows this verb."""
        return operation in CORE_OPERATIONS or operation in self.operations

    # "RegisterSchema(name, schema)  Register a custom schema" (section 7.1)
    def register(self, schema: Schema) -> SchemaRegistry:
        """Return a registry that has `schema` as well, or instead of a lower version of it.

        The registry itself is returned when it has the very schema.

        Raises: ProtocolError E5001 when the schema conflicts with one that is known: the name with another
            code, the code with another name, a lower version, or one version with two meanings.
        """
        old = self._codes.get(schema.code)
        if old is None:
            return self._changed(schemas=(*self.schemas, schema))
        if old.name == schema.name and old.canonical_json == schema.canonical_json:
            return self
        if old.name != schema.name or old.version >= schema.version:
            raise denied(f"schema {schema.code}: version {old.version} of {old.name} is known and stays")
        return self._changed(schemas=tuple(schema if each is old else each for each in self.schemas))

    # "Harnesses MAY register custom operations via the registry extension mechanism." (section 4.3)
    def register_operation(self, operation: str) -> SchemaRegistry:
        """Return a registry that knows this verb as well.

        Raises: ProtocolError E1004 when it is no word of letters, digits and `_`.
        """
        check_operation(operation)
        return self if self.has_operation(operation) else self._changed(operations=self.operations | {operation})

    def _changed(self, **changes: Any) -> SchemaRegistry:
        try:
            return replace(self, version=self.version + 1, **changes)
        except ProtocolError as error:
            raise denied(error.reason) from None

    def to_json(self) -> dict[str, Any]:
        """Return the registry as section 6.2 writes it; `operations` only where there are some."""
        schemas = {schema.name: schema.to_json() for schema in self.schemas}
        return {"schemas": schemas, "operations": sorted(self.operations)} if self.operations else {"schemas": schemas}

    @classmethod
    def from_json(cls, data: object, *, version: int = 1) -> SchemaRegistry:
        """Return the registry that section 6.2 writes as `data`.

        Raises: ProtocolError E1004 when it is none.
        """
        members = check_mapping(data, "a registry")
        schemas = check_mapping(members.get("schemas", {}), "schemas")
        operations = members.get("operations", [])
        if not isinstance(operations, list) or not all(isinstance(word, str) for word in operations):
            raise invalid("operations: expected a list of words")
        return cls(
            version=version,
            schemas=tuple(Schema.from_json(name, schema) for name, schema in schemas.items()),
            operations=frozenset(operations),
        )

    @cached_property
    def canonical_json(self) -> str:
        """The one text that all equal registries have, and no other; the version is not in it."""
        return canonical_json(self.to_json())

    # "Schema registries SHOULD be integrity-checked via hash" (section 9, item 4)
    @cached_property
    def hash(self) -> str:
        """The first 12 hex digits of the SHA-256 of the canonical JSON."""
        return sha256(self.canonical_json.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]

    # "If hashes match, no further exchange is needed." (section 6.4)
    def matches(self, announced: str) -> bool:
        """Return whether a registry of that hash is this one; the shorter hash decides, 6 digits at least."""
        length = min(len(announced), HASH_DIGITS)
        return length >= FEWEST_HASH_DIGITS and announced[:length] == self.hash[:length]

    # "@orchestrator>sync:registry{v:3|hash:a7f2c1}" (section 6.4)
    def announcement(self) -> dict[str, Any]:
        """Return the payload of the `sync:registry` message that opens a session."""
        return {"version": self.version, "hash": self.hash}

    # "On mismatch, the full registry delta is transmitted once and cached." (section 6.4)
    def offer(self, base: SchemaRegistry | None = None) -> dict[str, Any]:
        """Return the payload of the `sync:registry` message that answers an announcement of another hash.

        It says all of the registry, or, with `base`, only what a peer that knows `base` lacks.
        """
        if base is None:
            return {**self.announcement(), **self.to_json()}
        return {**self.announcement(), "base": base.hash, **self.delta_from(base)}

    def delta_from(self, base: SchemaRegistry) -> dict[str, Any]:
        """Return the JSON of what this registry has and `base` has not."""
        known = {(schema.name, schema.canonical_json) for schema in base.schemas}
        schemas = tuple(schema for schema in self.schemas if (schema.name, schema.canonical_json) not in known)
        return SchemaRegistry(schemas=schemas, operations=self.operations - base.operations).to_json()

    @classmethod
    def from_offer(cls, payload: Mapping[str, Any], bases: Iterable[SchemaRegistry] = ()) -> SchemaRegistry:
        """Return the registry of a peer's `sync:registry` payload; one of `bases` is what a delta adds to.

        Raises: ProtocolError E1004 when the payload offers no registry, E5001 when its base is unknown or
            when what it says has not the hash it announces: somebody changed it on its way.
        """
        announced, version = read_hash(payload.get("hash")), payload.get("version")
        if type(version) is not int:
            raise invalid("the version of a registry is a whole number")
        registry = cls.from_json(payload, version=version)
        if "base" in payload:
            base = find_base(read_hash(payload["base"]), bases)
            codes = {schema.code for schema in registry.schemas}
            kept = tuple(schema for schema in base.schemas if schema.code not in codes)
            operations = base.operations | registry.operations
            registry = replace(registry, schemas=(*kept, *registry.schemas), operations=operations)
        if not registry.matches(announced):
            raise denied(f"the registry is not the announced one: {announced}")
        return registry

    def merged(self, peer: SchemaRegistry, *, pinned: frozenset[str] = frozenset()) -> SchemaRegistry:
        """Return what both registries know; two agents that merge each other's get the same.

        The codes in `pinned` are not for the peer to change, not even by a higher version.

        Raises: ProtocolError E5001 when the two conflict or are too long together; a lower version of what is known
            here is passed over.
        """
        merged = self
        for schema in peer.schemas:
            old = self._codes.get(schema.code)
            if old is not None and old.name == schema.name and old.version > schema.version:
                continue
            if schema.code in pinned and (old is None or old.canonical_json != schema.canonical_json):
                raise denied(f"schema {schema.code} is not for a peer to change")
            merged = merged.register(schema)
        merged = replace(merged, operations=merged.operations | peer.operations)
        if len(merged.canonical_json) > LONGEST:
            raise denied("the registry would be too long to offer in one frame")
        newest = max(self.version, peer.version)
        grown = merged.canonical_json not in (self.canonical_json, peer.canonical_json)
        return replace(merged, version=newest + 1 if grown else newest)


def check_operation(operation: str) -> None:
    """Refuse what a frame could not have as its operation."""
    if not grammar.NAME.fullmatch(operation):
        raise invalid(f"not an operation: {operation!r}")


def find_base(announced: str, bases: Iterable[SchemaRegistry]) -> SchemaRegistry:
    """Return the one of `bases` that a delta adds to."""
    for base in bases:
        if base.matches(announced):
            return base
    raise denied(f"a delta to an unknown registry: {announced}")


def read_hash(value: object) -> str:
    """Return the hash that a parameter says; one that is all digits was read as a number.

    Raises: ProtocolError E1004 when it can be no hash.
    """
    if isinstance(value, str) or type(value) is int:
        return str(value)
    raise invalid("expected a hash")
