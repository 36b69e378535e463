"""Sessions over a network: ACCP over HTTP and WebSocket, ACP bindings A to E, and the host of the sessions."""
