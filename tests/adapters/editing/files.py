"""Files of the usual kinds, each with one line that an agent is to edit, and how it finds that line in its prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Final

__all__ = ["FILES", "NEW", "OLD", "SIZES", "line_to_edit"]

OLD: Final = "8080"
NEW: Final = "9090"
SIZES: Final = {"small": 4, "large": 800}
"""Lines of a file, about."""


def _package(size: int) -> str:
    value = {"name": "web", "dependencies": {f"pkg-{at}": f"1.{at}.0" for at in range(size)}, "server": {"port": 8080}}
    return json.dumps(value, indent=2)


def _values(size: int) -> str:
    apps = "".join(f"  - name: app-{at}\n    image: 'repo/app:{at}'\n" for at in range(size))
    return f"replicas: 3\napps:\n{apps}server:\n  port: 8080\n"


def _module(size: int) -> str:
    functions = (f'def f{at}(a: int) -> str:\n\treturn f"{{a}}: {at}"  # {{"a": [1, 2]}}\n\n' for at in range(size))
    return f'"""Says \'hello\'."""\n\n{"".join(functions)}def port() -> int:\n    return 8080\n'


def _page(size: int) -> str:
    rows = "".join(f"| {at} | *value {at}* |\n" for at in range(size))
    return f"# Title\n\n| a | b |\n|---|---|\n{rows}\n- server: `port` is  8080  \n"


def _table(size: int) -> str:
    rows = "".join(f'{at},"Smith, A{at}"\n' for at in range(size))
    return f'id,name\n{rows}port,"x, 8080"\n'


FILES: Final[dict[str, Callable[[int], str]]] = {
    "package.json": _package,
    "values.yaml": _values,
    "app.py": _module,
    "README.md": _page,
    "table.csv": _table,
}
"""The name of a file to what makes its text with so many lines."""


def line_to_edit(texts: Iterable[str]) -> str | None:
    """Return the line to edit as the newest of the results shows it, None where none does.

    The answer of a query puts the number of a line before it.
    """
    lines = [line for text in texts for line in text.split("\n") if OLD in line and not line.startswith("[preview ")]
    return re.sub(r"^[0-9]+[:-] ", "", lines[-1]) if lines else None
