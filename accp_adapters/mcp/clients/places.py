"""Where MCP clients keep their configuration, and where this program keeps its own files.

Claude Desktop: `claude_desktop_config.json` (https://modelcontextprotocol.io/quickstart/user; on Linux the folder of
the XDG specification). Cursor: `~/.cursor/mcp.json`, and `.cursor/mcp.json` of a project (https://cursor.com/docs/mcp).
VS Code: `mcp.json` of the user's profile, and `.vscode/mcp.json` of a workspace
(https://code.visualstudio.com/docs/copilot/reference/mcp-configuration). Claude Code: `~/.claude.json` for the user and
for each project, and `.mcp.json` of a project (https://code.claude.com/docs/en/mcp).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

__all__ = ["CLIENTS", "STATE_VARIABLE", "Machine"]

STATE_VARIABLE: Final = "ACCP_STATE_DIR"
"""The environment variable that names the folder of backups and counts."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where files are: the operating system, the user's home and the environment."""

    platform: str = sys.platform
    home: Path = field(default_factory=Path.home)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    project: Path = field(default_factory=Path.cwd)
    """The folder whose project files are meant."""

    def configuration_folder(self) -> Path:
        """Return the folder in which programs keep the user's settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self._folder("APPDATA", self.home / "AppData" / "Roaming")
        return self._folder("XDG_CONFIG_HOME", self.home / ".config")

    def state_folder(self) -> Path:
        """Return the folder of our own files: `ACCP_STATE_DIR`, or `accp` where the user's state is kept."""
        if self.platform == "darwin":
            base = self.configuration_folder()
        elif self.platform == "win32":
            base = self._folder("LOCALAPPDATA", self.home / "AppData" / "Local")
        else:
            base = self._folder("XDG_STATE_HOME", self.home / ".local" / "state")
        return self._folder(STATE_VARIABLE, base / "accp")

    def files_of(self, client: str, *, project: bool = False) -> list[Path]:
        """Return the existing configuration files of a client: the user's, or those of the project folder."""
        places = CLIENTS[client]
        found = [self.project / path for path in places.project] if project else places.user(self)
        return [path for path in found if path.is_file()]

    def _folder(self, variable: str, default: Path) -> Path:
        return Path(self.environment[variable]) if self.environment.get(variable) else default


_Places: TypeAlias = Callable[[Machine], list[Path]]


@dataclass(frozen=True, slots=True)
class Client:
    """The places of one client's files."""

    user: _Places
    project: tuple[str, ...] = ()
    """Paths in a project's folder."""


def _claude_desktop(machine: Machine) -> list[Path]:
    return [machine.configuration_folder() / "Claude" / "claude_desktop_config.json"]


def _cursor(machine: Machine) -> list[Path]:
    return [machine.home / ".cursor" / "mcp.json"]


def _vscode(machine: Machine) -> list[Path]:
    folders = [machine.configuration_folder() / name / "User" for name in ("Code", "Code - Insiders")]
    return [path for folder in folders for path in (folder / "mcp.json", *sorted(folder.glob("profiles/*/mcp.json")))]


def _claude_code(machine: Machine) -> list[Path]:
    folder = machine.environment.get("CLAUDE_CONFIG_DIR")
    return [(Path(folder) if folder else machine.home) / ".claude.json"]


CLIENTS: Final[Mapping[str, Client]] = MappingProxyType(
    {
        "claude-desktop": Client(_claude_desktop),
        "cursor": Client(_cursor, (".cursor/mcp.json",)),
        "vscode": Client(_vscode, (".vscode/mcp.json",)),
        "claude-code": Client(_claude_code, (".mcp.json",)),
    }
)
"""Each client by its name in `--client`."""
