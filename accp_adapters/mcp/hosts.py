"""Which form of a tool's result each host shows its model; what a rewritten result saves is counted in that form.

A server may send the same value as texts in `content` and as `structuredContent`. The specification leaves open which
of them reaches the model. Where the host is known, by option or by the name in its `clientInfo`, that form is made
small; where it is not, a result is rewritten only if it is larger in none of the forms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

from accp_adapters.mcp.messages import JsonObject, is_text
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = ["HOSTS", "Host", "ShownForm", "client_name", "host_named", "is_gain", "shown_text"]

ShownForm: TypeAlias = Literal["text", "structured", "both"]
"""What a model reads: the content, `structuredContent` instead of it, or both."""

_STRUCTURED: Final = "structuredContent"
_CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
"""The key in a request's `_meta` that holds the client's name, from 2026-07-28 on."""


@dataclass(frozen=True, slots=True)
class Host:
    """A program that runs a model and shows it the results of tools."""

    forms: tuple[ShownForm, ...]
    """What its model may be shown of a result: one form, or several where that is unknown."""
    client_names: tuple[str, ...] = ()
    """The names in its `clientInfo`."""
    source: str = ""
    """Where its behaviour is described."""

    @property
    def drops_structured(self) -> bool:
        """Whether only the texts are sent, as views: where the model would read `structuredContent` as JSON."""
        return "text" not in self.forms


_SURVEY: Final = "https://olaservo-sandyland.static.hf.space/mcp/structured-content/client-survey.html"
_GITHUB: Final = "https://github.com"

HOSTS: Final[Mapping[str, Host]] = MappingProxyType(
    {
        "claude-desktop": Host(("text",), ("claude-ai",), f"{_GITHUB}/blockscout/mcp-server/issues/324"),
        "claude-code": Host(("structured",), ("claude-code",), f"{_GITHUB}/anthropics/claude-code/issues/79944"),
        "cursor": Host(
            ("structured",), ("cursor-vscode",), f"{_GITHUB}/modelcontextprotocol/modelcontextprotocol/issues/1411"
        ),
        "vscode": Host(("structured",), ("Visual Studio Code", "Visual-Studio-Code"), _SURVEY),
        "copilot-cli": Host(("both",), ("github-copilot-developer",), f"{_GITHUB}/github/copilot-cli/issues/4515"),
        "codex": Host(("structured",), ("codex-mcp-client", "Codex"), f"{_GITHUB}/openai/codex/issues/38287"),
        "opencode": Host(("text",), ("opencode",), f"{_GITHUB}/anomalyco/opencode/pull/34505"),
        "gemini-cli": Host(("text",), ("gemini-cli-mcp-client",), _SURVEY),
        "goose": Host(("text",), ("goose",), _SURVEY),
        "cline": Host(("text",), ("Cline",), _SURVEY),
        "roo-code": Host(("text",), ("Roo-Code",), _SURVEY),
        "zed": Host(("text",), ("Zed",), _SURVEY),
        "librechat": Host(("text",), ("@librechat/api-client",), _SURVEY),
        "langchain": Host(("text",), (), "https://docs.langchain.com/oss/langchain/mcp/tools"),
        "openai-agents": Host(("text",), (), "https://openai.github.io/openai-agents-python/mcp/"),
        "agno": Host(("text",), (), "https://docs.agno.com/examples/tools/mcp/structured-content"),
        "fast-agent": Host(("structured",), (), _SURVEY),
        "mastra": Host(("structured",), (), _SURVEY),
        "text": Host(("text",)),
        "structured": Host(("structured",)),
        "both": Host(("both",)),
        "unknown": Host(get_args(ShownForm)),
    }
)
"""The hosts by the name of the option; the last four are any host of that kind."""


def _plain(name: str) -> str:
    return "-".join(re.findall("[a-z0-9]+", name.casefold())) + "-"


_BY_CLIENT: Final = MappingProxyType(
    {_plain(each): name for name, host in HOSTS.items() if host.source for each in (name, *host.client_names)}
)


def host_named(option: str, client: str = "") -> str:
    """Return the option, one of `HOSTS`; for "auto", the host with whose name, or its client's, `client` begins."""
    if option != "auto":
        return option
    known = [each for each in _BY_CLIENT if _plain(client).startswith(each)]
    return _BY_CLIENT[max(known, key=len)] if known else "unknown"


def client_name(params: object) -> str:
    """Return the client's name in the params of `initialize` or of a request of 2026-07-28; empty: it gives none."""
    given: Any = params if isinstance(params, dict) else {}
    meta = given.get("_meta")
    info = given.get("clientInfo") or (meta.get(_CLIENT_INFO) if isinstance(meta, dict) else None)
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""


def shown_text(result: JsonObject, form: ShownForm = "both") -> str:
    """Return what a host of this kind shows its model: texts as they are, no media, else JSON, no `_meta`.

    Hosts that prefer `structuredContent` show the content of a failed call and of a result without it.

    Raises:
        EncodeError: E1004, the result is not JSON.
    """
    structured = result.get(_STRUCTURED)
    if form == "structured" and structured is not None and not result.get("isError"):
        return compact_json(structured)
    content = result.get("content")
    parts = [_block_text(block) for block in content] if isinstance(content, list) else [compact_json(content)]
    if _STRUCTURED in result and form == "both":
        parts.append(compact_json(structured))
    return "\n".join(parts)


def _block_text(block: Any) -> str:
    is_media = isinstance(block, dict) and block.get("type") in ("image", "audio")
    return str(block["text"]) if is_text(block) else compact_json(block) * (not is_media)


def is_gain(before: JsonObject, after: JsonObject, host: Host, counter: TokenCounter, least: int) -> bool:
    """Return whether a host's model reads at least `least` tokens less, and more in none of the host's forms.

    A negative `least` allows so many more tokens in each form.
    """
    forms = host.forms
    if len(forms) > 1 and before.get(_STRUCTURED) is after.get(_STRUCTURED):
        forms = ("text",)  # The other forms differ by as much, or not at all.
    saved = [counter(shown_text(before, form)) - counter(shown_text(after, form)) for form in forms]
    return max(saved) >= least and min(saved) >= min(least, 0)
