"""Published programs for tests, installed from their registries into folders beside the environment's own packages.

The first test worker installs them. A process does not retry a registry that it could not reach.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # not POSIX: tests run in one process there
    fcntl = None  # type: ignore[assignment]

__all__ = ["Missing", "from_npm", "from_pypi"]

FOLDER: Final = Path(sys.prefix, "mcp-tests")
_SECONDS: Final = 180


class Missing(Exception):
    """A program can be neither found nor installed here."""


def from_pypi(name: str, packages: tuple[str, ...], program: str) -> Path:
    """Return the path of `program` of these Python packages, in an environment of their own called `name`.

    Raises:
        Missing: they cannot be installed here.
    """
    folder = FOLDER / name
    python = str(folder / "bin" / "python")
    environment = (sys.executable, "-m", "venv", "--without-pip", "--clear", str(folder))
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--retries=0", "--timeout=20", *packages]
    fast = (uv, "pip", "install", "--quiet", "--python", python, *packages)
    _raise(_install(folder, (environment, fast)) and _install(folder, (environment, tuple(pip))))
    return folder / "bin" / program


def from_npm(name: str, packages: tuple[str, ...], program: str) -> Path:
    """Return the path of `program` of these npm packages, in a folder of their own called `name`.

    Raises:
        Missing: they cannot be installed here.
    """
    folder = FOLDER / name
    options = ("--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=20000", "--prefix", str(folder))
    _raise(_install(folder, (("npm", "install", *options, *packages),)))
    return folder / "node_modules" / program


def _raise(reason: str) -> None:
    if reason:
        raise Missing(reason)


@functools.cache
def _install(folder: Path, commands: tuple[tuple[str, ...], ...]) -> str:
    """Return why `commands` could not fill `folder`, nothing if they could, now or earlier."""
    if shutil.which(commands[0][0]) is None:
        return f"there is no {commands[0][0]} here"
    done = folder.with_suffix(".done")
    wanted = repr(commands)
    with _alone(folder):
        if done.exists() and done.read_text(encoding="utf-8") == wanted:
            return ""
        for command in commands:
            if reason := _failure(command):
                return reason
        done.write_text(wanted, encoding="utf-8")
    return ""


def _failure(command: tuple[str, ...]) -> str:
    try:
        subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        return str(error)
    return ""


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w", encoding="utf-8") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
