"""Grids in a text: rows of cells that programs write for people, alone or between other lines.

    delimited    id,name            CSV, TSV, `;`
    ruled        | id | name |      Markdown, psql, MySQL, boxes
    logfmt       level=info took=5  logs of Go and others
    columns      ID    NAME         columns under the words of a header
    markup       <table><tr>        tables of web pages

Each module is a form (`frame.LineForm`). What it takes for the beginning of a grid is strict: prose, code, logs and
lists have the signs of grids, too.
"""

from accp_core.documents.grids.finding import GRIDS, grids_in

__all__ = ["GRIDS", "grids_in"]
