"""A server in a thread of the tests, for clients that block: browsers and plain HTTP."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from tests.limits import PATIENCE

__all__ = ["in_thread"]


@contextmanager
def in_thread(server: uvicorn.Server, listening: socket.socket) -> Iterator[str]:
    """Run a server at a listening socket; yield its origin."""
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()
