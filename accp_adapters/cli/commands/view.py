"""`accp view` and `accp query`: the view of a text, its value, and the answer to a query of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from accp_adapters.cli.sources import STDIN, InputRefused, read_source, refusal, say, write_text
from accp_core.error_codes import ErrorCode

if TYPE_CHECKING:
    from accp_core.ports import TokenCounter

__all__ = ["query", "view"]

Tokenizer = Annotated[str, typer.Option(help="A tiktoken encoding, or the path of a Hugging Face tokenizer.json.")]


def view(
    file: Annotated[str, typer.Argument(help="A JSON document or any text; `-` is standard input.")] = STDIN,
    *,
    read: Annotated[bool, typer.Option("--read", help="The inverse: read a view, print compact JSON.")] = False,
    restore: Annotated[
        bool, typer.Option("--restore", help="Print the text restored from its view; fails if a byte differs.")
    ] = False,
    tokenizer: Tokenizer = "o200k_base",
) -> None:
    """Print the view of a text: the same content in fewer tokens.

    Standard output has the view, standard error the token counts. A text whose view is not smaller is printed as it is.

    Example: `curl -s https://api.github.com/repos/python/cpython/issues | accp view`

    Example: `accp view result.json | accp view --read`
    """
    source, counter = read_source(file, exactly=restore), _counter_of(tokenizer)
    if read:
        write_text(_value(source.rstrip("\r\n"), file, counter))
    else:
        _show(source, file, counter, restore=restore)


def _counter_of(tokenizer: str) -> TokenCounter:
    from accp_adapters.tokens import by_name

    try:
        return by_name(tokenizer)
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error), param_hint="--tokenizer") from error


def _show(source: str, path: str, counter: TokenCounter, *, restore: bool) -> None:
    from accp_core.view import render_text

    shown = render_text(source, counter=counter)
    restored = shown.restore() if restore else source
    if restored != source:
        raise InputRefused("expected the view to restore this text", path=path, code=ErrorCode.INTERNAL_ERROR)
    if restore:
        write_text(restored, exactly=True)
    else:
        write_text(shown.text.removesuffix("\n"))
    if shown.tokens_after >= shown.tokens_before > 0:
        say(f"{shown.tokens_before:,} tokens: nothing was gained: the text is printed as it is, and is no view")
        return
    share = f"{100 * shown.tokens_after / shown.tokens_before:.1f} %" if shown.tokens_before else "empty"
    say(f"{shown.tokens_before:,} tokens -> {shown.tokens_after:,} ({share}), {shown.layout}")


def _value(text: str, path: str, counter: TokenCounter) -> str:
    from accp_core.errors import DecodeError
    from accp_core.strict_json import compact_json, is_json
    from accp_core.view import read as read_view
    from accp_core.view import render

    try:
        value = read_view(text)
    except DecodeError as error:
        raise refusal(error, path=path) from error
    document = compact_json(value)
    # Words in lines can be read as keys and values, too, but a view would write those in another way.
    if not (text[:1] == '"' or is_json(text)) and render(value, counter=counter) not in (text, document):
        raise InputRefused("expected a view, found a text that accp view leaves as it is", path=path)
    return document


# `accp query`: what a model is answered when it queries a stored result.


def query(
    file: Annotated[str, typer.Argument(help="A JSON document or any text; `-` is standard input.")],
    query: Annotated[str, typer.Argument(help="A SELECT, a condition, a path or words; without it: everything.")] = "",
    *,
    offset: Annotated[int, typer.Option(min=0, help="Rows or lines to skip.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Rows or lines to show at most.")] = None,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens of the answer at most.")] = 4_000,
    tokenizer: Tokenizer = "o200k_base",
) -> None:
    """Query a JSON document or a text as a model does with `accp_fetch`.

    Every array of objects is a table, named by its path; a nested object is a column such as `customer.name`. A text is
    the table `lines(n, text)`. A query that is not understood is refused with the tables that there are.

    Example: `accp query orders.json 'SELECT status, count(*) FROM orders GROUP BY status'`

    Example: `accp query orders.json "status = 'returned' and total > 100"`
    """
    from accp_adapters.fetching import FetchRequest, answer
    from accp_core.errors import ProtocolError

    counter, request = _counter_of(tokenizer), FetchRequest(query=query, offset=offset, limit=limit)
    try:
        text = answer({"": read_source(file)}, request, limit=tokens, counter=counter)
    except ProtocolError as error:
        raise InputRefused(error.reason, path=file, code=error.code) from error
    write_text(text.removesuffix("\n"))
