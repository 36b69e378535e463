"""The tables of a stored value: the one model that a preview describes and a query reads.

Where the tables of a JSON value come from and what they are called:

    [{…}, {…}]                      the array is the table `rows`
    {"data": {"items": [{…}]}}      every array is a table, named by its path: `data.items`
    {"u1": {…}, "u2": {…}}          a map of maps of like shape is a table with a column `key`: `rows`, or its path; so
                                    is a map of more than 50 scalars, with the columns `key` and `value`, and a map of
                                    more than 16 arrays, with `key` and the columns of their items
    {"total": 2, "page": {"n": 1}}  the other values outside arrays are the one row of the table `root`
    [{…}] [{…}], or {…} {…}         the records of several documents, or lines, of a text are one table, too: `rows`
    id,name …, | id | name | …      each grid of a text (CSV, Markdown, psql, …) is a table, `rows`, `rows_2`,
                                    JSON beside them the next one; the table `lines` has all lines
    {"result": "id,name\\n1,Ann"}    a grid, or lines of JSON, in a text outside rows: a table, named by its path
    any other text                  the table `lines(n, text)`; n is the number of the line for `grep -n`, from 1;
                                    beside it an array of that name is the table `lines_2`

    {"customer": {"name": "Ann"}}   in a row: the column `customer.name`; where another row has a cell there (null, a
                                    text), the map is a cell of the column `customer`, too, and so is an array of maps;
                                    so is the map where another row has nothing there
    {"items": [{…}]}                in a row of `orders`: the child table `orders.items` (of `rows`: `items`)
    {"tags": ["a", "b"]}            in a row: one cell, the array; so are maps in more than 12 levels
    [1, 2], [{…}, 1]                items that are no maps are the cells of a column `value`
    [["a", 1], ["b", 2]]            an array of arrays only: the columns `c0`, `c1`, …; in a row, where all
                                    have one length of two or more, the child table is the same
    {"columns": ["id", …], "rows": [[1, …], …]}
                                    beside the names of its columns, the table of the rows has them; so has it for the
                                    `name`s of maps, whatever the two keys are
    {"time": [0, …], "load": [0.5, …]}
                                    arrays of scalars, all of one length of four or more: one table, named by the path
                                    of the map, with the keys as columns

A map in a row is a child table, too, where its names are keys: more than 16 maps of like shape, or more than 64 names
of which few rows have each. A child table begins with the key of its parent: `orders_id` where the column `id`
identifies the rows of `orders` (`order_no` where that column does), else `orders_row`, the number in the column `_row`
that `orders` then has, counted from 0. Names that differ only in case or not at all are made distinct: `Name_1`,
`name_2`; a name changed for SQL (`e\\nf` is `e_f`) or invented here gives way to one that stands so in the source.
A cell that a row does not have is not in its mapping.
"""

from accp_core.tables.build import tables_of
from accp_core.tables.source import MAX_WHOLE, OpenedText, SampledTables, open_document, open_text, sample_tables
from accp_core.tables.table import FIELDS, FIRST_LINE, LINES, MAX_COLUMNS, TEXT_RECORDS, Row, Table, count_lines

__all__ = [
    "FIELDS", "FIRST_LINE", "LINES", "MAX_COLUMNS", "MAX_WHOLE", "TEXT_RECORDS", "OpenedText", "Row", "SampledTables",
    "Table", "count_lines", "open_document", "open_text", "sample_tables", "tables_of",
]  # fmt: skip
