"""ACCP over HTTP and WebSocket (ACCP sections 11.1 and 11.2)."""
