"""Every vector of ACP: envelopes and links."""

from typing import Any

import pytest

from accp_core.acp import parse_envelope, parse_link, serialize_envelope
from accp_core.errors import DecodeError
from tests.conformance.vectors import load


@pytest.mark.requirement("acp:1-2", "acp:8-1")
@pytest.mark.parametrize("vector", load("acp", "envelopes"))
def test_an_envelope_is_read_and_written_canonically(vector: dict[str, Any]) -> None:
    envelope = parse_envelope(vector["text"])
    assert type(envelope).__name__.removeprefix("Acp") == vector["kind"]
    assert serialize_envelope(envelope) == vector["canonical"]
    assert parse_envelope(vector["canonical"]) == envelope


@pytest.mark.parametrize("vector", load("acp", "refuse"))
def test_what_is_no_envelope_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(DecodeError) as refusal:
        parse_envelope(vector["text"])
    assert (refusal.value.code, refusal.value.position) == (vector["error"], vector["position"])


@pytest.mark.parametrize("vector", load("acp", "links"))
def test_a_link_is_read_and_written(vector: dict[str, Any]) -> None:
    link = parse_link(vector["text"])
    found = (link.binding.value, link.host, link.port, link.token, link.url, str(link))
    assert found == tuple(vector[name] for name in ("binding", "host", "port", "token", "url", "canonical"))
    assert parse_link(str(link)) == link


@pytest.mark.parametrize("vector", load("acp", "no_links"))
def test_what_is_no_link_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(DecodeError) as refusal:
        parse_link(vector["text"])
    assert refusal.value.code == "ERR_INVALID_REQUEST"
    assert "tok_" not in refusal.value.reason
