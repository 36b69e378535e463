"""References to stored texts: the key of a text, its record, and the one check of who may open it."""

from accp_core.references.grants import HANDING, Handing, check_grant, checked_text, open_reference
from accp_core.references.key import (
    find_references,
    is_hash_key,
    is_named,
    is_reference,
    key_of,
    match_keys,
    mistyped_references,
    parse_reference,
    reference_to,
    reference_to_uri,
    replace_references,
    short_key,
    short_reference,
    split_reference,
    uri_to_key,
    uri_to_reference,
)
from accp_core.references.record import HANDED_TEXTS_KEY, StoredText

__all__ = [
    "HANDED_TEXTS_KEY", "HANDING", "Handing", "StoredText", "check_grant", "checked_text", "find_references",
    "is_hash_key", "is_named", "is_reference", "key_of", "match_keys", "mistyped_references", "open_reference",
    "parse_reference", "reference_to", "reference_to_uri", "replace_references", "short_key", "short_reference",
    "split_reference", "uri_to_key", "uri_to_reference",
]  # fmt: skip
