"""Run the agent before a real Prometheus and ask it every query of the dashboard: 0 if each has an answer, 77 without.

The ports are free ones, so the check disturbs nothing that runs.
"""

from __future__ import annotations

import json
import math
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

HERE = Path(__file__).resolve().parent
NO_SERVERS = 77
SECONDS = 120
VARIABLES = {"$__range": "1m", "$__rate_interval": "10s", "$adapter": ".*"}
"""What Grafana puts in place of its variables."""


def queries() -> list[str]:
    """Return the queries of the dashboard."""
    panels = json.loads((HERE / "dashboard.json").read_text(encoding="utf-8"))["panels"]
    found = [target["expr"] for panel in panels for target in panel["targets"]]
    for variable, value in VARIABLES.items():
        found = [query.replace(variable, value) for query in found]
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(*command: object) -> Iterator[None]:
    with subprocess.Popen([str(each) for each in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as it:
        try:
            yield
        finally:
            it.kill()


def ask(prometheus: int, query: str) -> float:
    """Return the first value of a query's answer; not a number: there is none yet."""
    address = f"http://127.0.0.1:{prometheus}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            rows = json.load(answer)["data"]["result"]
    except urllib.error.HTTPError as error:
        if error.code == HTTPStatus.SERVICE_UNAVAILABLE:  # it listens before it is ready
            return math.nan
        raise AssertionError(f"{query}: {error.read().decode()}") from error
    except OSError:
        return math.nan
    return float(rows[0]["value"][1]) if rows else math.nan


def wait_for(prometheus: int, query: str) -> float:
    end = time.monotonic() + SECONDS
    while math.isnan(found := ask(prometheus, query)):
        assert time.monotonic() < end, f"no answer to {query}"
        time.sleep(0.5)
    return found


def main() -> int:
    """Ask everything."""
    binary = shutil.which("prometheus")
    if binary is None:
        print("no prometheus here: apt-get install prometheus")
        return NO_SERVERS
    scraped, asked = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "prometheus.yml")
        usual = (HERE / "prometheus.yml").read_text(encoding="utf-8")
        config.write_text(usual.replace("9464", str(scraped)), encoding="utf-8")
        agent = (sys.executable, HERE / "app.py", "--prometheus", scraped, "--seconds", SECONDS)
        storage = (f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{asked}")
        with running(*agent), running(binary, f"--config.file={config}", *storage):
            found = {query: wait_for(asked, query) for query in queries() if "store_failed" not in query}
            # Nothing failed, so there is no such series; the query must be understood all the same.
            assert all(math.isnan(ask(asked, query)) for query in queries() if "store_failed" in query)
    for query, value in found.items():
        print(f"{value:12.2f}  {query}")
    saved, share, refused, *_ = found.values()
    # The last scrape may stand between a fetch that was opened and one that is refused.
    assert saved > 0 and 0 < share < 0.5 and 0.2 < refused < 0.8, found
    return 0


if __name__ == "__main__":
    sys.exit(main())
