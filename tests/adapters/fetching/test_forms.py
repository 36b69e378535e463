"""One table of data in each form that tools write: the same queries have the same answers as over its JSON."""

from __future__ import annotations

import json
from typing import Final

import pytest

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.tokens import count_o200k

ROWS: Final = [
    {"id": 7, "name": "Ana, the first", "status": "paid", "total": 12.5},
    {"id": 8, "name": "Ben", "status": "late", "total": 100},
    {"id": 9, "name": "Cho: a \"name\" & more", "status": "paid", "total": 3},
]  # fmt: skip
QUERIES: Final = (
    "select status, count(*) as n, sum(total) as total from rows group by status order by status",
    "total > 5",
    "select name from rows where id = 9",
)
FORMS: Final = {
    "YAML as PyYAML writes it": """\
- id: 7
  name: Ana, the first
  status: paid
  total: 12.5
- id: 8
  name: Ben
  status: late
  total: 100
- id: 9
  name: 'Cho: a "name" & more'
  status: paid
  total: 3
""",
    "documents of YAML": """\
# the first order
id: 7
name: "Ana, the first"
status: &paid paid
total: 12.5
---
id: 8
name: Ben
status: late
total: 100
---
id: 9
name: >-
  Cho: a "name"
  & more
status: paid
total: 3
""",
    "a table of a web page": """\
<html><body><h1>Orders</h1>
<table><tr><th>id</th><th>name</th><th>status</th><th>total</th></tr>
<tr><td>7</td><td>Ana, <b>the</b> first</td><td>paid</td><td>12.5</td></tr>
<tr><td>8</td><td>Ben</td><td>late</td><td>100</td></tr>
<tr><td>9</td><td>Cho: a "name" &amp; more</td><td>paid</td><td>3</td></tr></table></body></html>
""",
    "XML": """\
<?xml version="1.0"?>
<result>
  <rows id="7"><name>Ana, the first</name><status>paid</status><total>12.5</total></rows>
  <rows id="8"><name>Ben</name><status>late</status><total>100</total></rows>
  <rows id="9"><name>Cho: a "name" &amp; more</name><status>paid</status><total>3</total></rows>
</result>
""",
    "logfmt": """\
id=7 name="Ana, the first" status=paid total=12.5
id=8 name=Ben status=late total=100
id=9 name="Cho: a \\"name\\" & more" status=paid total=3
""",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("query", QUERIES)
def test_a_query_has_the_same_answer_over_each_form(text: str, query: str) -> None:
    expected, found = (
        answer({"": source}, FetchRequest(query=query), limit=300, counter=count_o200k)
        for source in (json.dumps(ROWS), text)
    )
    assert found == expected
