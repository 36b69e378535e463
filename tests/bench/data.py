"""Where the recorded material stands: the folder in ACCP_DATA, or a `shared/data` beside the checkout."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

__all__ = ["find_data", "read_json"]

_BESIDE: Final = Path(__file__).parents[2].parent / "shared" / "data"


def find_data() -> Path | None:
    """Return the folder with the recorded material, None where there is none."""
    folder = Path(os.environ.get("ACCP_DATA") or _BESIDE)
    return folder if folder.is_dir() else None


def read_json(path: Path) -> Any:
    """Return the value of the JSON file at `path`."""
    return json.loads(path.read_text(encoding="utf-8"))
