"""`python -m tests.harness.fresh [INTERPRETER…]`: the README and each page of docs/, followed outside the checkout.

For each interpreter: a new environment with the wheel and all its extras, an empty folder with the examples, and there
every block of Python and every `accp` command of each document, one after the other. The exit code is the number of
blocks and commands that fail.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.test_documents import DOCUMENTS, ROOT, blocks_of, copy_checkout

__all__ = ["main"]

INTERPRETERS: Final = ("python3.11", "python3.12", "python3.13", "python3.14")
SECONDS: Final = 600
"""How long one block or command may take."""


def wheel(folder: Path) -> Path:
    """Build the wheel into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def installed(interpreter: str, built: Path, folder: Path) -> Path:
    """Return the folder with the programs of a new environment."""
    subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
    subprocess.run(
        [folder / "bin" / "pip", "install", "--quiet", f"accp-middleware[all] @ {built.as_uri()}"], check=True
    )
    return folder / "bin"


def steps(document: Path, programs: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the name of each block and command of a document, and what runs it."""
    for block in blocks_of(document):
        if block.language == "python":
            yield block.name, [str(programs / "python"), "-c", block.text]
        for line in block.text.splitlines() if block.language == "sh" else ():
            if line.startswith(("accp ", "python -c ")) or "| accp " in line:
                yield f"{document.name}: {line}", ["bash", "-o", "pipefail", "-c", line]


def failures(programs: Path, folder: Path) -> list[str]:
    """Follow all documents; return what fails, each with the end of what it said."""
    copy_checkout(folder)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    for name in ("PYTHONPATH", "VIRTUAL_ENV", "ACCP_DATA"):
        environment.pop(name, None)
    failed = []
    for name, command in [step for document in DOCUMENTS for step in steps(document, programs)]:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode:
            failed.append(f"{name}\n    {done.stderr.strip()[-400:]}")
    return failed


def main(names: Sequence[str]) -> int:
    """Follow the documents with each interpreter that is there."""
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        built = wheel(Path(folder))
        for name in names or INTERPRETERS:
            # A shim of pyenv is there for versions that are not.
            if not shutil.which(name) or subprocess.run([name, "-c", ""], capture_output=True).returncode:
                print(f"{name}: not here")
                continue
            place = Path(folder) / name.replace(os.sep, "_")
            work = place / "work"
            programs = installed(name, built, place / "venv")
            work.mkdir()
            failed = failures(programs, work)
            print(f"{name}: {len(failed)} failed", *failed, sep="\n")
            count += len(failed)
    return count


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
