"""Payloads that were made after the notation was fixed: shapes that tools return, of random values, always the same."""

import random
from collections.abc import Callable
from typing import Any, Final

__all__ = ["MADE_PAYLOADS"]

_WORDS: Final = (
    *("account", "batch", "cache", "delay", "engine", "filter", "graph", "header", "index", "job", "kernel", "limit"),
    *("metric", "node", "order", "packet", "queue", "report", "shard", "token", "upload", "vector", "worker", "zone"),
)
_PEOPLE: Final = ("ana.haas", "ben.ode", "cyd.ray", "dora.lund", "eve.stone", "finn.low")


def _words(pick: random.Random, count: int) -> str:
    return " ".join(pick.choice(_WORDS) for _ in range(count))


def _time(pick: random.Random) -> str:
    return (
        f"2026-{pick.randint(1, 12):02}-{pick.randint(1, 28):02}T{pick.randint(0, 23):02}:{pick.randint(0, 59):02}:00Z"
    )


def _wide(pick: random.Random) -> Any:
    """Rows of 40 columns, most of them numbers."""
    return [{f"metric_{n}": pick.randint(0, 999) if n % 4 else _words(pick, 1) for n in range(40)} for _ in range(25)]


def _sparse(pick: random.Random) -> Any:
    """Rows that have three of thirty optional keys."""
    optional = [f"{word}_note" for word in _WORDS]
    return [
        {"id": n, "state": pick.choice(["open", "done"])}
        | {key: _words(pick, 2) for key in sorted(pick.sample(optional, 3))}
        for n in range(60)
    ]


def _deep(pick: random.Random) -> Any:
    """A tree of settings, eight levels deep."""

    def settings(depth: int) -> Any:
        if not depth:
            return {"enabled": pick.random() < 0.5, "limit": pick.randint(1, 500), "mode": pick.choice(["auto", "off"])}
        return {pick.choice(_WORDS): settings(depth - 1) for _ in range(2)}

    return settings(7)


def _sql_rows(pick: random.Random) -> Any:
    """An answer of a database: names of columns, and rows as lists."""
    rows = [
        [
            n,
            _words(pick, 2),
            pick.choice(["paid", "late", "open"]),
            round(pick.random() * 900, 2),
            _time(pick)[:10],
            None,
        ]
        for n in range(80)
    ]
    return {"columns": ["id", "title", "state", "total", "due", "note"], "rows": rows}


def _coordinates(pick: random.Random) -> Any:
    """The outline of an area, as in GeoJSON."""
    outline = [[round(8 + pick.random(), 5), round(47 + pick.random(), 5)] for _ in range(120)]
    return {
        "type": "Feature",
        "properties": {"name": "Lake"},
        "geometry": {"type": "Polygon", "coordinates": [outline]},
    }


def _map_of_maps(pick: random.Random) -> Any:
    """Services by name, each with its name inside."""
    names = [f"{first}-{second}" for first in _WORDS[:6] for second in _WORDS[6:12]]
    return {
        "services": {
            name: {
                "name": name,
                "replicas": pick.randint(1, 9),
                "image": f"registry.example/{name}:1.{pick.randint(0, 30)}",
            }
            for name in names
        }
    }


def _time_series(pick: random.Random) -> Any:
    """Two measurements an hour, of five sensors."""
    return [
        {
            "sensor": f"s{n % 5}",
            "at": f"2026-03-{1 + n // 48:02}T{n // 2 % 24:02}:{n % 2 * 30:02}:00Z",
            "value": pick.gauss(20, 3),
        }
        for n in range(150)
    ]


def _open_api(pick: random.Random) -> Any:
    """The paths of an API description."""

    def operation(path: str, method: str) -> Any:
        names = pick.sample(_WORDS, 3)
        parameters = [
            {"name": name, "in": "query", "required": False, "schema": {"type": pick.choice(["string", "integer"])}}
            for name in names
        ]
        answers = {"200": {"description": _words(pick, 5)}, "404": {"description": "Not found"}}
        return {
            "operationId": f"{method}_{path}",
            "summary": _words(pick, 6),
            "parameters": parameters,
            "responses": answers,
        }

    return {
        "openapi": "3.1.0",
        "paths": {f"/{path}s": {method: operation(path, method) for method in ("get", "post")} for path in _WORDS[:10]},
    }


def _pods(pick: random.Random) -> Any:
    """Pods of a cluster."""

    def pod(n: int) -> Any:
        name = f"{pick.choice(_WORDS)}-{pick.getrandbits(32):08x}-{n:05}"
        container = {
            "name": "main",
            "image": f"registry.example/{pick.choice(_WORDS)}:2.{n}",
            "resources": {"limits": {"cpu": "500m", "memory": f"{pick.choice([128, 256, 512])}Mi"}},
            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        }
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": pick.choice(["prod", "test"]),
                "labels": {"app": name[:-15], "tier": "web"},
            },
            "spec": {"containers": [container], "restartPolicy": "Always", "nodeName": f"node-{pick.randint(1, 5)}"},
            "status": {"phase": pick.choice(["Running", "Pending"]), "podIP": f"10.0.{n}.{pick.randint(2, 250)}"},
        }

    return {"apiVersion": "v1", "kind": "List", "items": [pod(n) for n in range(25)]}


def _issues(pick: random.Random) -> Any:
    """Issues of a repository."""

    def person(login: str) -> Any:
        base = f"https://api.example.com/users/{login}"
        return {"login": login, "id": sum(map(ord, login)), "url": base, "repos_url": f"{base}/repos", "type": "User"}

    return [
        {
            "url": f"https://api.example.com/repos/acme/app/issues/{n}",
            "number": n,
            "title": _words(pick, 6).capitalize(),
            "user": person(pick.choice(_PEOPLE)),
            "labels": [
                {"name": name, "color": "d73a4a"} for name in pick.sample(["bug", "ui", "docs"], pick.randint(0, 2))
            ],
            "assignee": person(pick.choice(_PEOPLE)) if n % 3 else None,
            "created_at": (created := _time(pick)),
            "updated_at": created,
            "closed_at": None,
            "body": _words(pick, 25),
        }
        for n in range(30)
    ]


def _search(pick: random.Random) -> Any:
    """Results of a search in texts."""
    hits = [
        {
            "title": _words(pick, 5).title(),
            "url": f"https://docs.example.org/{pick.choice(_WORDS)}/{pick.choice(_WORDS)}.html",
            "snippet": f"{_words(pick, 18)}. {_words(pick, 14)}, {_words(pick, 6)}.",
            "score": round(pick.random(), 6),
        }
        for _ in range(15)
    ]
    return {"query": "limits of a queue", "total": 1532, "results": hits}


MADE_PAYLOADS: Final[dict[str, Callable[[random.Random], Any]]] = {
    "wide": _wide,
    "sparse": _sparse,
    "deep": _deep,
    "SQL rows": _sql_rows,
    "coordinates": _coordinates,
    "map of maps": _map_of_maps,
    "time series": _time_series,
    "API description": _open_api,
    "pods": _pods,
    "issues": _issues,
    "search": _search,
}
"""Payloads by name; each is made of a generator of random numbers."""
