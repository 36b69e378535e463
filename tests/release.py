"""`python -m tests.release`: the wheel and the source twice, byte for byte the same; the SBOM; known weaknesses.

`SOURCE_DATE_EPOCH` is the time of the last commit. The results are in `dist/`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

__all__ = ["build", "main"]


def run(*command: str, **environment: str) -> str:
    """Return what a command prints; it must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return done.stdout.strip()


def build(folder: Path) -> dict[str, str]:
    """Build into `folder`; return the name of each file and its hash."""
    time = run("git", "log", "-1", "--format=%ct")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), SOURCE_DATE_EPOCH=time)
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def main() -> int:
    """Build twice, compare, write the SBOM of this environment, and ask for its known weaknesses."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        files, again = build(Path(first)), build(Path(second))
        Path("dist").mkdir(exist_ok=True)
        for name in files:
            (Path("dist") / name).write_bytes((Path(first) / name).read_bytes())
    for name, digest in files.items():
        print(f"{digest}  {name}  {'the same twice' if again.get(name) == digest else 'DIFFERS'}")
    run(sys.executable, "-m", "cyclonedx_py", "environment", "-o", "dist/sbom.cdx.json", sys.executable)
    audit = subprocess.run([sys.executable, "-m", "pip_audit", "--local", "--skip-editable"], check=False)
    return int(files != again or audit.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
