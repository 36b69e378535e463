"""Runs a program again where there is no network but the loopback interface, and no environment."""

import fcntl
import os
import socket
import struct
import sys
from typing import Final

__all__ = ["isolated", "start_isolated"]

_MARK: Final = "ACCP_ISOLATED"
_SET_FLAGS: Final = 0x8914
_UP_RUNNING: Final = 0x41


def isolated() -> bool:
    """Return whether this process was started by `start_isolated`; then bring the loopback interface up."""
    if os.environ.get(_MARK) != "1":
        return False
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP_RUNNING))
    return True


def start_isolated(module: str, *arguments: str) -> None:
    """Replace this process by `python -m module` without network and environment; needs `unshare`."""
    environment = {_MARK: "1", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent"}
    command = ["unshare", "-rn", sys.executable, "-W", "ignore", "-m", module, *arguments]
    os.execvpe(command[0], command, environment)
