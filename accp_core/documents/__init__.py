"""What a text holds: prose, and values with how each is written; read once for all that use it.

`read(text)` returns a `Document`, whose parts cover the text from left to right. Views render its values and keep all
else; previews, tables, queries and repeats use the same values.

A form is one way of writing a value: as a whole text (one JSON document, lines of JSON, a Python literal, YAML),
or as a grid of lines, alone or between others (`grids`: CSV, Markdown, psql, …). To add one:

1. Write a module or a class with `CODE`, a letter that no other form has, `IS_SEVERAL`, and the functions of
   `document.WholeForm`: `recognise` (a glance at the text, no more than its first lines), `read` (the value, ValueError
   where it is not written so), `describe` (what is needed besides the value to write the same characters; None where
   the text cannot be written again, which leaves it tables and queries without a view) and `write`. Both go through the
   value once, with a pen of `writing`. A grid is a `grids.cells.LineForm`.
2. Add it to `reading.WHOLE_FORMS`, or to those in `grids`, at the place where it is to be tried: the first form
   that reads the text has it.
3. The value of a grid is an array of maps, one for each row, with distinct names in the order of the columns; numbers
   that must keep their spelling are `packing.values.SpelledFloat`.
4. A value of another form inside other text is found by `reading`.
"""

from accp_core.documents.document import BYTE_ORDER_MARK, Document, Part, Prose, Value
from accp_core.documents.omissions import looks_cut
from accp_core.documents.reading import read, read_verbatim, wrapped_text

__all__ = [
    "BYTE_ORDER_MARK", "Document", "Part", "Prose", "Value", "looks_cut", "read", "read_verbatim", "wrapped_text",
]  # fmt: skip
