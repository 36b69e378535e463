"""What is hidden before a text is kept, and what is not."""

from __future__ import annotations

import json

import pytest

from accp_adapters.replay import StrategyName, replay
from accp_adapters.replay.contents.secrets import hide_secrets, secrets_in
from tests.adapters.replay.runs import answers, asks, run_of, says

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ('{"password": "hunter22", "user": "bob"}', '{"password": "[redacted]", "user": "bob"}'),
        (r'{"body": "{\"api_key\": \"abc12345\"}"}', r'{"body": "{\"api_key\": \"[redacted]\"}"}'),
        ("Authorization: Bearer abc.def-123\nHost: x", "Authorization: Bearer [redacted]\nHost: x"),
        ("GET /?access_token=abc12345&page=2", "GET /?access_token=[redacted]&page=2"),
        ("export DB_PASSWORD=hunter22", "export DB_PASSWORD=[redacted]"),
        ("secret: 'two words', n: 1", "secret: '[redacted]', n: 1"),
        ('{"token": 7}', '{"token": [redacted]}'),
        ("use sk-abcdefghijklmnop1234 here", "use [redacted] here"),
        (f"it is {TOKEN}.", "it is [redacted]."),
        ("postgresql://bob:hunter22@db/x", "postgresql://[redacted]@db/x"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE+/=\n", "[redacted]"),
    ],
)
def test_a_secret_is_hidden(text: str, hidden: str) -> None:
    assert hide_secrets(text) == hidden


@pytest.mark.parametrize(
    "text", ['{"password": null, "secret": true}', '{"total_tokens": 512}', "the password is not said", "a=b; c: d"]
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert hide_secrets(text) == text


def test_a_value_known_from_another_form_is_hidden_wherever_it_stands() -> None:
    secrets = secrets_in('[{"user": "bob", "password": "hunter22"}, {"user": "eve", "password": "abc"}]')
    assert hide_secrets("user password\nbob hunter22\neve abc", secrets) == "user password\nbob [redacted]\neve abc"


def test_texts_are_kept_without_secrets() -> None:
    rows = [{"user": f"user{n}", "password": f"hunter{n}-secret"} for n in range(200)]
    run = run_of(asks({}, 0), answers(json.dumps(rows), 0), says("user7", 1))
    (text,) = replay(run, StrategyName.LOSSLESS, texts=True).texts
    assert "user7" in text.sent
    assert "hunter" not in text.recorded + text.sent
    assert "[redacted]" in text.sent


def test_the_secrets_of_one_text_are_bounded() -> None:
    assert len(secrets_in(" ".join(f"password=secret{n}" for n in range(2_000)))) == 500
