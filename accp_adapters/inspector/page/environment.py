"""Templates into pages: every value is escaped, and no script or style runs but the ones that come with us."""

from __future__ import annotations

import base64
import functools
import hashlib
from pathlib import Path
from typing import Any, Final

import jinja2
from markupsafe import Markup

from accp_adapters.inspector.page.plain_text import printable

__all__ = ["read_asset", "render_page", "render_template", "security_policy"]

_ROOT: Final = Path(__file__).parents[1]


def render_page(template: str, *, script: str, styles: tuple[str, ...] = (), **values: Any) -> str:
    """Return a self-contained page that extends `page/base.html.jinja`.

    Args:
        template: The template's path below the folder of the inspector, such as "report/report.html.jinja".
        script: The path of its one script.
        styles: Paths of style sheets that follow the shared one.
        values: What the template shows. Each is escaped, and unprintable characters are shown as pictures.
    """
    code = read_asset(script)
    style = "".join(map(read_asset, ("page/style.css", *styles)))
    # Package data, the same in every page; the policy allows these two and nothing else.
    own = {"script": Markup(code), "style": Markup(style)}
    return render_template(template, **values, **own, policy=security_policy(code, style))


def render_template(template: str, **values: Any) -> str:
    """Return what a template gives; its path and `values` are as those of `render_page`."""
    return _environment().get_template(template).render(**values)


def security_policy(script: str, style: str) -> str:
    """Return the Content-Security-Policy of a page that loads nothing and runs one inline script."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_ROOT),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters["count"] = lambda number: f"{number:,.0f}"
    environment.filters["share"] = _share
    return environment


def _finalize(value: object) -> object:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _share(part: float, whole: float) -> str:
    """Return `part` in percent of `whole`, a dash where `whole` is 0."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


@functools.cache
def read_asset(path: str) -> str:
    """Return a script or a style sheet, by its path below the folder of the inspector."""
    return (_ROOT / path).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
