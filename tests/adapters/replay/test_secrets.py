"""What is hidden before a text is kept, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accp_adapters.replay.page import LEFT_OUT, MAX_SECRETS, hide_secrets, secrets_in

TEXTS = json.loads(Path(__file__).with_name("secrets.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "shown"), TEXTS["hidden"])
def test_a_secret_is_hidden(text: str, shown: str) -> None:
    assert hide_secrets(text) == shown


@pytest.mark.parametrize("text", TEXTS["kept"])
def test_what_is_no_secret_stays(text: str) -> None:
    assert hide_secrets(text) == text


def test_a_value_known_from_another_form_is_hidden_wherever_it_stands() -> None:
    secrets = secrets_in('[{"user": "bob", "password": "hunter22"}, {"user": "eve", "password": "abc"}]')
    assert hide_secrets("user password\nbob hunter22\neve abc", secrets) == "user password\nbob [redacted]\neve abc"


def test_a_table_whose_cells_are_too_long_for_a_table_is_read_no_further() -> None:
    assert secrets_in(f"user,password\nbob,hunter22\neve,{'x' * 200_000}") == {"hunter22"}


def test_a_text_with_more_secrets_than_are_looked_for_is_left_out() -> None:
    text = " ".join(f"password=secret{n}" for n in range(2_000))
    assert len(secrets_in(text)) == MAX_SECRETS
    assert hide_secrets(text) == LEFT_OUT
