"""Compiles the modules that render and read views, where ACCP_COMPILED=1 asks for it; without it the wheel is pure.

Cython compiles the modules as they are, and both forms do the same: `make test-compiled`. A compiled wheel holds the
modules as Python, too, for tracebacks. An editable install stays pure, because it would hide every later change.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = ["CompiledModules"]

COMPILER: Final = ["cython>=3.1,<4", "setuptools>=77"]


class CompiledModules(BuildHookInterface):  # type: ignore[type-arg]  # of the configuration of any builder
    """The hook of the wheel; `modules` in pyproject.toml names what is compiled."""

    _folder: tempfile.TemporaryDirectory[str] | None = None
    """What was compiled, until the wheel holds it."""

    def _is_asked(self) -> bool:
        return os.environ.get("ACCP_COMPILED") == "1"

    def dependencies(self) -> list[str]:
        """Return what the build needs besides hatchling."""
        return COMPILER if self._is_asked() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the modules and add them to the wheel, whose name says for which Python and platform it is."""
        if version == "editable" or not self._is_asked():
            return
        self._folder = tempfile.TemporaryDirectory()
        compiled = compile_modules(self.config["modules"], Path(self._folder.name))
        build_data["force_include"] |= {str(Path(self._folder.name, name)): name for name in compiled}
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled."""
        if self._folder is not None:
            self._folder.cleanup()


def compile_modules(names: list[str], folder: Path) -> list[str]:
    """Compile modules into a folder; return the paths of the files there.

    Args:
        names: As `accp_core.view.write`; each is a file in the current folder.
        folder: Where the files of C and of the linker are, too.
    """
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    # Paths and debugging information would differ from machine to machine.
    flags = [] if sys.platform == "win32" else ["-O2", "-g0"]
    modules = [Extension(name, [f"{name.replace('.', '/')}.py"], extra_compile_args=flags) for name in names]
    # Annotations stay hints, as in Python: a subclass of `str` passes for a `str`.
    directives = {"language_level": 3, "annotation_typing": False}
    sources = cythonize(modules, build_dir=str(folder / "c"), compiler_directives=directives, quiet=True)
    command = Distribution({"ext_modules": sources}).get_command_obj("build_ext")
    command.build_lib, command.build_temp, command.parallel = str(folder), str(folder / "o"), os.cpu_count()
    command.ensure_finalized()
    command.run()
    return [command.get_ext_filename(name) for name in names]
