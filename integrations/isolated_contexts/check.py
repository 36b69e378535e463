"""Start the team as a user would, and compare what it says with the data: exit code 0 if all of it is right."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

from shop import make_shop

HERE = Path(__file__).resolve().parent
QUESTION = "Whom should we win back"


def start(*arguments: str) -> dict[str, Any]:
    """Run app.py and return what it recorded."""
    out = Path(arguments[arguments.index("--out") + 1])
    command = [sys.executable, *(f"-W{option}" for option in sys.warnoptions), str(HERE / "app.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert f"{record['database']}: {record['isolated']['answer']}" in done.stdout
    return record


def expected(folder: Path) -> tuple[str, list[str]]:
    """Return the answer and the names of the three largest customers, worked out row by row."""
    spent: dict[int, float] = defaultdict(float)
    last: dict[int, str] = defaultdict(str)
    with closing(sqlite3.connect(folder / "shop.sqlite")) as database:
        names = dict(database.execute("SELECT id, name FROM customers"))
        for customer, day, total in database.execute("SELECT customer, day, total FROM orders"):
            spent[customer] += total
            last[customer] = max(last[customer], day)
    gone = sorted((each for each in spent if last[each] < "2026-07-01"), key=lambda each: -spent[each])
    revenue = round(sum(round(spent[each], 2) for each in gone), 2)
    with (folder / "tickets.csv").open(encoding="utf-8", newline="") as file:
        ((topic, count),) = Counter(row["topic"] for row in csv.DictReader(file)).most_common(1)
    largest = [names[each] for each in gone[:3]]
    letters = [f"letter_{name.replace(' ', '_')}.txt" for name in largest]
    said = [
        f"{len(gone)} customers",
        f"{revenue} EUR",
        f"{topic}, {count} tickets",
        f"{revenue * 0.1:.2f} EUR",
        *letters,
    ]
    return "; ".join(said), largest


def check_answers(record: dict[str, Any], out: Path, answer: str, largest: list[str]) -> None:
    """Both ways must come to the right answer, and to the same letters."""
    for name in ("shared", "isolated"):
        assert record[name]["answer"] == answer, record[name]["answer"]
        letters = {path.name: path.read_text(encoding="utf-8") for path in (out / name).iterdir()}
        assert len(letters) == 3
        assert all(f"Dear {each}," in letters[f"letter_{each.replace(' ', '_')}.txt"] for each in largest)


def check_isolation(record: dict[str, Any], tickets: list[dict[str, str]], emails: set[str]) -> None:
    """No worker may have read the question, or the raw data of another."""
    prompts = {agent: "\n".join(texts) for agent, texts in record["isolated"]["prompts"].items()}
    for agent in ("sales", "support", "writer"):
        assert QUESTION not in prompts[agent]
        assert QUESTION in "\n".join(record["shared"]["prompts"][agent])
    assert not [each for each in tickets if each["text"] in prompts["sales"]]
    assert not [each for each in emails if each in prompts["support"]]
    quoted = {each["text"] for each in tickets if each["text"] in prompts["writer"]}
    opened = {each for each in emails if each in prompts["writer"]}
    assert (len(quoted), len(opened)) == (1, 3)
    assert record["isolated"]["tokens"] * 10 < record["shared"]["tokens"]


def main() -> int:
    """Check everything in a folder of its own, on PostgreSQL where it can be started, and on SQLite."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_shop(folder)
        answer, largest = expected(folder)
        with (folder / "tickets.csv").open(encoding="utf-8", newline="") as file:
            tickets = list(csv.DictReader(file))
        with closing(sqlite3.connect(folder / "shop.sqlite")) as database:
            emails = {email for (email,) in database.execute("SELECT email FROM customers")}
        for name, options in (("default", ()), ("sqlite", ("--sqlite",))):
            record = start("--out", str(folder / name), *options)
            check_answers(record, folder / name, answer, largest)
            check_isolation(record, tickets, emails)
            tokens = record["isolated"]["tokens"]
            print(f"{record['database']}: right, {tokens:,} of {record['shared']['tokens']:,} tokens, nobody read more")
        assert record["database"] == "SQLite"
    return 0


if __name__ == "__main__":
    sys.exit(main())
