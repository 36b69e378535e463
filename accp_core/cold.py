"""How a text of the cold tier is called: by what it says and whose it is (ACCP section 5.1)."""

from __future__ import annotations

from hashlib import sha256

__all__ = ["cold_key"]


def cold_key(session_id: str, text: str) -> str:
    """Return the content-addressed key of `text` in that session, `cold.` and 12 hexadecimal digits.

    The same text of the same session has one key, so that a retry, a resume or a replay stores one item.
    """
    bound = f"{session_id}\0{text}".encode("utf-8", "surrogatepass")
    return f"cold.{sha256(bound).hexdigest()[:12]}"
