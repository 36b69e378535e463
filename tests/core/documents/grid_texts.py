"""One table in every form of a grid that is read."""

import json
from typing import Any

from accp_core.packing.values import SpelledFloat

__all__ = ["FORMS", "JSON", "PEOPLE"]

PEOPLE: list[dict[str, Any]] = [
    {"id": 1, "name": "Ann Lee", "price": SpelledFloat("9.50"), "late": True, "zip": "007", "note": None},
    {"id": 2, "name": "Bo", "price": 12.25, "late": False, "zip": "123", "note": "a, b"},
    {"id": 30, "name": "Cy | Co", "price": None, "late": True, "zip": "045", "note": None},
]
JSON = json.dumps(PEOPLE).replace("9.5,", "9.50,")
FORMS: dict[str, str] = {
    "CSV": "id,name,price,late,zip,note\n1,Ann Lee,9.50,true,007,\n"
    '2,Bo,12.25,false,123,"a, b"\n30,Cy | Co,,true,045,\n',
    "CSV of Windows": 'id,name,price,late,zip,note\r\n1,Ann Lee,9.50,True,007,\r\n2,Bo,12.25,False,123,"a, b"\r\n'
    "30,Cy | Co,,True,045,\r\n",
    "all in quotes": '"id","name","price","late","zip","note"\n"1","Ann Lee","9.50","true","007",""\n'
    '"2","Bo","12.25","false","123","a, b"\n"30","Cy | Co","","true","045",""\n',
    "texts in quotes": '"id","name","price","late","zip","note"\n1,"Ann Lee",9.50,TRUE,"007",\n'
    '2,"Bo",12.25,FALSE,"123","a, b"\n30,"Cy | Co",,TRUE,"045",\n',
    "texts and empty cells in quotes": '"id","name","price","late","zip","note"\n1,"Ann Lee",9.50,true,"007",""\n'
    '2,"Bo",12.25,false,"123","a, b"\n30,"Cy | Co","",true,"045",""\n',
    "empty cells in quotes": 'id,name,price,late,zip,note\n1,Ann Lee,9.50,true,007,""\n2,Bo,12.25,false,123,"a, b"\n'
    '30,Cy | Co,"",true,045,""\n',
    "TSV": "id\tname\tprice\tlate\tzip\tnote\n1\tAnn Lee\t9.50\ttrue\t007\t\n2\tBo\t12.25\tfalse\t123\ta, b\n"
    "30\tCy | Co\t\ttrue\t045\t\n",
    "semicolons": "id;name;price;late;zip;note\n1;Ann Lee;9.50;true;007;\n2;Bo;12.25;false;123;a, b\n"
    "30;Cy | Co;;true;045;\n",
    "Markdown": "| id | name     | price | late  | zip | note |\n| -: | -------- | ----- | :---: | --- | ---- |\n"
    "|  1 | Ann Lee  | 9.50  | true  | 007 |      |\n|  2 | Bo       | 12.25 | false | 123 | a, b |\n"
    "| 30 | Cy \\| Co |       | true  | 045 |      |\n",
    "tight Markdown": "|id|name|price|late|zip|note|\n|---|:--|---|---|---|--:|\n|1|Ann Lee|9.50|true|007||\n"
    "|2|Bo|12.25|false|123|a, b|\n|30|Cy \\| Co||true|045||\n",
    "Markdown without edges": "id | name | price | late | zip | note\n---|---|---|---|---|---\n"
    "1 | Ann Lee | 9.50 | true | 007 | \n2 | Bo | 12.25 | false | 123 | a, b\n30 | Cy \\| Co |  | true | 045 | \n",
    "psql": " id |  name   | price | late  | zip | note \n----+---------+-------+-------+-----+------\n"
    "  1 | Ann Lee |  9.50 | true  | 007 | \n  2 | Bo      | 12.25 | false | 123 | a, b\n"
    " 30 | Cy | Co |       | true  | 045 | \n",
    "psql of Unicode": " id │  name   │ price │ late  │ zip │ note \n────┼─────────┼───────┼───────┼─────┼──────\n"
    "  1 │ Ann Lee │  9.50 │ true  │ 007 │ \n  2 │ Bo      │ 12.25 │ false │ 123 │ a, b\n"
    " 30 │ Cy | Co │       │ true  │ 045 │ \n",
    "MySQL": "+----+---------+-------+-------+------+------+\n| id | name    | price | late  | zip  | note |\n"
    "+----+---------+-------+-------+------+------+\n|  1 | Ann Lee |  9.50 | true  | 007  | NULL |\n"
    "|  2 | Bo      | 12.25 | false | 123  | a, b |\n| 30 | Cy | Co |  NULL | true  | 045  | NULL |\n"
    "+----+---------+-------+-------+------+------+\n",
    "a box": "┌────┬─────────┬───────┬───────┬─────┬──────┐\n│ id │  name   │ price │ late  │ zip │ note │\n"
    "├────┼─────────┼───────┼───────┼─────┼──────┤\n│  1 │ Ann Lee │  9.50 │ true  │ 007 │      │\n"
    "│  2 │ Bo      │ 12.25 │ false │ 123 │ a, b │\n│ 30 │ Cy | Co │       │ true  │ 045 │      │\n"
    "└────┴─────────┴───────┴───────┴─────┴──────┘\n",
    "a box of heavy lines": "┏━━━━┳━━━━━━━━━┳━━━━━━━┳━━━━━━━┳━━━━━┳━━━━━━┓\n"
    "┃ id ┃ name    ┃ price ┃ late  ┃ zip ┃ note ┃\n"
    "┡━━━━╇━━━━━━━━━╇━━━━━━━╇━━━━━━━╇━━━━━╇━━━━━━┩\n│ 1  │ Ann Lee │ 9.50  │ true  │ 007 │      │\n"
    "│ 2  │ Bo      │ 12.25 │ false │ 123 │ a, b │\n│ 30 │ Cy | Co │       │ true  │ 045 │      │\n"
    "└────┴─────────┴───────┴───────┴─────┴──────┘\n",
    "columns": "ID   NAME      PRICE   LATE    ZIP   NOTE\n1    Ann Lee   9.50    true    007   \n"
    "2    Bo        12.25   false   123   a, b\n30   Cy | Co           true    045   \n",
    "columns to the right": "ID NAME    PRICE  LATE ZIP NOTE\n"
    " 1 Ann Lee  9.50  true 007\n 2 Bo      12.25 false 123 a, b\n"
    "30 Cy | Co        true 045\n",
    "columns with a rule": "id name    price late  zip note\n"
    "-- ------- ----- ----- --- ----\n1  Ann Lee 9.50  true  007\n"
    "2  Bo      12.25 false 123 a, b\n30 Cy | Co       true  045\n",
    "CSV with blanks": "id, name, price, late, zip, note\n1, Ann Lee, 9.50, true, 007, \n"
    '2, Bo, 12.25, false, 123, "a, b"\n30, Cy | Co, , true, 045, \n',
    "Markdown in a list": "  | id | name     | price | late  | zip | note |\n"
    "  | -: | -------- | ----- | :---: | --- | ---- |\n"
    "  |  1 | Ann Lee  | 9.50  | true  | 007 |      |\n  |  2 | Bo       | 12.25 | false | 123 | a, b |\n"
    "  | 30 | Cy \\| Co |       | true  | 045 |      |\n",
    "a quoted table": "> | id | name | price | late | zip | note |\r\n> |----|------|-------|------|-----|------|\r\n"
    "> | 1 | Ann Lee | 9.50 | true | 007 |  |\r\n> | 2 | Bo | 12.25 | false | 123 | a, b |\r\n"
    "> | 30 | Cy \\| Co |  | true | 045 |  |\r\n",
    "columns in lower case": "  id     name  price   late  zip  note\n   1  Ann Lee   9.50   true  007\n"
    "   2       Bo  12.25  false  123  a, b\n  30  Cy | Co          true  045\n",
}
