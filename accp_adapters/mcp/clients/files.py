"""Files that other programs read meanwhile: read whole, replaced whole, with their permissions and links kept."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError

__all__ = ["decode", "replace_file"]


def decode(content: bytes) -> str:
    """Return the text of a file.

    Raises:
        DecodeError: E1001, it is not UTF-8.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        raise DecodeError(
            f"expected UTF-8: {error.reason}", code=ErrorCode.PARSE_ERROR, text=before, position=len(before)
        ) from error


def replace_file(path: Path, content: bytes, *, expected: bytes | None = None) -> None:
    """Write a file so that a reader finds the old or the new content, never a part; a symbolic link stays one.

    A file with several names (hard links) is written in place, so that all of them keep seeing it.

    A new file, and every folder that is missing, is for the user only; an existing file keeps its permissions.

    Args:
        path: The file, or a link to it.
        content: The new content.
        expected: What the file must still hold; None: anything, or no file.

    Raises:
        OSError: The file cannot be written, or another program has changed it meanwhile.
    """
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if expected is not None:
            shutil.copymode(target, name)
            if target.read_bytes() != expected:
                raise OSError(None, "another program has just changed the file; nothing was written", str(path))
        _move(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _move(name: str, target: Path) -> None:
    if target.exists() and target.stat().st_nlink > 1:
        shutil.copyfile(name, target)
        os.unlink(name)
    else:
        os.replace(name, target)
