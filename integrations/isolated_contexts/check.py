"""Start the team as a user would and compare its answer with the data: exit code 0 if all of it is right."""

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
    """Return the answer and the names of the three largest customers, computed row by row."""
    spent: dict[int, float] = defaultdict(float)
    last: dict[int, str] = defaultdict(str)
    with closing(sqlite3.connect(folder / "shop.sqlite")) as database:
        names = dict(database.execute("SELECT id, name FROM customers"))
        for customer, day, total in database.execute("SELECT customer, day, total FROM orders"):
            spent[customer] += total
            last[customer] = max(last[customer], day)
    gone = sorted((number for number in spent if last[number] < "2026-07-01"), key=lambda number: -spent[number])
    revenue = round(sum(round(spent[number], 2) for number in gone), 2)
    with (folder / "tickets.csv").open(encoding="utf-8", newline="") as file:
        ((topic, count),) = Counter(row["topic"] for row in csv.DictReader(file)).most_common(1)
    largest = [names[number] for number in gone[:3]]
    letters = [f"letter_{name.replace(' ', '_')}.txt" for name in largest]
    parts = [
        f"{len(gone)} customers",
        f"{revenue} EUR",
        f"{topic}, {count} tickets",
        f"{revenue * 0.1:.2f} EUR",
        *letters,
    ]
    return "; ".join(parts), largest


def check_answers(record: dict[str, Any], out: Path, answer: str, largest: list[str]) -> None:
    """Check that both ways give the right answer and the same letters."""
    for name in ("shared", "isolated"):
        assert record[name]["answer"] == answer, record[name]["answer"]
        letters = {path.name: path.read_text(encoding="utf-8") for path in (out / name).iterdir()}
        assert len(letters) == 3
        assert all(f"Dear {name}," in letters[f"letter_{name.replace(' ', '_')}.txt"] for name in largest)


def check_isolation(record: dict[str, Any], tickets: list[dict[str, str]], emails: set[str]) -> None:
    """Check that no worker has read the question or the raw data of another worker."""
    prompts = {agent: "\n".join(texts) for agent, texts in record["isolated"]["prompts"].items()}
    for agent in ("sales", "support", "writer"):
        assert QUESTION not in prompts[agent]
        assert QUESTION in "\n".join(record["shared"]["prompts"][agent])
    assert not [ticket for ticket in tickets if ticket["text"] in prompts["sales"]]
    assert not [email for email in emails if email in prompts["support"]]
    quoted = {ticket["text"] for ticket in tickets if ticket["text"] in prompts["writer"]}
    opened = {email for email in emails if email in prompts["writer"]}
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
            print(
                f"{record['database']}: right, {tokens:,} of {record['shared']['tokens']:,} tokens, no agent read more"
            )
        assert record["database"] == "SQLite"
    return 0


if __name__ == "__main__":
    sys.exit(main())
