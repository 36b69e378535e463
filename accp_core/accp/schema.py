"""Schemas, which two agents name instead of describing a payload, and the registry of them (ACCP section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

from accp_core.accp import grammar
from accp_core.accp.frame import SCHEMA_KEY, KeyTable, same
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.strict_json import compact_json, read_json

__all__ = ["Schema", "SchemaRegistry", "read_hash"]

HASH_DIGITS: Final = 12
"""Hexadecimal digits of a hash that we write."""
MIN_HASH_DIGITS: Final = 6
"""Hexadecimal digits that must agree; the draft's example has as many."""
MAX_REGISTRY_CHARS: Final = 1 << 20
"""Characters of the JSON of a registry to which peers add."""


def invalid(reason: str) -> ProtocolError:
    """Return the exception that refuses what is not a schema or a registry."""
    return ProtocolError(reason, code=ErrorCode.INVALID_TYPE)


def denied(reason: str) -> ProtocolError:
    """Return the exception that refuses a change of the registry."""
    return ProtocolError(reason, code=ErrorCode.POLICY_DENIED)


# Without slots, as the registry below: `cached_property` needs an instance dictionary.
@dataclass(frozen=True, kw_only=True)
class Schema:
    """A pre-defined data structure (section 6.2).

    Raises:
        ProtocolError: E1004, a name, field, default or alias is not allowed.
    """

    name: str
    """Its name, such as "task_assignment"."""
    code: str
    """Its name in frames, such as "TA"; letters, digits and `_`."""
    version: int
    """The version, from 1; a higher one replaces a lower one."""
    fields: tuple[str, ...]
    """Its full keys; a message may have others."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Field to the JSON value that it has where it is absent."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Abbreviation to full key; these take precedence over Table 8."""

    def __post_init__(self) -> None:
        check_names(self)
        check_aliases(self.aliases)
        if unknown := set(self.defaults) - set(self.fields):
            raise invalid(
                f"schema {self.code}: expected defaults of its fields, found {', '.join(sorted(map(str, unknown)))}"
            )
        object.__setattr__(self, "defaults", MappingProxyType(read_json(write_json(dict(self.defaults)))))
        object.__setattr__(self, "aliases", MappingProxyType(dict(self.aliases)))

    @cached_property
    def keys(self) -> KeyTable:
        """The keys of a frame that names this schema."""
        return KeyTable(self.aliases)

    @cached_property
    def canonical_json(self) -> str:
        """Its JSON with sorted keys, the same text for equal schemas only."""
        return write_json(self.to_json(), sort_keys=True)

    def to_json(self) -> dict[str, Any]:
        """Return the schema as in section 6.2, without its name; `aliases` only where there are some."""
        data: dict[str, Any] = {"code": self.code, "version": self.version, "fields": list(self.fields)}
        data["defaults"] = deepcopy(dict(self.defaults))
        return {**data, "aliases": dict(self.aliases)} if self.aliases else data

    @classmethod
    def from_json(cls, name: str, data: object) -> Schema:
        """Return the schema whose JSON, as in section 6.2, is `data`.

        Raises:
            ProtocolError: E1004, `data` is not the JSON of a schema.
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
        """Return whether `value` is the default of `key`, in its type as well."""
        return key in self.defaults and same(value, self.defaults[key])

    def missing(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the defaults of the fields that `payload` lacks, as values that the caller may change."""
        return {key: _copy(value) for key, value in self.defaults.items() if key not in payload}


def check_names(schema: Schema) -> None:
    """Refuse a schema whose name, code, version or fields are not allowed."""
    words: tuple[object, ...] = (schema.name, schema.code, *schema.fields)
    if not all(isinstance(word, str) and word for word in words) or not grammar.NAME.fullmatch(schema.code):
        raise invalid("expected a schema with a name, a code of letters, digits and '_', and fields that are text")
    if type(schema.version) is not int or schema.version < 1:
        raise invalid(f"schema {schema.code}: expected a whole number from 1 as the version")
    if len(set(schema.fields)) < len(schema.fields) or SCHEMA_KEY in schema.fields:
        raise invalid(f"schema {schema.code}: expected each field once, and none named {SCHEMA_KEY!r}")


def check_aliases(aliases: Mapping[Any, Any]) -> None:
    """Refuse aliases that are not keys of a frame, or of which two stand for one field."""
    for short, full in aliases.items():
        plain = isinstance(short, str) and short and grammar.escape_key(short) == short
        if not plain or not isinstance(full, str) or SCHEMA_KEY in (short, full):
            raise invalid(f"expected an alias of letters, digits and '_' and its full key, found {short!r}")
    if len(set(aliases.values())) < len(aliases):
        raise invalid("expected at most one alias of each field")


def check_mapping(data: object, what: str) -> Mapping[str, Any]:
    """Return `data`, which must be a map."""
    if not isinstance(data, Mapping):
        raise invalid(f"{what}: expected a map")
    return data


def write_json(data: object, *, sort_keys: bool = False) -> str:
    """Return `data` as compact JSON, in which a Decimal is a float: a registry has one hash for every decimal type.

    Raises:
        EncodeError: E1004, `data` is not JSON.
    """
    return compact_json(data, sort_keys=sort_keys, default=_decimal_to_float)


def _decimal_to_float(value: object) -> float:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"expected a JSON value, found {type(value).__name__}")


def _copy(value: Any) -> Any:
    """Return a copy of a value that can be changed."""
    return deepcopy(value) if isinstance(value, (list, dict)) else value


@dataclass(frozen=True, kw_only=True)
class SchemaRegistry:
    """The schemas and operations that an agent knows; registering returns another registry.

    Raises:
        ProtocolError: E1004, two schemas have the same name or code.
    """

    version: int = 1
    """The number of its changes; agents compare the hash."""
    schemas: tuple[Schema, ...] = ()
    """The schemas; their order does not matter."""
    operations: frozenset[str] = frozenset()
    """Operations besides those of section 4.3; a frame with any other one is accepted as well."""

    def __post_init__(self) -> None:
        if type(self.version) is not int or self.version < 0:
            raise invalid("expected a whole number as the version of a registry")
        names = {schema.name for schema in self.schemas}
        if len(self._codes) < len(self.schemas) or len(names) < len(self.schemas):
            raise invalid("expected schemas with different names and codes")
        for operation in self.operations:
            check_operation(operation)

    @cached_property
    def _codes(self) -> Mapping[str, Schema]:
        return {schema.code: schema for schema in self.schemas}

    def get(self, code: str) -> Schema:
        """Return the schema with that code.

        Raises:
            ProtocolError: E1003, there is none.
        """
        try:
            return self._codes[code]
        except KeyError:
            raise ProtocolError(
                f"expected the code of a known schema, found {code!r}", code=ErrorCode.UNKNOWN_SCHEMA
            ) from None

    # "RegisterSchema(name, schema)  Register a custom schema" (section 7.1)
    def register(self, schema: Schema) -> SchemaRegistry:
        """Return a registry with one more schema, or with a higher version of a known one.

        The registry itself is returned where it has the same schema.

        Raises:
            ProtocolError: E5001, it conflicts with a known schema: its name has another code, its code another name, or
                its version is not higher.
        """
        old = self._codes.get(schema.code)
        if old is None:
            return self._changed(schemas=(*self.schemas, schema))
        if old.name == schema.name and old.canonical_json == schema.canonical_json:
            return self
        if old.name != schema.name or old.version >= schema.version:
            raise denied(f"schema {schema.code}: expected a version of {old.name!r} above {old.version}")
        return self._changed(schemas=tuple(schema if each is old else each for each in self.schemas))

    def _changed(self, **changes: Any) -> SchemaRegistry:
        try:
            return replace(self, version=self.version + 1, **changes)
        except ProtocolError as error:
            raise denied(error.reason) from None

    def to_json(self) -> dict[str, Any]:
        """Return the registry as in section 6.2; `operations` only where there are some."""
        schemas = {schema.name: schema.to_json() for schema in self.schemas}
        return {"schemas": schemas, "operations": sorted(self.operations)} if self.operations else {"schemas": schemas}

    @classmethod
    def from_json(cls, data: object, *, version: int = 1) -> SchemaRegistry:
        """Return the registry whose JSON, as in section 6.2, is `data`.

        Raises:
            ProtocolError: E1004, `data` is not the JSON of a registry.
        """
        members = check_mapping(data, "a registry")
        schemas = check_mapping(members.get("schemas", {}), "schemas")
        operations = members.get("operations", [])
        if not isinstance(operations, list) or not all(isinstance(word, str) for word in operations):
            raise invalid("operations: expected a list of text")
        return cls(
            version=version,
            schemas=tuple(Schema.from_json(name, schema) for name, schema in schemas.items()),
            operations=frozenset(operations),
        )

    @cached_property
    def canonical_json(self) -> str:
        """Its JSON with sorted keys and without the version, the same text for equal registries only."""
        return write_json(self.to_json(), sort_keys=True)

    # "Schema registries SHOULD be integrity-checked via hash" (section 9, item 4)
    @cached_property
    def hash(self) -> str:
        """The first 12 hexadecimal digits of the SHA-256 of the canonical JSON."""
        return sha256(self.canonical_json.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]

    # "If hashes match, no further exchange is needed." (section 6.4)
    def matches(self, announced: str) -> bool:
        """Return whether a registry with that hash is this one; a hash of 6 digits is compared in these only."""
        length = min(len(announced), HASH_DIGITS)
        return length >= MIN_HASH_DIGITS and announced[:length] == self.hash[:length]

    # "@orchestrator>sync:registry{v:3|hash:a7f2c1}" (section 6.4)
    def announcement(self) -> dict[str, Any]:
        """Return the payload of the `sync:registry` message that announces this registry."""
        return {"version": self.version, "hash": self.hash}

    # "On mismatch, the full registry delta is transmitted once and cached." (section 6.4)
    def offer(self, base: SchemaRegistry | None = None) -> dict[str, Any]:
        """Return the payload of the `sync:registry` message that sends this registry.

        Args:
            base: The registry of the peer, which is sent the difference only; None: the whole registry is sent.
        """
        if base is None:
            return {**self.announcement(), **self.to_json()}
        return {**self.announcement(), "base": base.hash, **self.delta_from(base)}

    def delta_from(self, base: SchemaRegistry) -> dict[str, Any]:
        """Return the JSON of what this registry has and `base` does not."""
        known = {(schema.name, schema.canonical_json) for schema in base.schemas}
        schemas = tuple(schema for schema in self.schemas if (schema.name, schema.canonical_json) not in known)
        return SchemaRegistry(schemas=schemas, operations=self.operations - base.operations).to_json()

    @classmethod
    def from_offer(cls, payload: Mapping[str, Any], bases: Iterable[SchemaRegistry] = ()) -> SchemaRegistry:
        """Return the registry that a peer sent.

        Args:
            payload: The payload of its `sync:registry` message.
            bases: The registries to which a delta may refer.

        Raises:
            ProtocolError: E1004, the payload holds no registry; E5001, its base is unknown, or its hash is not the
                announced one.
        """
        announced, version = read_hash(payload.get("hash")), payload.get("version")
        if type(version) is not int:
            raise invalid("expected a whole number as the version of a registry")
        registry = cls.from_json(payload, version=version)
        if "base" in payload:
            base = find_base(read_hash(payload["base"]), bases)
            codes = {schema.code for schema in registry.schemas}
            kept = tuple(schema for schema in base.schemas if schema.code not in codes)
            operations = base.operations | registry.operations
            registry = replace(registry, schemas=(*kept, *registry.schemas), operations=operations)
        if not registry.matches(announced):
            raise denied(f"expected a registry with the hash {announced}, found {registry.hash}")
        return registry

    def merged(self, peer: SchemaRegistry, *, pinned: frozenset[str] = frozenset()) -> SchemaRegistry:
        """Return the union of both registries; two agents that merge each other's registry get the same.

        A lower version of a known schema is ignored.

        Args:
            peer: The registry of the peer.
            pinned: Codes of schemas that the peer may not change, not even by a higher version.

        Raises:
            ProtocolError: E5001, the two conflict, or their union is too long.
        """
        merged = self
        for schema in peer.schemas:
            old = self._codes.get(schema.code)
            if old is not None and old.name == schema.name and old.version > schema.version:
                continue
            if schema.code in pinned and (old is None or old.canonical_json != schema.canonical_json):
                raise denied(f"schema {schema.code}: expected the built-in schema, found a change by a peer")
            merged = merged.register(schema)
        merged = replace(merged, operations=merged.operations | peer.operations)
        if len(merged.canonical_json) > MAX_REGISTRY_CHARS:
            raise denied(f"expected at most {MAX_REGISTRY_CHARS} characters of merged registries, found more")
        newest = max(self.version, peer.version)
        grown = merged.canonical_json not in (self.canonical_json, peer.canonical_json)
        return replace(merged, version=newest + 1 if grown else newest)


def check_operation(operation: str) -> None:
    """Refuse a word that cannot be the operation of a frame."""
    if not grammar.NAME.fullmatch(operation):
        raise invalid(f"expected an operation of letters, digits and '_', found {operation!r}")


def find_base(announced: str, bases: Iterable[SchemaRegistry]) -> SchemaRegistry:
    """Return the registry among `bases` that has the announced hash."""
    for base in bases:
        if base.matches(announced):
            return base
    raise denied(f"expected a delta to a known registry, found one to {announced}")


def read_hash(value: object) -> str:
    """Return the hash in a parameter, which was read as a number where it has digits only.

    Raises:
        ProtocolError: E1004, it cannot be a hash.
    """
    if isinstance(value, str) or type(value) is int:
        return str(value)
    raise invalid(f"expected a hash, found {type(value).__name__}")
