"""ACP over a network: WebSocket, stdio, HTTP relay, HTTP with server-sent events, TCP (ACP transport 0.3)."""
