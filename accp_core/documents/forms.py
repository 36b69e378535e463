"""The forms in which a whole text, or a grid in one, may write a value."""

from __future__ import annotations

from typing import Final

from accp_core.documents import json_document, json_lines, python_literal, yaml
from accp_core.documents.document import Form, WholeForm
from accp_core.documents.grids import GRIDS, xml_records

__all__ = ["FORMS", "WHOLE_FORMS"]

WHOLE_FORMS: Final[tuple[WholeForm, ...]] = (
    json_document, json_lines, python_literal, yaml.DOCUMENT, yaml.DOCUMENTS, xml_records,
)  # fmt: skip
"""The forms of a whole text in the order in which they are tried."""
_ALL: Final[tuple[Form, ...]] = (*WHOLE_FORMS, *GRIDS)
FORMS: Final = {form.CODE: form for form in _ALL}
"""All forms by their letters in a layout."""
