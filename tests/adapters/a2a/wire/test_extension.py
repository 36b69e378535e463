"""The extension on an agent's card."""

from __future__ import annotations

from accp_adapters.a2a import EXTENSION, declare, is_declared
from accp_adapters.a2a.wire.extension import VIEWS
from tests.adapters.a2a.agent import card


def test_a_card_declares_the_extension_once_and_never_requires_it() -> None:
    declared = declare(card(jsonrpc="http://x/"))
    extension, views = declared.capabilities.extensions
    assert is_declared(declared) and not is_declared(card())
    assert extension.uri == EXTENSION and extension.required is False
    assert views.uri == VIEWS and views.required is False
    assert list(declared.default_output_modes) == ["text/plain", "application/accp"]
    assert declare(declared) == declared


def test_a_card_that_takes_everything_still_does_and_signatures_of_another_card_go() -> None:
    signed = card()
    del signed.default_input_modes[:]
    signed.signatures.add(protected="x", signature="y")
    declared = declare(signed)
    assert list(declared.default_input_modes) == []
    assert list(declared.signatures) == []
    assert len(signed.signatures) == 1
