"""The forms in which a whole text may write a value."""

from __future__ import annotations

from typing import Final

from accp_core.documents import json_document, json_lines, python_literal, yaml
from accp_core.documents.document import Form

__all__ = ["FORMS"]

_IN_ORDER: Final[tuple[Form, ...]] = (json_document, json_lines, python_literal, yaml.DOCUMENT, yaml.DOCUMENTS)
"""The forms in the order in which they are tried."""
FORMS: Final[dict[str, Form]] = {form.CODE: form for form in _IN_ORDER}
"""The same by their letters in a layout."""
