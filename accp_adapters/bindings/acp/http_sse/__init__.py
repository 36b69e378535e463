"""Binding D, HTTP with server-sent events (ACP transport 0.3, section 6)."""
