"""Who may look: a wrong token, host or origin and a second use are refused, and nothing can be changed."""

from __future__ import annotations

import pytest

from tests.adapters.inspector.live.clients import HOST, TOKEN, client

PATHS = ["/", "/changes", "/inspector.css", "/inspector.js", "/threads/x", "/nothing"]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_shown_without_the_token(path: str) -> None:
    response = client().get(path)
    assert response.status_code == 401
    assert response.text == "expected the address that `accp inspect` has printed"


@pytest.mark.parametrize("token", ["", "x", TOKEN + "x", TOKEN[:-1], "\udcff", "%00"])
def test_a_wrong_token_is_refused_and_not_spent(token: str) -> None:
    browser = client()
    assert browser.get("/", params={"token": token.encode("utf-8", "replace")}).status_code in (401, 403)
    assert "set-cookie" not in browser.get(f"/?token=x{TOKEN}").headers
    assert browser.get(f"/?token={TOKEN}").status_code == 303


def test_the_token_becomes_a_cookie_that_no_script_and_no_other_site_has() -> None:
    browser = client()
    response = browser.get(f"/?token={TOKEN}")
    assert response.status_code == 303
    assert response.headers["location"] == "/"
    _, *attributes = response.headers["set-cookie"].split("; ")
    assert {each.lower() for each in attributes} == {"httponly", "path=/", "samesite=strict"}
    assert TOKEN not in response.headers["set-cookie"]
    assert browser.get("/").status_code == 200
    assert browser.get(f"/?token={TOKEN}").headers["location"] == "/", "the browser that has the cookie goes on"


def test_a_second_use_is_refused() -> None:
    browser = client()
    browser.get(f"/?token={TOKEN}")
    browser.cookies.clear()
    response = browser.get(f"/?token={TOKEN}")
    assert (response.status_code, "set-cookie" in response.headers) == (403, False)
    assert response.text.startswith("expected a token that was not used before")
    assert browser.get("/").status_code == 401


def test_a_cookie_of_somebody_else_is_refused() -> None:
    browser = client()
    browser.get(f"/?token={TOKEN}")
    ((name, value),) = browser.cookies.items()
    browser.cookies.clear()
    for wrong in (value[:-1], value + "x", "", f'"{value}x"'):
        assert browser.get("/", headers={"cookie": f"{name}={wrong}"}).status_code == 401
    other = client()
    assert other.get("/", headers={"cookie": f"{name}={value}"}).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "[", "127.0.0.2:8000"])
def test_a_wrong_host_is_refused(host: str) -> None:
    browser = client()
    response = browser.get(f"/?token={TOKEN}", headers={"host": host})
    assert (response.status_code, "set-cookie" in response.headers) == (421, False)
    assert browser.get(f"/?token={TOKEN}").status_code == 303, "and the token is not spent"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8000", f"http://x@{HOST}"]
)
def test_a_wrong_origin_is_refused(origin: str) -> None:
    browser = client()
    assert browser.get(f"/?token={TOKEN}", headers={"origin": origin}).status_code == 403
    assert browser.get(f"/?token={TOKEN}", headers={"origin": f"http://{HOST}"}).status_code == 303
    assert browser.get("/changes", headers={"origin": origin}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_cannot_load_or_open_it(site: str) -> None:
    browser = client()
    assert browser.get(f"/?token={TOKEN}", headers={"sec-fetch-site": site}).status_code == 403
    assert browser.get(f"/?token={TOKEN}", headers={"sec-fetch-site": "none"}).status_code == 303


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_nothing_can_be_changed(method: str) -> None:
    browser = client()
    assert browser.request(method, f"/?token={TOKEN}").status_code == 405
    assert browser.get(f"/?token={TOKEN}").status_code == 303
    assert browser.request(method, "/").status_code == 405


@pytest.mark.parametrize("path", [*PATHS, f"/?token={TOKEN}"])
def test_every_response_forbids_what_is_not_its_own(path: str) -> None:
    for response in (client().get(path), client().get(path, headers={"host": "evil.example"})):
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in response.headers
