"""A stored text and the ways to cite it."""

from accp_core.references import StoredText, key_of, uri_to_reference


def test_a_text_is_stored_under_its_own_key() -> None:
    record = StoredText.of("the whole result")
    assert record == StoredText(key=key_of("the whole result"), text="the whole result", expires_at=None)
    assert StoredText.of("", expires_at=1_714_000_000).expires_at == 1_714_000_000


def test_a_record_is_cited_by_its_reference_and_its_uri() -> None:
    record = StoredText(key="cold.c95", text="chosen by a peer")
    assert (record.reference, record.uri) == ("$cold.c95", "accp://cold/c95")
    record = StoredText.of("the whole result")
    assert record.reference == f"${record.key}"
    assert uri_to_reference(record.uri) == record.reference
