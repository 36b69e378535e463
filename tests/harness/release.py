"""`python -m tests.harness.release`: wheels and source, built here and in a clone, the same; SBOM; audit; name.

The list of materials and the audit are of a new environment with the wheel and all that its extras need. The results
are in `dist/`. The exit code is 1 where a file differs, a weakness is known, the index has this
version already, or does not say.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

__all__ = ["audited", "build", "is_free", "main"]

ROOT = Path(__file__).parents[2]
OURS = "accp-middleware"


def run(*command: str, cwd: Path = ROOT, check: bool = True, **environment: str) -> str:
    """Return what a command prints; it must succeed, unless told otherwise."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=check, cwd=cwd, env={**os.environ, **environment}
    )
    return done.stdout.strip()


def build(tree: Path, folder: Path) -> dict[str, str]:
    """Build a tree into a folder, with the time of its last commit; return the name of each file and its hash."""
    time = run("git", "log", "-1", "--format=%ct", cwd=tree)
    command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder))
    run(*command, cwd=tree, SOURCE_DATE_EPOCH=time)
    run(*command, "--wheel", cwd=tree, SOURCE_DATE_EPOCH=time, ACCP_COMPILED="1")
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def build_twice(folder: Path) -> bool:
    """Build here and in a clone whose files only we may read; keep the first; return whether both are the same."""
    run("git", "clone", "-q", str(ROOT), str(folder / "clone"))
    run("chmod", "-R", "go-rwx", str(folder / "clone"))
    files, again = build(ROOT, folder / "here"), build(folder / "clone", folder / "there")
    (ROOT / "dist").mkdir(exist_ok=True)
    for name, digest in files.items():
        (ROOT / "dist" / name).write_bytes((folder / "here" / name).read_bytes())
        print(f"{digest}  {name}  {'the same twice' if again.get(name) == digest else 'DIFFERS'}")
    return files == again


def install(folder: Path) -> Path:
    """Install the wheel with its extras into a new environment; return the interpreter."""
    (wheel,) = (folder / "here").glob("*-none-any.whl")
    run(sys.executable, "-m", "venv", str(folder / "venv"))
    python = folder / "venv" / "bin" / "python"
    run(str(python), "-m", "pip", "install", "--quiet", f"{OURS}[all] @ {wheel.as_uri()}")
    return python


def audited(report: Mapping[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Return the packages of a report of pip-audit: those without a known weakness, with one, and those not known."""
    clean, weak, unknown = [], [], []
    for package in report["dependencies"]:
        name = f"{package['name']} {package.get('version', '')}".strip()
        if package["name"] == OURS:
            continue
        if "skip_reason" in package:
            unknown.append(name)
        elif package["vulns"]:
            weak.append(f"{name}: {', '.join(each['id'] for each in package['vulns'])}")
        else:
            clean.append(name)
    return clean, weak, unknown


def audit(python: Path) -> bool:
    """Ask for known weaknesses of what is installed; return whether every package is known to have none."""
    (packages,) = python.parent.parent.glob("lib/python*/site-packages")
    said = run(sys.executable, "-m", "pip_audit", "--path", str(packages), "--format", "json", check=False)
    clean, weak, unknown = audited(json.loads(said or '{"dependencies": []}'))
    print(f"audit: {len(clean)} packages without a known weakness, {len(weak)} with one, {len(unknown)} not known")
    for each in weak:
        print(f"WEAK {each}")
    if unknown or not clean:
        print(f"NOT AUDITED: {', '.join(unknown[:5])} …: the index does not answer for weaknesses")
    return bool(clean) and not weak and not unknown


def is_free(said: str, version: str) -> bool:
    """Return whether a version of ours is not on the index, by what `pip index versions` said."""
    found = re.search(r"^Available versions: (.*)$", said, re.MULTILINE)
    there = found[1].split(", ") if found else []
    print(f"name: {OURS} on the index: {', '.join(there) or 'no version'}")
    return version not in there


def check_name(built: Path) -> bool:
    """Ask the package index for our name; return whether it answers and has no such version."""
    if not index_versions("pip").strip():
        print("NAME NOT CHECKED: the index does not answer")
        return False
    return is_free(index_versions(OURS), built.name.split("-")[1])


def index_versions(name: str) -> str:
    """Return what pip says of the versions of a package on the index, empty for none."""
    return run(sys.executable, "-m", "pip", "index", "versions", name, check=False)


def main() -> int:
    """Build twice, compare, install, write the SBOM, ask for known weaknesses and for our name."""
    with tempfile.TemporaryDirectory() as name:
        is_same = build_twice(Path(name))
        python = install(Path(name))
        run(sys.executable, "-m", "cyclonedx_py", "environment", "-o", "dist/sbom.cdx.json", str(python))
        materials = json.loads((ROOT / "dist" / "sbom.cdx.json").read_text(encoding="utf-8"))["components"]
        print(f"dist/sbom.cdx.json: {len(materials)} components")
        is_clean = audit(python)
        is_ours = check_name(next((Path(name) / "here").glob("*-none-any.whl")))
    return int(not (is_same and is_clean and is_ours))


if __name__ == "__main__":
    sys.exit(main())
