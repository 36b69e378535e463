"""What is hidden before a text is kept, and what is not."""

from __future__ import annotations

import pytest

from accp_adapters.replay.page import LEFT_OUT, MAX_SECRETS, hide_secrets, secrets_in

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ('{"password": "hunter22", "user": "bob"}', '{"password": "[redacted]", "user": "bob"}'),
        (r'{"body": "{\"api_key\": \"abc12345\"}"}', r'{"body": "{\"api_key\": \"[redacted]\"}"}'),
        (r'{"r": "{\"secret\": \"a\\\"hunter22\\n3\"}"}', r'{"r": "{\"secret\": \"[redacted]\"}"}'),
        ("Authorization: Bearer abc.def-123\nHost: x", "Authorization: Bearer [redacted]\nHost: x"),
        ("GET /?access_token=abc12345&page=2", "GET /?access_token=[redacted]&page=2"),
        ("export DB_PASSWORD=hunter22", "export DB_PASSWORD=[redacted]"),
        ("secret: 'two words', n: 1", "secret: '[redacted]', n: 1"),
        ('{"token": 7}', '{"token": [redacted]}'),
        ("use sk-abcdefghijklmnop1234 here", "use [redacted] here"),
        (f"it is {TOKEN}.", "it is [redacted]."),
        ("postgresql://bob:hunter22@db/x", "postgresql://[redacted]@db/x"),
        (r'{"env":"DB_PASSWORD=hunter14\nSECRET_KEY=k"}', r'{"env":"DB_PASSWORD=[redacted]\nSECRET_KEY=[redacted]"}'),
        ('{"h": "Authorization: Bearer abc.def-123"}', '{"h": "Authorization: Bearer [redacted]"}'),
        ("curl -u bob:pw https://h", "curl -u bob:[redacted] https://h"),
        ('{"cmd": "curl --user bob:pw"}', '{"cmd": "curl --user bob:[redacted]"}'),
        ('{"PASSWORD":["hunter22", 12345]}', '{"PASSWORD":["[redacted]", [redacted]]}'),
        ('{"password ":{"value":"hunter22"}}', '{"password ":{"value":"[redacted]"}}'),
        ('note\n{"password":{"a":"hunter22"}}', 'note\n{"password":{"a":"[redacted]"}}'),
        (r'{"body":"{\"secrets\":[\"hunter22\"]}"}', r'{"body":"{\"secrets\":[\"[redacted]\"]}"}'),
        ('{"name":"password","value":"hunter22"}', '{"name":"password","value":"[redacted]"}'),
        ('{"pwd": "hunter22"}', '{"pwd": "[redacted]"}'),
        ('user,password\nbob,hunter22\n"eve","hunter 33"\n', 'user,password\nbob,[redacted]\n"eve","[redacted]"\n'),
        ("password:\n  hunter22 x\nuser:\n  bob", "password:\n  [redacted]\nuser:\n  bob"),
        ("a:\n- password: |\n    hunter22\n\n    3\n  b: 1", "a:\n- password: [redacted]\n    [redacted]\n  b: 1"),
        ("<a><w:Pwd t='x'>h&amp;2</w:Pwd> <pwd>", "<a><w:Pwd t='x'>[redacted]</w:Pwd> <pwd>"),
        ("NAME  TOKEN      AGE\na     hunter22   3d\nb     hunter 3   4d\nc     hunter44   5d", None),
        ("token:   hunter22 x, n: 1", "token:   [redacted], n: 1"),
        ('password = """\nhunter22\n3"""', 'password = """[redacted]"""'),
        ("mysql --password hunter22 -u bob", "mysql --password [redacted] -u bob"),
        ('{"password": {"a": "line\\nhunter22"}}', '{"password": {"a": "[redacted]"}}'),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE+/=\n", "[redacted]"),
    ],
)
def test_a_secret_is_hidden(text: str, hidden: str | None) -> None:
    shown = hide_secrets(text)
    assert shown == hidden if hidden else "hunter" not in shown


@pytest.mark.parametrize(
    "text",
    [
        '{"password": null, "secret": true}',
        '{"total_tokens": 512}',
        '{"password": [null, true, "none"], "name": 3}',
        "user,secret\nbob",
        "the password is not said",
        "a=b; c: d",
        "Hello, my password\nis, lost",
    ],
)
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
