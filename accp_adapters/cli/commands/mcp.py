"""`accp mcp`: a proxy for any MCP server that compresses the results of its tools, and its place in clients' files."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

import typer
from typer.core import TyperGroup

from accp_adapters.cli.sources import ExtraMissing, say, write_line

if TYPE_CHECKING:
    from accp_adapters.mcp import EncoderOptions
    from accp_adapters.mcp.install import Change, Installation
    from accp_adapters.mcp.sessions import SessionState
    from accp_adapters.mcp.upstream import Upstream
    from accp_core.projection import ToolForm

__all__ = ["TOOL_HELP", "FetchOption", "ToolOption", "mcp", "tool_forms"]


# The options of `accp mcp` and `accp mcp install` that say how results are shown.

TOOL_HELP: Final = (
    "How the results of a tool, or of those whose name matches, are shown: as_is, verbatim, lossless, or the tokens of "
    "a result and of its preview, as 2500:1000; repeatable. Known tools that read files are verbatim. With accp "
    "mcp --fetch also write_file=resolve:content: the server gets the text of a reference in that argument."
)
ToolOption: TypeAlias = Annotated[list[str] | None, typer.Option("--tool", metavar="NAME=FORM", help=TOOL_HELP)]

FetchOption = Annotated[
    bool, typer.Option("--fetch", help="Show large results as previews, and offer accp_fetch, which opens them.")
]


def tool_forms(words: list[str] | None) -> Mapping[str, ToolForm]:
    """Return what the option says.

    Raises:
        typer.BadParameter: It does not say it in such words.
    """
    if not words:
        return {}
    from accp_adapters.policy import read_tool_words

    try:
        return read_tool_words(words)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--tool") from error


_RUN: Final = "run"
_LAUNCHERS: Final = frozenset({"bunx", "cmd", "node", "npx", "python", "python3", "uv", "uvx"})
_POLICIES: Final = {
    "always": "results become views for every host where that saves tokens (ACCP_DISABLED=1 switches it off)",
    "negotiate": "results become frames for clients that ask for them; no host of today does (--policy always)",
}


class _McpCommands(TyperGroup):
    """The sub-commands of `accp mcp`; without the name of one, the words are those of the proxy itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Choose the proxy, unless the first word names another sub-command or asks for help."""
        is_own = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_own else [_RUN, *args])


Command = Annotated[list[str] | None, typer.Argument(metavar="-- COMMAND ARGS…", help="The server, a child process.")]
Url = Annotated[str, typer.Option(help="The URL of the server, instead of a command; ${VARIABLE} is replaced.")]
HeaderVariables = Annotated[
    list[str] | None,
    typer.Option("--header-env", metavar="NAME=VARIABLE", help="A header field from the environment; repeatable."),
]
Listen = Annotated[str, typer.Option(metavar="HOST:PORT", help="Serve HTTP on the loopback, not standard streams.")]
PolicyName = Annotated[
    Literal["negotiate", "always"],
    typer.Option(help="Who gets smaller results: clients that negotiate frames, or every client."),
]
Host = Annotated[str, typer.Option(metavar="NAME", help="What shows results to a model, such as cursor; or its form.")]
Index = Annotated[bool, typer.Option("--index", help="List one tool that searches, describes and calls the others.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing on standard error.")]
Client = Annotated[
    list[str] | None,
    typer.Option("--client", metavar="NAME|FILE", help="A known client or a file; repeatable. Without it: all known."),
]
Server = Annotated[list[str] | None, typer.Option("--server", metavar="NAME", help="Only this server; repeatable.")]
Project = Annotated[bool, typer.Option("--project", help="The files in the current folder, instead of the user's.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change; write nothing.")]


def run(
    command: Command = None,
    *,
    url: Url = "",
    header_env: HeaderVariables = None,
    listen: Listen = "",
    policy: PolicyName = "always",
    host: Host = "auto",
    index: Index = False,
    tool: ToolOption = None,
    fetch: FetchOption = False,
    quiet: Quiet = False,
) -> None:
    """Run a proxy for an MCP server in any language, and compress the results of its tools.

    Every host gets views, and two lines on standard error say what is done and what it saved. For several servers, put
    FastMCP behind it.

    Example: `accp mcp -- uvx mcp-server-git --repository .`

    Example: `accp mcp -- fastmcp run mcp.json`

    Example: `accp mcp --url https://example.com/mcp --listen 127.0.0.1:8931`
    """
    if bool(command) == bool(url):
        raise typer.BadParameter(f"expected a command after --, or --url; found {'both' if command else 'none'}")
    upstream = _upstream(command or [], url, header_env or [])
    options = _options(policy=policy, host=host, index=index, tools=tool_forms(tool), fetch=fetch)
    from accp_adapters.mcp.sessions import SessionState

    session = SessionState()
    with _telling(_server_name(upstream), options, None if listen else session, quiet=quiet):
        if listen:
            _listen(upstream, options, listen, quiet=quiet)
            return
        code = _serve_stdio(upstream, options, session)
    # Where the server ended first, a thread still reads standard input, and nothing but this ends it.
    os._exit(code)


def _options(**settings: Any) -> EncoderOptions:
    try:
        from accp_adapters.mcp import EncoderOptions

        return EncoderOptions(**settings)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    except ImportError as error:
        raise ExtraMissing("accp mcp", extra="mcp") from error


def _upstream(command: Sequence[str], url: str, header_env: Sequence[str]) -> Upstream:
    from accp_adapters.mcp.upstream import Upstream

    headers = {}
    for word in header_env:
        name, equals, variable = word.partition("=")
        if not equals or variable not in os.environ:
            reason = f"expected NAME=VARIABLE with a variable that is set, found {word!r}"
            raise typer.BadParameter(reason, param_hint="--header-env")
        headers[name] = os.environ[variable]
    address = os.path.expandvars(url)
    if url and not address.startswith(("http://", "https://")):
        # A URL may hold a password, so none is repeated.
        raise typer.BadParameter("expected a URL that begins with http:// or https://", param_hint="--url")
    return Upstream(command=command, url=address, headers=headers)


def _server_name(upstream: Upstream) -> str:
    """Return what counts call a server: its host, or its command without what launches it."""
    if upstream.url:
        return urlsplit(upstream.url).hostname or "server"
    first, *rest = [PurePath(word).name for word in upstream.command if not word.startswith("-")]
    return rest[0] if PurePath(first).stem in _LAUNCHERS and rest else PurePath(first).stem


@contextmanager
def _telling(server: str, options: EncoderOptions, session: SessionState | None, *, quiet: bool) -> Iterator[None]:
    """Say what is done for a server; at the end keep and say what it saved, and of one session for which host."""
    from accp_adapters.mcp.hosts import host_named
    from accp_adapters.mcp.user_files import Saved, add_saved, state_folder
    from accp_adapters.policy import is_disabled

    if not quiet:
        is_off = "ACCP_DISABLED is set, so results stay as they are"
        say(f"accp mcp: {server}: {is_off if is_disabled() else _POLICIES[options.policy or 'always']}")
    try:
        yield
    finally:
        assert options.telemetry is not None
        stats = options.telemetry.stats()
        if session is not None:
            host = host_named(options.host, session.client_name)
            server += " for an unknown host (--host names it)" if host == "unknown" else f" for {host}"
        saved = Saved(stats.rewritten, stats.tokens_before, stats.tokens_after, stats.projection_failures)
        try:
            if any(saved):
                add_saved(state_folder(), server, saved)
        except (OSError, sqlite3.Error) as error:
            say(f"accp mcp: {server}: what was saved is not kept: {error}")
        if not quiet:
            say(f"accp mcp: {server}: {saved.describe()}")


def _serve_stdio(upstream: Upstream, options: EncoderOptions, session: SessionState) -> int:
    import anyio

    from accp_adapters.mcp import Encoder
    from accp_adapters.mcp.pump import serve_stdio
    from accp_adapters.mcp.sessions import SessionTexts
    from accp_adapters.mcp.user_files import DayStore, state_folder

    if options.fetch:
        # A host may open a session for each call; the next one opens what this one cites.
        owner = sha256(json.dumps([upstream.url, *upstream.command, os.getcwd()]).encode()).hexdigest()
        session.stored_results = SessionTexts(DayStore(state_folder() / "mcp"), owner, is_shared=True)
    encoder = Encoder(options, session=session)
    if options.is_for_all:
        # No daemon: a process that ends while tiktoken counts in one is aborted.
        threading.Thread(target=encoder.warm_up).start()
    try:
        anyio.run(serve_stdio, upstream, encoder)
    except KeyboardInterrupt:
        return 130
    except (OSError, BaseExceptionGroup) as failed:
        error: BaseException = failed
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        where = f"cannot start {upstream.command[0]!r}" if upstream.command else "the connection to the server failed"
        say(f"accp mcp: {where}: {error}")
        return 1
    return 0


def _listen(upstream: Upstream, options: EncoderOptions, address: str, *, quiet: bool) -> None:
    import uvicorn

    from accp_adapters.mcp import Encoder
    from accp_adapters.mcp.pump import HttpProxy

    host, _, port = address.rpartition(":")
    if host not in ("127.0.0.1", "localhost") or not port.isdecimal():
        reason = f"expected 127.0.0.1:PORT or localhost:PORT, found {address!r}; put an authenticating proxy before it"
        raise typer.BadParameter(reason, param_hint="--listen")
    Encoder(options).warm_up()
    # M_MMAP_THRESHOLD: else glibc keeps what large answers took, between small ones, which is twice as much in sum.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(-3, 1 << 18)
    app = HttpProxy(upstream, lambda: Encoder(options))
    # Of requests that come before the last one is answered, h11 reads one at a time.
    server = uvicorn.Server(
        uvicorn.Config(app, http="h11", ws="none", log_level="warning", timeout_graceful_shutdown=1)
    )
    # Uvicorn sends itself the signal again when it has ended; what was saved is to be kept then.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        listening = socket.create_server((host, int(port)))
    except OSError as error:
        raise typer.BadParameter(f"cannot listen at {address}: {error.strerror}", param_hint="--listen") from error
    if not quiet:
        say(f"accp mcp: serves http://{host}:{listening.getsockname()[1]}/mcp")
    server.run(sockets=[listening])


def install(
    *,
    client: Client = None,
    server: Server = None,
    project: Project = False,
    tool: ToolOption = None,
    fetch: FetchOption = False,
    dry_run: DryRun = False,
) -> None:
    """Put this program before the MCP servers in the configuration files of clients, with a backup beside each file.

    Results become views; definitions of tools stay as they are. A file with comments and a server that you wrapped by
    hand are left as they are. Without options, a server that is wrapped keeps those that it has.

    Example: `accp mcp install --client cursor --dry-run`

    Example: `accp mcp install --client .vscode/mcp.json --server github --tool 'get_*=lossless'`
    """
    from accp_adapters.mcp.user_files import add_wrapped, state_folder

    program = _own_path()
    _options(tools=tool_forms(tool), fetch=fetch)
    words = [*(word for each in tool or [] for word in ("--tool", each)), *(["--fetch"] if fetch else [])]
    known: set[str] = set()

    def work(each: Installation) -> None:
        known.update(name.rpartition(": ")[2] for name in each.servers())
        changes = each.install(program, names=server or (), options=words, dry_run=dry_run)
        _report(each, changes, dry_run=dry_run)
        if not dry_run and any(change.is_change for change in changes):
            add_wrapped(state_folder(), each.path.resolve())
            by_hand = f"to undo it by hand, move {each.backup} to {each.path}"
            say(f"accp mcp: restart the client; accp mcp uninstall undoes it; {by_hand}")

    _with_each_file(work, client, project=project)
    if missing := sorted({*(server or [])} - known):
        raise typer.BadParameter(f"expected one of {sorted(known)}, found {missing[0]!r}", param_hint="--server")


def uninstall(*, client: Client = None, project: Project = False) -> None:
    """Take this program out of the configuration files of clients.

    Without --client also of the files that `install` was given. A file in which nobody has changed anything since
    becomes what it was, byte for byte. In any other one only the servers with our words change.

    Example: `accp mcp uninstall --client cursor`
    """
    from accp_adapters.mcp.user_files import state_folder, wrapped_files

    def work(each: Installation) -> None:
        changes, is_restored = each.uninstall()
        _report(each, changes)
        if any(change.is_change for change in changes):
            say(f"accp mcp: {each.path}: {'the backup, byte for byte' if is_restored else 'only our words'}")

    _with_each_file(work, client, project=project, wrapped=wrapped_files(state_folder()))


def status(*, client: Client = None, project: Project = False) -> None:
    """Show which servers in the clients' configuration files are wrapped, and what was saved so far.

    Tokens are those of o200k_base, of the results that were rewritten.

    Example: `accp mcp status`
    """
    from accp_adapters.mcp.user_files import read_saved, state_folder, wrapped_files

    try:
        saved = read_saved(state_folder())
    except sqlite3.Error as error:
        raise typer.BadParameter(f"cannot read what was saved in {str(state_folder())!r}: {error}") from error

    def work(each: Installation) -> None:
        write_line(str(each.path))
        for name, is_wrapped in each.servers().items():
            write_line(f"  {name}: {'wrapped' if is_wrapped else 'as it is'}")

    write_line("saved so far" if saved else "nothing was counted so far")
    for server, each_saved in saved.items():
        write_line(f"  {server}: {each_saved.describe()}")
    _with_each_file(work, client, project=project, wrapped=wrapped_files(state_folder()))


def _with_each_file(
    work: Callable[[Installation], None], client: list[str] | None, *, project: bool, wrapped: Sequence[Path] = ()
) -> None:
    """Do `work` with each file; one that cannot be understood or written is reported, and makes the exit status 1."""
    is_done = True
    for each in list(_installations(client or [], [] if project else wrapped, project=project)):
        try:
            work(each)
        except (ValueError, OSError) as error:
            say(f"accp mcp: {each.path}: {error}")
            is_done = False
    if not is_done:
        raise typer.Exit(1)


def _installations(clients: Sequence[str], wrapped: Sequence[Path], *, project: bool) -> Iterator[Installation]:
    from accp_adapters.mcp.install import CLIENTS, Installation, client_files

    folder = Path.cwd() if project else None
    paths = {} if clients else {path: path for path in wrapped}
    for name in clients or CLIENTS:
        files = client_files(name, project=folder) if name in CLIENTS else [Path(name)]
        if clients and not (files and all(path.is_file() for path in files)):
            reason = f"expected a configuration file, or one of {', '.join(CLIENTS)} that has one; found {name!r}"
            raise typer.BadParameter(reason, param_hint="--client")
        paths |= {path.resolve(): path for path in files}
    if not paths:
        say("accp mcp: no configuration file of a known client was found; name one by --client FILE")
    yield from map(Installation, paths.values())


def _report(installation: Installation, changes: Sequence[Change], *, dry_run: bool = False) -> None:
    write_line(f"{installation.path}{' (nothing was written)' if dry_run else ''}")
    for change in changes:
        write_line(f"  {change.server}: {change.outcome if change.is_change else f'unchanged: {change.outcome}'}")
    if not changes:
        write_line("  no servers")


def _own_path() -> str:
    """Return the path of this program: clients are often started without the user's PATH."""
    beside = Path(sys.executable).with_name("accp.exe" if sys.platform == "win32" else "accp")
    found = str(beside) if beside.is_file() else shutil.which("accp")
    if not found:
        raise typer.BadParameter("expected this program, accp, on the PATH, found none")
    return found


mcp = typer.Typer(
    cls=_McpCommands,
    help="Compress the results of MCP servers: `accp mcp -- SERVER ARGS…` (see `accp mcp run --help`).",
)
# Options after the server's name belong to the server.
mcp.command(_RUN, context_settings={"allow_interspersed_args": False})(run)
mcp.command()(install)
mcp.command()(uninstall)
mcp.command()(status)
